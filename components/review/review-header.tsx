import Link from 'next/link';
import { useEffect, useRef } from 'react';
import type { TaskDetail } from '../../lib/review/task-api';
import { taskTone } from '../database/artefact-list';
import { gateLabel } from '../format';
import { Badge } from '../ui/badge';
import { SaveState } from './save-state';

/** Where the task belongs, its name and state, and whether decisions are saved. */
export function ReviewHeader({ task }: { readonly task: TaskDetail }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // A new task is a new page: reading starts at its name.
  useEffect(() => {
    document.title = `${task.title} · ${task.database} · AptMQL Studio`;
    heading.current?.focus({ preventScroll: true });
  }, [task.id, task.title, task.database]);
  return (
    <header
      className={
        'flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-surface px-4 py-2'
      }
    >
      <Breadcrumb task={task} />
      <h1
        ref={heading}
        tabIndex={-1}
        className="max-w-2xl truncate font-semibold outline-none"
        title={task.title}
      >
        {task.title}
      </h1>
      <Badge tone={taskTone[task.state] ?? 'neutral'}>
        {task.state === 'waiting' ? 'with the agents' : task.state}
      </Badge>
      {task.verdict ? (
        <span className="text-[13px] text-muted">
          last verdict: {task.verdict.replaceAll('_', ' ')}
        </span>
      ) : null}
      <span className="ml-auto" />
      <SaveState />
    </header>
  );
}

function Breadcrumb({ task }: { readonly task: TaskDetail }) {
  const queue = new URLSearchParams({
    benchmark: task.benchmarkId,
    database: task.databaseId,
    gate: task.gate,
  });
  return (
    <nav aria-label="Breadcrumb" className="text-[13px] text-muted">
      <Link href={`/benchmarks/${task.benchmarkId}`} className="hover:underline">
        {task.benchmarkName}
      </Link>{' '}
      /{' '}
      <Link href={`/databases/${task.databaseId}`} className="hover:underline">
        {task.database}
      </Link>{' '}
      /{' '}
      <Link href={`/queue?${queue}`} className="hover:underline">
        {gateLabel[task.gate]}
      </Link>{' '}
      /
    </nav>
  );
}
