import { handler } from '@/lib/auth/handler';
import { assignBody } from '@/lib/review/api-types';
import { assignTasks } from '@/lib/review/assign';

export const POST = handler(
  { access: ['admin', 'lead'], body: assignBody },
  async ({ db, user, body }) => ({
    assigned: await assignTasks(db, user, body.taskIds, body.userId),
  }),
);
