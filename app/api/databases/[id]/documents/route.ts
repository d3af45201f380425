import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { documentsQuery } from '@/lib/artefacts/artefact-api';
import { sampleDocuments } from '@/lib/artefacts/sample-rows';
import { processMongo } from '@/lib/pipeline/process-mongo';

export const GET = handler(
  {
    access: ['admin', 'lead', 'reviewer'],
    scope: 'read',
    params: z.strictObject({ id: idSchema }),
    query: documentsQuery,
  },
  ({ db, blobs, params, query, request }) =>
    sampleDocuments(
      { db, blobs, mongo: processMongo },
      params.id,
      query.collection,
      request.signal,
    ),
);
