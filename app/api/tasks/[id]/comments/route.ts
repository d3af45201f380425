import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { json } from '@/lib/http/json';
import { idSchema } from '@/lib/api-fields';
import { commentBody } from '@/lib/review/task-api';
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
