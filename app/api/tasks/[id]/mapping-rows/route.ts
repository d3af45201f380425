import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { mappingRowsQuery } from '@/lib/artefacts/artefact-api';
import { processMongo } from '@/lib/pipeline/process-mongo';
import { mappingRows } from '@/lib/artefacts/sample-rows';

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
