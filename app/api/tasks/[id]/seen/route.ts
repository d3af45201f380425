import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { seenBody } from '@/lib/review/task-api';
import { saveSeen } from '@/lib/review/task-detail';

export const POST = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    params: z.strictObject({ id: idSchema }),
    body: seenBody,
  },
  ({ db, user, params, body }) => saveSeen(db, user, params.id, body.versionId),
);
