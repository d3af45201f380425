import { handler } from '@/lib/http/handler';
import { queueQuery } from '@/lib/review/queue-api';
import { listTasks } from '@/lib/review/task-query';

export const GET = handler(
  { access: ['admin', 'lead', 'reviewer'], scope: 'read', query: queueQuery },
  ({ db, user, query }) => listTasks(db, query, user.id),
);
