import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { emptyBody, idSchema } from '@/lib/api-fields';
import { retryDatabase } from '@/lib/benchmarks/runs';

export const POST = handler(
  { access: ['admin', 'lead'], params: z.strictObject({ id: idSchema }), body: emptyBody },
  async ({ db, user, params }) => ({ queued: await retryDatabase(db, user, params.id) }),
);
