import { handler } from '@/lib/http/handler';
import { json } from '@/lib/http/json';
import { readConfig } from '@/lib/config';
import { uploadQuery } from '@/lib/benchmarks/benchmark-api';
import { queueUpload } from '@/lib/benchmarks/imports';

export const POST = handler(
  { access: ['admin', 'lead'], query: uploadQuery, streams: true },
  async ({ db, blobs, user, query, request }) =>
    json(202, {
      import: await queueUpload(
        { db, blobs, dataDir: readConfig().dataDir },
        user,
        query.name,
        request,
      ),
    }),
);
