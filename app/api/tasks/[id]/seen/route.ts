import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema, seenBody } from '@/lib/review/api-types';
import { saveSeen } from '@/lib/review/task-detail';

export const POST = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    params: z.strictObject({ id: idSchema }),
    body: seenBody,
  },
  ({ db, user, params, body }) => saveSeen(db, user, params.id, body.versionId),
);
