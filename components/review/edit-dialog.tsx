'use client';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ConceptualDesign } from '../../lib/design/model/document-design';
import type {
  EvidenceContent,
  GoldContent,
  TranslationContent,
} from '../../lib/pipeline/stages/artefacts';
import type { EditCheck } from '../../lib/review/decision-api';
import type { Draft, TaskDetail } from '../../lib/review/task-api';
import type { TableValidation } from '../../lib/validation/table-validation';
import { api, RequestFailed } from '../api';
import { CodeEditor } from '../text/code-editor';
import { printExtendedMql } from '../../lib/mql/print-extended-json';
import type { TextLanguage } from '../text/monaco';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Select } from '../ui/field';
import { ErrorNote, Loading } from '../ui/notes';
import type { CsvFile } from './csv-file';

interface EditProps {
  readonly task: TaskDetail;
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
  readonly onClose: () => void;
  readonly onSubmit: (content: object, approve: boolean) => void;
  readonly onStale: () => void;
  /** What to start from instead of the current content. */
  readonly start: unknown;
}

/**
 * Edits an artefact in the form in which people write it; the same checks run as for an agent
 * before it is saved.
 */
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
        hint:
          'The whole design as JSON. Choices are checked against the profile: nothing may be ' +
          'lost, nothing may grow without bound.',
        language: 'mql',
        initial: JSON.stringify(content as ConceptualDesign, null, 2),
        toContent: (text) => JSON.parse(text) as object,
      };
    case 'evidence':
      return {
        title: 'Edit the evidence',
        hint: 'Paths are written collection.field, and must exist in the design.',
        language: 'plaintext',
        initial: (content as EvidenceContent).evidenceMql,
        toContent: (text) => ({ evidenceMql: text }),
      };
    default: {
      const mql =
        task.gate === 'untranslated'
          ? ((content as TranslationContent).mql ??
            (content as TranslationContent).attempts[0]?.mql)
          : (content as GoldContent).mql;
      return {
        title: 'Edit the query',
        hint:
          'Shell syntax or Extended JSON; it is parsed, never evaluated. Its result must ' +
          'equal that of the SQL.',
        language: 'mql',
        initial: mql ? printExtendedMql(mql) : 'db.collection.aggregate([\n  \n])',
        toContent: (text) => ({ text }),
      };
    }
  }
}

function TextDialog({
  task,
  draft,
  onChange,
  onClose,
  onSubmit,
  title,
  hint,
  language,
  initial,
  toContent,
}: EditProps & TextForm) {
  const [kept] = useState(draft.edit);
  const [fresh, setFresh] = useState(0);
  const text = draft.edit ?? initial;
  const setText = (edited: string): void => onChange({ edit: edited === initial ? null : edited });
  return (
    <Dialog open onClose={onClose} title={title} description={hint} wide>
      {kept !== null ? (
        <p className="mb-2 flex items-center gap-2 rounded-md border border-warn/40 bg-warn-soft p-2 text-[13px] text-warn">
          {fresh === 0
            ? 'This is the draft that you left here.'
            : 'Started from the current version.'}
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
      <CodeEditor
        key={fresh}
        initial={fresh === 0 ? (kept ?? initial) : initial}
        onChange={setText}
        language={language}
        label={title}
        height={380}
      />
      <CheckAndSave
        task={task}
        content={() => toContent(text)}
        onClose={onClose}
        onSubmit={onSubmit}
      />
    </Dialog>
  );
}

/** The logical design of the collection, as the four-column CSV that the paper's Table 7 shows. */
function CsvDialog({ task, start, onClose, onSubmit }: EditProps) {
  const uploaded = start as CsvFile | null;
  const [loaded, setLoaded] = useState<string | null>(uploaded?.csv ?? null);
  const [csv, setCsv] = useState(loaded);
  const [error, setError] = useState<unknown>(null);
  const take = (text: string): void => {
    setLoaded(text);
    setCsv(text);
  };
  useEffect(() => {
    if (uploaded) return;
    fetch(`/api/tasks/${task.id}/logical.csv`).then(
      async (response) =>
        response.ok
          ? take(await response.text())
          : setError(
              new RequestFailed(
                'The logical design could not be read.',
                response.status,
                'internal',
                'Try again.',
              ),
            ),
      setError,
    );
  }, [task.id, uploaded]);
  return (
    <Dialog
      open
      onClose={onClose}
      title={uploaded ? `The logical design from ${uploaded.fileName}` : 'Edit the logical design'}
      description="One row a field: source, target, type, transformation. Saving migrates and validates again."
      wide
    >
      {error ? <ErrorNote error={error} /> : null}
      {loaded === null ? (
        <Loading what="the logical design" />
      ) : (
        <CodeEditor
          initial={loaded}
          onChange={setCsv}
          language="plaintext"
          label="Logical design as CSV"
          height={380}
        />
      )}
      <CheckAndSave
        task={task}
        content={() => ({ csv: csv ?? '' })}
        onClose={onClose}
        onSubmit={onSubmit}
        disabled={csv === null}
        canApprove={false}
      />
    </Dialog>
  );
}

type FlagClass = TableValidation['flags'][number]['class'];
const flagClasses: readonly FlagClass[] = ['genuine_loss', 'intentional_transformation'];

function ReclassifyDialog({ task, start, onClose, onSubmit }: EditProps) {
  const content = task.current.content as TableValidation;
  const [flags, setFlags] = useState(((start ?? content) as TableValidation).flags);
  const setAll = (group: FlagClass, to: FlagClass): void =>
    setFlags(
      flags.map((flag, at) => (content.flags[at]?.class === group ? { ...flag, class: to } : flag)),
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title="Classify the flags"
      description="The measurements stay; only the class and the explanation change."
      wide
    >
      <div className="space-y-4">
        {flagClasses
          .filter((group) => content.flags.some((flag) => flag.class === group))
          .map((group) => (
            <fieldset key={group} className="space-y-2">
              <legend className="mb-1 flex w-full flex-wrap items-center gap-2 font-medium">
                Flagged as {group.replaceAll('_', ' ')}
                <span className="ml-auto" />
                {flagClasses.map((to) => (
                  <Button key={to} onClick={() => setAll(group, to)}>
                    All: {to.replaceAll('_', ' ')}
                  </Button>
                ))}
              </legend>
              <ul className="divide-y divide-line rounded-md border border-line">
                {flags.map((flag, at) =>
                  content.flags[at]?.class === group ? (
                    <li key={flag.column} className="flex flex-wrap items-center gap-2 px-2 py-1">
                      <code className="font-mono text-xs wrap-anywhere">{flag.column}</code>
                      <span className="min-w-0 flex-1 text-[13px] text-muted wrap-anywhere">
                        {flag.explanation}
                      </span>
                      {flag.class !== group ? <Badge tone="accent">changed</Badge> : null}
                      <Select
                        aria-label={`Class of ${flag.column}`}
                        value={flag.class}
                        onChange={(event) =>
                          setFlags(
                            flags.map((other, i) =>
                              i === at
                                ? { ...other, class: event.target.value as FlagClass }
                                : other,
                            ),
                          )
                        }
                      >
                        {flagClasses.map((name) => (
                          <option key={name} value={name}>
                            {name.replaceAll('_', ' ')}
                          </option>
                        ))}
                      </Select>
                    </li>
                  ) : null,
                )}
              </ul>
            </fieldset>
          ))}
      </div>
      <CheckAndSave
        task={task}
        content={() => ({ ...content, flags })}
        onClose={onClose}
        onSubmit={onSubmit}
      />
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

const sameNotes = (a: readonly string[], b: readonly string[]): boolean =>
  a.join('\n') === b.join('\n');

function CheckOutcome({ checked: { problems, notes } }: { readonly checked: EditCheck }) {
  if (problems.length > 0) {
    const hint = 'Correct what is listed and check again.';
    const error = new RequestFailed('This cannot be saved.', 422, 'check_failed', hint, problems);
    return <ErrorNote error={error} />;
  }
  return (
    <div role="status">
      <p className="text-good">All checks pass.</p>
      {notes.map((note) => (
        <p key={note} className="mt-1 rounded-md border border-warn/40 bg-warn-soft p-2 text-warn">
          {note}
        </p>
      ))}
    </div>
  );
}

function CheckAndSave({
  task,
  content,
  onClose,
  onSubmit,
  disabled = false,
  canApprove = true,
}: CheckProps) {
  const [checked, setChecked] = useState<EditCheck | null>(null);
  const check = useMutation({
    mutationFn: async (then: 'check' | 'save' | 'approve') => {
      const edited = content();
      const url = `/api/tasks/${task.id}/check`;
      const result = await api<EditCheck>(url, { method: 'POST', body: { content: edited } });
      const wasShown = checked !== null && sameNotes(checked.notes, result.notes);
      setChecked(result);
      // What the checks could not show is read before it is saved: the second press saves.
      const isRead = result.notes.length === 0 || wasShown;
      const canSave = result.problems.length === 0 && isRead;
      if (canSave && then !== 'check') onSubmit(edited, then === 'approve');
    },
  });
  return (
    <form
      className="mt-3 space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        check.mutate(canApprove ? 'approve' : 'save');
      }}
    >
      {check.error ? (
        <ErrorNote
          error={
            check.error instanceof SyntaxError
              ? new Error(`This is not JSON: ${check.error.message}`)
              : check.error
          }
        />
      ) : null}
      {checked ? <CheckOutcome checked={checked} /> : null}
      <div className="flex items-center justify-end gap-2">
        <span className="mr-auto text-xs text-muted">
          Ctrl+Enter {canApprove ? 'saves and approves' : 'saves'}.
        </span>
        <Button onClick={onClose}>Cancel</Button>
        <Button disabled={check.isPending || disabled} onClick={() => check.mutate('check')}>
          {check.isPending ? 'Checking…' : 'Check'}
        </Button>
        {canApprove ? (
          <>
            <Button disabled={check.isPending || disabled} onClick={() => check.mutate('save')}>
              Save
            </Button>
            <Button type="submit" look="good" disabled={check.isPending || disabled}>
              Save and approve
            </Button>
          </>
        ) : (
          <Button type="submit" disabled={check.isPending || disabled}>
            Save
          </Button>
        )}
      </div>
    </form>
  );
}
