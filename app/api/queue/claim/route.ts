import { handler } from '@/lib/http/handler';
import { claimBody, type ClaimResponse } from '@/lib/review/lease-api';
import { claimTask, explainEmptyQueue } from '@/lib/review/leases';
import { taskDetail } from '@/lib/review/task-detail';

export const POST = handler(
  { access: ['admin', 'lead', 'reviewer'], body: claimBody },
  async ({ db, blobs, user, body }): Promise<ClaimResponse> => {
    const { holding, after, deciding, skipped, ...filter } = body;
    const lease = await claimTask(db, user, filter, holding, after, [...deciding, ...skipped]);
    if (!lease) return { task: null, empty: await explainEmptyQueue(db, user, filter, skipped) };
    return { task: await taskDetail(db, blobs, user, lease.taskId), lease };
  },
);
