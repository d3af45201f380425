import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema, roles } from '@/lib/review/api-types';
import { databaseDetail } from '@/lib/review/overview';

export const GET = handler(
  { access: roles, scope: 'read', params: z.strictObject({ id: idSchema }) },
  async ({ db, blobs, params }) => ({ database: await databaseDetail(db, blobs, params.id) }),
);
