import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { draftBody } from '@/lib/review/task-api';
import { saveDraft } from '@/lib/review/task-detail';

export const PUT = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    params: z.strictObject({ id: idSchema }),
    body: draftBody,
  },
  ({ db, user, params, body }) => saveDraft(db, user, params.id, body),
);
