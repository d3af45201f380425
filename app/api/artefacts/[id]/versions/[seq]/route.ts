import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { versionBySeq, versionDetail } from '@/lib/artefacts/versions';

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
