import type { TaskDetail } from '../../lib/review/task-api';
import { ErrorNote } from '../ui/notes';
import { EmptyQueueNote } from './empty-queue-note';
import type { DecisionFlow } from './use-decision-flow';

interface Props {
  readonly task: TaskDetail;
  readonly flow: DecisionFlow;
  /** The colleague whose decision only a lead can reopen. */
  readonly decidedBy: string | null;
}

/** What the reviewer must know before deciding: failures, the empty queue, who has the task. */
export function ReviewNotices({ task, flow, decidedBy }: Props) {
  return (
    <>
      {flow.waitsForServer ? (
        <p role="status" className="rounded-md border border-warn/40 bg-warn-soft p-3 text-warn">
          Your decision is kept in this browser and sent as soon as the server can be reached; then
          the next task opens.
        </p>
      ) : null}
      {flow.empty ? <EmptyQueueNote empty={flow.empty} reviewSkipped={flow.reviewSkipped} /> : null}
      {flow.failure ? <ErrorNote error={flow.failure} /> : null}
      {flow.leaseError ? <ErrorNote error={flow.leaseError} /> : null}
      {decidedBy === null ? null : (
        <p role="status" className="rounded-md border border-line bg-surface p-3">
          Decided by {decidedBy}, and current. A lead can reopen it.
        </p>
      )}
      {task.waitingFor ? (
        <p className="rounded-md border border-line bg-surface p-3 wrap-anywhere">
          {task.waitingFor}
        </p>
      ) : null}
    </>
  );
}
