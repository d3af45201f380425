import { handler } from '@/lib/http/handler';
import { assignBody } from '@/lib/review/lease-api';
import { assignTasks } from '@/lib/review/assign';

export const POST = handler(
  { access: ['admin', 'lead'], body: assignBody },
  async ({ db, user, body }) => ({
    assigned: await assignTasks(db, user, body.taskIds, body.userId),
  }),
);
