import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema, itemsQuery, roles } from '@/lib/review/api-types';
import { listItems } from '@/lib/review/benchmarks';

export const GET = handler(
  { access: roles, scope: 'read', params: z.strictObject({ id: idSchema }), query: itemsQuery },
  ({ db, params, query }) => listItems(db, params.id, query),
);
