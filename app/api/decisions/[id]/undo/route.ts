import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema, undoBody } from '@/lib/review/api-types';
import { undo } from '@/lib/review/decide';
import { decisionServices } from '@/lib/review/process-services';

export const POST = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    params: z.strictObject({ id: idSchema }),
    body: undoBody,
  },
  ({ user, params, body }) => undo(decisionServices(), user, params.id, body),
);
