import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { releaseTask } from '@/lib/review/leases';

/** For `sendBeacon`, which can only POST. */
export const POST = handler(
  { access: ['admin', 'lead', 'reviewer'], params: z.strictObject({ id: idSchema }) },
  ({ db, user, params }) => releaseTask(db, user, params.id),
);
