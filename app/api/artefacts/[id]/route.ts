import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema } from '@/lib/review/api-types';
import { artefactWithVersions } from '@/lib/review/artefacts';

export const GET = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    scope: 'read',
    params: z.strictObject({ id: idSchema }),
  },
  ({ db, params }) => artefactWithVersions(db, params.id),
);
