import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema } from '@/lib/review/api-types';
import { versionBySeq, versionDetail } from '@/lib/review/task-detail';

const params = z.strictObject({
  id: idSchema,
  seq: z.coerce
    .number()
    .int()
    .min(1)
    .max(2 ** 31 - 1),
});

export const GET = handler(
  { access: ['admin', 'lead', 'reviewer'], scope: 'read', params },
  async ({ db, blobs, params: { id, seq } }) => ({
    version: await versionDetail(blobs, await versionBySeq(db.prisma, id, seq)),
  }),
);
