import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { commentPatchBody } from '@/lib/review/task-api';
import { changeComment } from '@/lib/review/task-detail';

export const PATCH = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    params: z.strictObject({ id: idSchema }),
    body: commentPatchBody,
  },
  async ({ db, user, params, body }) => ({
    comment: await changeComment(db, user, params.id, body),
  }),
);
