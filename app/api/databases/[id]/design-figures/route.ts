import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { runUserWork } from '@/lib/review/user-work/user-work';

export const GET = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    scope: 'read',
    params: z.strictObject({ id: idSchema }),
  },
  ({ user, params, request }) =>
    runUserWork(user.id, 'design_figures', { databaseId: params.id }, request.signal),
);
