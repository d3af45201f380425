import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { documentsQuery, idSchema } from '@/lib/review/api-types';
import { sampleDocuments } from '@/lib/review/sample-rows';
import { processMongo } from '@/lib/review/process-mongo';

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
