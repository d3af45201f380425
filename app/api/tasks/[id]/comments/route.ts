import { z } from 'zod';
import { handler, json } from '@/lib/auth/handler';
import { commentBody, idSchema } from '@/lib/review/api-types';
import { addComment } from '@/lib/review/task-detail';

export const POST = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    params: z.strictObject({ id: idSchema }),
    body: commentBody,
  },
  async ({ db, user, params, body }) =>
    json(201, { comment: await addComment(db, user, params.id, body) }),
);
