import Link from 'next/link';
import type { EmptyQueue } from '../../lib/review/lease-api';
import { counted } from '../format';
import { Button } from '../ui/button';

/** Why there is no next task: what colleagues hold, what the agents work on, what was skipped. */
export function EmptyQueueNote({
  empty,
  reviewSkipped,
}: {
  readonly empty: EmptyQueue;
  readonly reviewSkipped: () => void;
}) {
  return (
    <div role="status" className="space-y-1 rounded-md border border-accent/40 bg-accent-soft p-3">
      <p className="font-medium">{empty.message}</p>
      {empty.reason === 'skipped' ? (
        <Button onClick={reviewSkipped}>Review skipped tasks</Button>
      ) : null}
      {empty.leasedTo.map((holder) => (
        <p key={holder.name} className="text-[13px]">
          {holder.name} holds {counted(holder.tasks, 'task')}
        </p>
      ))}
      {empty.stages.map((stage) => (
        <p key={`${stage.databaseId}${stage.stage}`} className="text-[13px]">
          <Link className="underline" href={`/databases/${stage.databaseId}`}>
            {stage.database}
          </Link>
          : {stage.stage.replaceAll('_', ' ')} {stage.state}
          {stage.failure ? <span className="wrap-anywhere">: {stage.failure}</span> : ''}
        </p>
      ))}
      <p className="text-[13px]">
        <Link className="underline" href="/queue">
          All tasks
        </Link>
      </p>
    </div>
  );
}
