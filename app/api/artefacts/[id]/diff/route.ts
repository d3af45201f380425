import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { diffQuery, idSchema, type ArtefactDiff } from '@/lib/review/api-types';
import { versionBySeq, versionDetail } from '@/lib/review/task-detail';

export const GET = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    scope: 'read',
    params: z.strictObject({ id: idSchema }),
    query: diffQuery,
  },
  async ({ db, blobs, params, query }): Promise<ArtefactDiff> => {
    const version = async (seq: number) =>
      versionDetail(blobs, await versionBySeq(db.prisma, params.id, seq));
    const [from, to] = await Promise.all([version(query.from), version(query.to)]);
    return { from, to };
  },
);
