import { handler, json } from '@/lib/auth/handler';
import { bundlesQuery, createBundleBody } from '@/lib/review/api-types';
import { listBundles, requestBundle } from '@/lib/review/bundles';

export const GET = handler(
  { access: ['admin', 'lead', 'reviewer', 'consumer'], scope: 'bundles', query: bundlesQuery },
  async ({ db, user, query }) => ({ bundles: await listBundles(db, user, query.benchmarkId) }),
);

export const POST = handler(
  { access: ['admin', 'lead', 'consumer'], body: createBundleBody },
  async ({ db, user, body }) => json(202, { bundle: await requestBundle(db, user, body) }),
);
