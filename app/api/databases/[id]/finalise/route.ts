import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { finaliseBody } from '@/lib/benchmarks/benchmark-api';
import { finalise, finaliseReport } from '@/lib/benchmarks/finalise';

const params = z.strictObject({ id: idSchema });

export const GET = handler(
  { access: ['admin', 'lead', 'reviewer'], scope: 'read', params },
  async ({ db, blobs, params: { id } }) => ({ report: await finaliseReport(db.prisma, blobs, id) }),
);

export const POST = handler(
  { access: ['admin', 'lead'], params, body: finaliseBody },
  async ({ db, blobs, user, params: { id }, body }) => ({
    report: await finalise(db, blobs, user, id, body.idempotencyKey),
  }),
);
