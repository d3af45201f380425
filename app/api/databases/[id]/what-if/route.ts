import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema, whatIfBody } from '@/lib/review/api-types';
import { databaseWhatIf } from '@/lib/review/designs';

export const POST = handler({ access: ['admin', 'lead', 'reviewer'], params: z.strictObject({ id: idSchema }), body: whatIfBody }, ({ db, blobs, params, body }) => databaseWhatIf(db, blobs, params.id, body));
