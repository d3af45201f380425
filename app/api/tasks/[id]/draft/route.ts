import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { draftBody, idSchema } from '@/lib/review/api-types';
import { saveDraft } from '@/lib/review/task-detail';

export const PUT = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    params: z.strictObject({ id: idSchema }),
    body: draftBody,
  },
  ({ db, user, params, body }) => saveDraft(db, user, params.id, body),
);
