'use client';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ConceptualDesign } from '../../lib/design/document-design';
import type { EvidenceContent, GoldContent, TranslationContent } from '../../lib/pipeline/stages/artefacts';
import type { Problem, TaskDetail } from '../../lib/review/api-types';
import type { TableValidation } from '../../lib/validation/table-validation';
import { api, RequestFailed } from '../api';
import { CodeEditor } from '../text/code-editor';
import { mqlText } from '../text/mql-text';
import type { TextLanguage } from '../text/monaco';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Select } from '../ui/field';
import { ErrorNote, Loading } from '../ui/notes';
import { useDraft } from './draft-store';

interface EditProps {
  readonly task: TaskDetail;
  readonly onClose: () => void;
  readonly onSubmit: (content: object, approve: boolean) => void;
  readonly onStale: () => void;
}

/** Edits an artefact in the form in which people write it; the same checks run as for an agent before it is saved. */
export function EditDialog(props: EditProps) {
  if (props.task.gate === 'table_validation') return <ReclassifyDialog {...props} />;
  if (props.task.gate === 'collection_validation') return <CsvDialog {...props} />;
  return <TextDialog {...props} {...textForm(props.task)} />;
}

interface TextForm {
  readonly title: string;
  readonly hint: string;
  readonly language: TextLanguage;
  readonly initial: string;
  readonly toContent: (text: string) => object;
}

function textForm(task: TaskDetail): TextForm {
  const content = task.current.content;
  switch (task.gate) {
    case 'conceptual_design':
      return {
        title: 'Edit the conceptual design',
        hint: 'The whole design as JSON. Choices are checked against the profile: nothing may be lost, nothing may grow without bound.',
        language: 'mql',
        initial: JSON.stringify(content as ConceptualDesign, null, 2),
        toContent: (text) => JSON.parse(text) as object,
      };
    case 'evidence':
      return { title: 'Edit the evidence', hint: 'Paths are written collection.field, and must exist in the design.', language: 'plaintext', initial: (content as EvidenceContent).evidenceMql, toContent: (text) => ({ evidenceMql: text }) };
    default: {
      const mql = task.gate === 'untranslated' ? (content as TranslationContent).mql ?? (content as TranslationContent).attempts[0]?.mql : (content as GoldContent).mql;
      return {
        title: 'Edit the query',
        hint: 'Shell syntax or Extended JSON; it is parsed, never evaluated. Its result must equal that of the SQL.',
        language: 'mql',
        initial: mql ? mqlText(mql) : 'db.collection.aggregate([\n  \n])',
        toContent: (text) => ({ text }),
      };
    }
  }
}

function TextDialog({ task, onClose, onSubmit, title, hint, language, initial, toContent }: EditProps & TextForm) {
  const kept = task.draft && task.draft.startsWith(DRAFT_MARK) ? task.draft.slice(DRAFT_MARK.length) : null;
  const [text, setText] = useState(kept ?? initial);
  const [fresh, setFresh] = useState(0);
  useDraft(task.id, text === initial ? '' : DRAFT_MARK + text, task.draft ?? '');
  return (
    <Dialog open onClose={onClose} title={title} description={hint} wide>
      {kept !== null ? (
        <p className="mb-2 flex items-center gap-2 rounded-md border border-warn/40 bg-warn-soft p-2 text-[13px] text-warn">
          {fresh === 0 ? 'This is the draft that you left here.' : 'Started from the current version.'}
          {fresh === 0 ? (
            <Button
              onClick={() => {
                setText(initial);
                setFresh(1);
              }}
            >
              Discard it
            </Button>
          ) : null}
        </p>
      ) : null}
      <CodeEditor key={fresh} initial={fresh === 0 ? (kept ?? initial) : initial} onChange={setText} language={language} label={title} height={380} />
      <CheckAndSave task={task} content={() => toContent(text)} onClose={onClose} onSubmit={onSubmit} />
    </Dialog>
  );
}

// Drafts of notes and of edited texts share one place: the mark tells them apart.
const DRAFT_MARK = '\u0001edit\n';

/** The logical design of the collection, as the four-column CSV that the paper's Table 7 shows. */
function CsvDialog({ task, onClose, onSubmit }: EditProps) {
  const [loaded, setLoaded] = useState<string | null>(null);
  const [csv, setCsv] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const take = (text: string): void => {
    setLoaded(text);
    setCsv(text);
  };
  useEffect(() => {
    fetch(`/api/tasks/${task.id}/logical.csv`).then(
      async (response) => (response.ok ? take(await response.text()) : setError(new RequestFailed('The logical design could not be read.', response.status, 'internal', 'Try again.'))),
      setError,
    );
  }, [task.id]);
  return (
    <Dialog open onClose={onClose} title="Edit the logical design" description="One row a field: source, target, type, transformation. Saving migrates and validates again." wide>
      {error ? <ErrorNote error={error} /> : null}
      {loaded === null ? <Loading what="the logical design" /> : <CodeEditor initial={loaded} onChange={setCsv} language="plaintext" label="Logical design as CSV" height={380} />}
      <CheckAndSave task={task} content={() => ({ csv: csv ?? '' })} onClose={onClose} onSubmit={onSubmit} disabled={csv === null} canApprove={false} />
    </Dialog>
  );
}

function ReclassifyDialog({ task, onClose, onSubmit }: EditProps) {
  const content = task.current.content as TableValidation;
  const [flags, setFlags] = useState(content.flags);
  return (
    <Dialog open onClose={onClose} title="Classify the flags" description="What was measured stays; you say what it means." wide>
      <ul className="space-y-2">
        {flags.map((flag, at) => (
          <li key={flag.column} className="flex flex-wrap items-center gap-2">
            <code className="font-mono text-xs">{flag.column}</code>
            <span className="text-[13px] text-muted">{flag.explanation}</span>
            <Select aria-label={`Class of ${flag.column}`} value={flag.class} onChange={(event) => setFlags(flags.map((other, i) => (i === at ? { ...other, class: event.target.value as typeof flag.class } : other)))}>
              <option value="intentional_transformation">intentional transformation</option>
              <option value="genuine_loss">genuine loss</option>
            </Select>
          </li>
        ))}
      </ul>
      <CheckAndSave task={task} content={() => ({ ...content, flags })} onClose={onClose} onSubmit={onSubmit} />
    </Dialog>
  );
}

interface CheckProps {
  readonly task: TaskDetail;
  /** Throws when the text is not even of the right form. */
  readonly content: () => object;
  readonly onClose: () => void;
  readonly onSubmit: (content: object, approve: boolean) => void;
  readonly disabled?: boolean;
  /** False where saving starts agents whose results must be looked at first. */
  readonly canApprove?: boolean;
}

function CheckAndSave({ task, content, onClose, onSubmit, disabled = false, canApprove = true }: CheckProps) {
  const [problems, setProblems] = useState<readonly Problem[] | null>(null);
  const check = useMutation({
    mutationFn: async (then: 'check' | 'save' | 'approve') => {
      const checked = content();
      const found = (await api<{ problems: readonly Problem[] }>(`/api/tasks/${task.id}/check`, { method: 'POST', body: { content: checked } })).problems;
      setProblems(found);
      if (found.length === 0 && then !== 'check') onSubmit(checked, then === 'approve');
    },
  });
  return (
    <div className="mt-3 space-y-2">
      {check.error ? <ErrorNote error={check.error instanceof SyntaxError ? new Error(`This is not JSON: ${check.error.message}`) : check.error} /> : null}
      {problems && problems.length > 0 ? <ErrorNote error={new RequestFailed('This cannot be saved yet.', 422, 'check_failed', 'Mend what is listed and check again.', problems)} /> : null}
      {problems?.length === 0 ? <p role="status" className="text-good">All checks pass.</p> : null}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button disabled={check.isPending || disabled} onClick={() => check.mutate('check')}>
          {check.isPending ? 'Checking…' : 'Check'}
        </Button>
        <Button disabled={check.isPending || disabled} onClick={() => check.mutate('save')}>
          Save
        </Button>
        {canApprove ? (
          <Button look="good" disabled={check.isPending || disabled} onClick={() => check.mutate('approve')}>
            Save and approve
          </Button>
        ) : null}
      </div>
    </div>
  );
}
