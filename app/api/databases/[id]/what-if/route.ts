import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { whatIfBody } from '@/lib/artefacts/artefact-api';
import { runUserWork } from '@/lib/review/user-work/user-work';

export const POST = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    params: z.strictObject({ id: idSchema }),
    body: whatIfBody,
  },
  ({ user, params, body, request }) =>
    runUserWork(user.id, 'what_if', { databaseId: params.id, change: body }, request.signal),
);
