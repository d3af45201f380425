import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema } from '@/lib/review/api-types';
import { designFigures } from '@/lib/review/designs';

export const GET = handler({ access: ['admin', 'lead', 'reviewer'], scope: 'read', params: z.strictObject({ id: idSchema }) }, ({ db, blobs, params }) => designFigures(db, blobs, params.id));
