import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { undoBody } from '@/lib/review/decision-api';
import { undo } from '@/lib/review/undo-decision';
import { decisionServices } from '@/lib/review/process-services';

export const POST = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    params: z.strictObject({ id: idSchema }),
    body: undoBody,
  },
  ({ user, params, body }) => undo(decisionServices(), user, params.id, body),
);
