import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { commentPatchBody, idSchema } from '@/lib/review/api-types';
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
