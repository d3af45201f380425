import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { decideBody, idSchema } from '@/lib/review/api-types';
import { decide } from '@/lib/review/decide';
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
