import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { taskDetail } from '@/lib/review/task-detail';

export const GET = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    scope: 'read',
    params: z.strictObject({ id: idSchema }),
  },
  async ({ db, blobs, user, params }) => ({ task: await taskDetail(db, blobs, user, params.id) }),
);
