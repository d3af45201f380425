import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { roles } from '@/lib/auth/account-api';
import { databaseDetail } from '@/lib/benchmarks/overview';

export const GET = handler(
  { access: roles, scope: 'read', params: z.strictObject({ id: idSchema }) },
  async ({ db, blobs, params }) => ({ database: await databaseDetail(db, blobs, params.id) }),
);
