import { handler } from '@/lib/auth/handler';
import { queueQuery } from '@/lib/review/api-types';
import { listTasks } from '@/lib/review/task-query';

export const GET = handler(
  { access: ['admin', 'lead', 'reviewer'], scope: 'read', query: queueQuery },
  ({ db, user, query }) => listTasks(db, query, user.id),
);
