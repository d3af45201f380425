import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema, mappingRowsQuery } from '@/lib/review/api-types';
import { processMongo } from '@/lib/review/process-mongo';
import { mappingRows } from '@/lib/review/sample-rows';

export const GET = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    scope: 'read',
    params: z.strictObject({ id: idSchema }),
    query: mappingRowsQuery,
  },
  ({ db, blobs, params, query, request }) =>
    mappingRows({ db, blobs, mongo: processMongo }, params.id, query.mapping, request.signal),
);
