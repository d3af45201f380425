import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { leaseTask, releaseTask } from '@/lib/review/leases';

const params = z.strictObject({ id: idSchema });

export const POST = handler(
  { access: ['admin', 'lead', 'reviewer'], params },
  async ({ db, user, params: { id } }) => ({ lease: await leaseTask(db, user, id) }),
);

export const DELETE = handler(
  { access: ['admin', 'lead', 'reviewer'], params },
  ({ db, user, params: { id } }) => releaseTask(db, user, id),
);
