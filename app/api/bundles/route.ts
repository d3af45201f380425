import { handler } from '@/lib/http/handler';
import { json } from '@/lib/http/json';
import { bundlesQuery, createBundleBody } from '@/lib/releases/release-api';
import { listBundles, requestBundle } from '@/lib/releases/bundles';

export const GET = handler(
  { access: ['admin', 'lead', 'reviewer', 'consumer'], scope: 'bundles', query: bundlesQuery },
  async ({ db, user, query }) => ({ bundles: await listBundles(db, user, query.benchmarkId) }),
);

export const POST = handler(
  { access: ['admin', 'lead', 'consumer'], body: createBundleBody },
  async ({ db, user, body }) => json(202, { bundle: await requestBundle(db, user, body) }),
);
