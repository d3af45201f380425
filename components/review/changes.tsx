'use client';
import Link from 'next/link';
import { useMemo, useState } from 'react';
import type { TaskDetail, VersionDetail } from '../../lib/review/api-types';
import { when } from '../format';
import { CodeDiff } from '../text/code-diff';
import { WordDiff } from '../text/word-diff';
import { Button } from '../ui/button';
import { Card } from '../ui/card';
import { readableContent } from './readable-content';

// Diff models of very large texts take the editor seconds.
const DIFF_LIMIT = 200_000;

/** The difference from an earlier version: open when the reviewer has not seen the current one, else to be opened again. */
export function Changes({ task, before, unseen }: { readonly task: TaskDetail; readonly before: VersionDetail; readonly unseen: boolean }) {
  const [open, setOpen] = useState(unseen);
  const { current } = task;
  return (
    <Card
      title={
        unseen
          ? current.seq > before.seq
            ? `Version ${current.seq} replaces version ${before.seq}, which you saw last`
            : `Version ${current.seq} is current again; you saw version ${before.seq} last`
          : `Changes since version ${before.seq}`
      }
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

function Difference({ task, before }: { readonly task: TaskDetail; readonly before: VersionDetail }) {
  const [old, now] = useMemo(() => [readableContent(task.gate, before.content), readableContent(task.gate, task.current.content)], [task.gate, before, task.current]);
  const whole = (
    <Link className="text-accent underline" href={`/artefacts/${task.artefactId}?from=${before.seq}&to=${task.current.seq}`}>
      Everything stored, compared
    </Link>
  );
  if (old === now) return <p className="text-[13px]">What is decided here has not changed; only measurements beside it have. {whole}</p>;
  if (old.length + now.length > DIFF_LIMIT) return <p className="text-[13px]">These versions are too long to be compared here. {whole}</p>;
  return (
    <div className="space-y-2">
      {task.gate === 'evidence' ? <WordDiff before={old} after={now} /> : <CodeDiff before={old} after={now} language={task.gate === 'untranslated' || task.gate === 'optimised_query' ? 'mql' : 'plaintext'} label={`Version ${before.seq} and version ${task.current.seq}`} onlyChanges />}
      <p className="text-[13px]">{whole}</p>
    </div>
  );
}
