import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { taskLogicalCsv } from '@/lib/artefacts/artefacts';
import { idSchema } from '@/lib/api-fields';

/** The logical design behind a collection's validation task, as the CSV that is edited. */
export const GET = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    scope: 'read',
    params: z.strictObject({ id: idSchema }),
  },
  async ({ db, blobs, params }) => taskLogicalCsv(db, blobs, params.id),
);
