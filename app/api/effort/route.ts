import { handler } from '@/lib/http/handler';
import { effortBody } from '@/lib/review/task-api';
import { recordEffort } from '@/lib/review/effort';

export const POST = handler(
  { access: ['admin', 'lead', 'reviewer'], body: effortBody, beacon: true },
  ({ db, user, body }) => recordEffort(db, user, body.spans),
);
