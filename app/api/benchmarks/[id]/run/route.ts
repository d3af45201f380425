import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema, runBody } from '@/lib/review/api-types';
import { runBenchmark } from '@/lib/review/runs';

export const POST = handler(
  { access: ['admin', 'lead'], params: z.strictObject({ id: idSchema }), body: runBody },
  async ({ db, user, params, body }) => ({
    queued: await runBenchmark(db, user, params.id, body.from),
  }),
);
