import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema } from '@/lib/review/api-types';
import { taskLogicalCsv } from '@/lib/review/artefacts';

export const GET = handler({ access: ['admin', 'lead', 'reviewer'], scope: 'read', params: z.strictObject({ id: idSchema }) }, ({ db, blobs, params }) => taskLogicalCsv(db, blobs, params.id));
