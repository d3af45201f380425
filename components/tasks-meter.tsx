import type { TaskCounts } from '../lib/pipeline/task-state';
import { Badge } from './ui/badge';
import { number } from './format';

/** The numbers that queue, overview and export share. */
export function TasksMeter({ tasks }: { readonly tasks: TaskCounts }) {
  const total = tasks.open + tasks.stale + tasks.waiting + tasks.done;
  if (total === 0) return <span className="text-muted">no tasks</span>;
  return (
    <span className="inline-flex flex-wrap items-center gap-1">
      <Badge tone={tasks.done === total ? 'good' : 'neutral'}>
        {number(tasks.done)}/{number(total)} done
      </Badge>
      {tasks.open > 0 ? <Badge tone="accent">{number(tasks.open)} open</Badge> : null}
      {tasks.stale > 0 ? <Badge tone="warn">{number(tasks.stale)} stale</Badge> : null}
      {tasks.waiting > 0 ? <Badge>{number(tasks.waiting)} with agents</Badge> : null}
    </span>
  );
}
