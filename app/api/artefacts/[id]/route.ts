import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { artefactWithVersions } from '@/lib/artefacts/artefacts';

export const GET = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    scope: 'read',
    params: z.strictObject({ id: idSchema }),
  },
  ({ db, params }) => artefactWithVersions(db, params.id),
);
