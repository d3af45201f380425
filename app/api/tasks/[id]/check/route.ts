import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { checkBody, idSchema } from '@/lib/review/api-types';
import { checkTaskEdit } from '@/lib/review/decide';
import { decisionServices } from '@/lib/review/process-services';

export const POST = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    params: z.strictObject({ id: idSchema }),
    body: checkBody,
  },
  ({ user, params, body, request }) =>
    checkTaskEdit(decisionServices(), user, params.id, body.content, request.signal),
);
