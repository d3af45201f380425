import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { checkBody } from '@/lib/review/decision-api';
import { checkTaskEdit } from '@/lib/review/check-task-edit';
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
