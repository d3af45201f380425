import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { runBody } from '@/lib/pipeline/stage-api';
import { runDatabase } from '@/lib/benchmarks/runs';

export const POST = handler(
  { access: ['admin', 'lead'], params: z.strictObject({ id: idSchema }), body: runBody },
  async ({ db, user, params, body }) => ({
    queued: await runDatabase(db, user, params.id, body.from),
  }),
);
