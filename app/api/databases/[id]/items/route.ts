import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { roles } from '@/lib/auth/account-api';
import { itemsQuery } from '@/lib/benchmarks/benchmark-api';
import { listItems } from '@/lib/benchmarks/benchmarks';

export const GET = handler(
  { access: roles, scope: 'read', params: z.strictObject({ id: idSchema }), query: itemsQuery },
  ({ db, params, query }) => listItems(db, params.id, query),
);
