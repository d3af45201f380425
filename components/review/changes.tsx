'use client';
import Link from 'next/link';
import { useMemo, useState } from 'react';
import type { ConceptualDesign } from '../../lib/design/model/document-design';
import type { VersionDetail } from '../../lib/artefacts/artefact-api';
import type { TaskDetail } from '../../lib/review/task-api';
import { counted, when } from '../format';
import { CodeDiff } from '../text/code-diff';
import { RelationshipName } from '../text/relationship-name';
import { WordDiff } from '../text/word-diff';
import { Button } from '../ui/button';
import { Card } from '../ui/card';
import { PlainTable } from '../ui/plain-table';
import { designDifference, type TextPair } from './design-difference';
import { readableContent } from './readable-content';

// Diff models of very large texts take the editor seconds.
const DIFF_LIMIT = 200_000;

/**
 * The difference from an earlier version: open when the reviewer has not seen the current one, else
 * to be opened again.
 */
export function Changes({
  task,
  before,
  unseen,
}: {
  readonly task: TaskDetail;
  readonly before: VersionDetail;
  readonly unseen: boolean;
}) {
  const [open, setOpen] = useState(unseen);
  const { current } = task;
  return (
    <Card
      title={changesTitle(current.seq, before.seq, unseen)}
      actions={
        <>
          <span className="text-xs text-muted">
            by {current.author.name}, {when(current.createdAt)}
          </span>
          <Button aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Hide' : 'Compare both'}
          </Button>
        </>
      }
      padded={open}
      className={unseen ? 'border-warn/60' : ''}
    >
      {open ? <Difference task={task} before={before} /> : null}
    </Card>
  );
}

function Difference({
  task,
  before,
}: {
  readonly task: TaskDetail;
  readonly before: VersionDetail;
}) {
  const [old, now] = useMemo(
    () => [
      readableContent(task.gate, before.content),
      readableContent(task.gate, task.current.content),
    ],
    [task.gate, before, task.current],
  );
  const whole = (
    <Link
      className="text-accent underline"
      href={`/artefacts/${task.artefactId}?from=${before.seq}&to=${task.current.seq}`}
    >
      Stored content, compared
    </Link>
  );
  if (old === now)
    return (
      <p className="text-[13px]">
        What is decided here has not changed; only measurements beside it have. {whole}
      </p>
    );
  if (old.length + now.length > DIFF_LIMIT)
    return <p className="text-[13px]">These versions are too long to be compared here. {whole}</p>;
  const label = `Version ${before.seq} and version ${task.current.seq}`;
  return (
    <div className="space-y-2">
      {task.gate === 'evidence' ? <WordDiff before={old} after={now} /> : null}
      {task.gate === 'conceptual_design' ? (
        <DesignChanges
          before={before.content as ConceptualDesign}
          after={task.current.content as ConceptualDesign}
          label={label}
        />
      ) : null}
      {task.gate !== 'evidence' && task.gate !== 'conceptual_design' ? (
        <CodeDiff
          before={old}
          after={now}
          language={
            task.gate === 'untranslated' || task.gate === 'optimised_query' ? 'mql' : 'plaintext'
          }
          label={label}
          onlyChanges
        />
      ) : null}
      <p className="text-[13px]">{whole}</p>
    </div>
  );
}

/** Choices first: one of them moves the figures in the reasons of many others. */
function DesignChanges({
  before,
  after,
  label,
}: {
  readonly before: ConceptualDesign;
  readonly after: ConceptualDesign;
  readonly label: string;
}) {
  const { decisions, reasons, figures, moved } = useMemo(
    () => designDifference(before, after),
    [before, after],
  );
  const [shown, setShown] = useState(false);
  return (
    <>
      {decisions.length === 0 ? (
        <p className="text-[13px]">No changed decisions.</p>
      ) : (
        <PlainTable
          label={`${label}: changed decisions`}
          rows={decisions}
          rowKey={(row) => row.subject}
          columns={[
            { head: 'Changed decision', cell: (row) => <RelationshipName name={row.subject} /> },
            { head: 'Before', cell: (row) => <Decision text={row.before} /> },
            { head: 'Now', cell: (row) => <Decision text={row.after} /> },
          ]}
        />
      )}
      {isSame(reasons) ? null : (
        <>
          <h3 className="text-[13px] font-medium">In other words</h3>
          <CodeDiff
            {...reasons}
            language="plaintext"
            label={`${label}: reasons reworded`}
            onlyChanges
          />
        </>
      )}
      {moved > 0 ? (
        <Button aria-expanded={shown} onClick={() => setShown(!shown)}>
          {shown ? 'Hide' : 'Show'} where figures alone moved: {counted(moved, 'line')}
        </Button>
      ) : null}
      {moved > 0 && shown ? (
        <CodeDiff {...figures} language="plaintext" label={`${label}: figures`} onlyChanges />
      ) : null}
    </>
  );
}

const Decision = ({ text }: { readonly text: string | null }) =>
  text === null ? (
    <span className="text-muted">–</span>
  ) : (
    <span className="wrap-break-word">{text}</span>
  );

const isSame = ({ before, after }: TextPair): boolean => before === after;

function changesTitle(current: number, before: number, unseen: boolean): string {
  if (!unseen) return `Changes since version ${before}`;
  return current > before
    ? `Version ${current} replaces version ${before}, which you saw last`
    : `Version ${current} is current again; you saw version ${before} last`;
}
