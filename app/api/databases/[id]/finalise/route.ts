import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { finaliseBody, idSchema } from '@/lib/review/api-types';
import { finalise, finaliseReport } from '@/lib/review/finalise';

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
