import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { emptyBody, idSchema } from '@/lib/review/api-types';
import { retryDatabase } from '@/lib/review/runs';

export const POST = handler(
  { access: ['admin', 'lead'], params: z.strictObject({ id: idSchema }), body: emptyBody },
  async ({ db, user, params }) => ({ queued: await retryDatabase(db, user, params.id) }),
);
