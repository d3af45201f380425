import { handler, json } from '@/lib/auth/handler';
import { readConfig } from '@/lib/config';
import { uploadQuery } from '@/lib/review/api-types';
import { queueUpload } from '@/lib/review/imports';

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
