import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { diffQuery, type ArtefactDiff } from '@/lib/artefacts/artefact-api';
import { versionBySeq, versionDetail } from '@/lib/artefacts/versions';

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
