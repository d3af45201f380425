import { handler } from '@/lib/auth/handler';
import { effortBody } from '@/lib/review/api-types';
import { recordEffort } from '@/lib/review/effort';

export const POST = handler(
  { access: ['admin', 'lead', 'reviewer'], body: effortBody, beacon: true },
  ({ db, user, body }) => recordEffort(db, user, body.spans),
);
