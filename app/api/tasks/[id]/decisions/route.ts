import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { decideBody } from '@/lib/review/decision-api';
import { decide } from '@/lib/review/decide-task';
import { decisionServices } from '@/lib/review/process-services';

export const POST = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    params: z.strictObject({ id: idSchema }),
    body: decideBody,
  },
  ({ user, params, body, request }) =>
    decide(decisionServices(), user, params.id, body, request.signal),
);
