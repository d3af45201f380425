import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { confirmBody, idSchema } from '@/lib/api-fields';
import { roles } from '@/lib/auth/account-api';
import { benchmarkPatchBody } from '@/lib/benchmarks/benchmark-api';
import { changeBenchmark, deleteBenchmark } from '@/lib/benchmarks/benchmarks';
import { benchmarkDetail } from '@/lib/benchmarks/overview';
import { processMongo } from '@/lib/pipeline/process-mongo';

const params = z.strictObject({ id: idSchema });

export const GET = handler(
  { access: roles, scope: 'read', params },
  async ({ db, params: { id } }) => ({ benchmark: await benchmarkDetail(db, id) }),
);

export const PATCH = handler(
  { access: ['admin', 'lead'], params, body: benchmarkPatchBody },
  async ({ db, user, params: { id }, body }) => {
    await changeBenchmark(db, user, id, body);
    return { benchmark: await benchmarkDetail(db, id) };
  },
);

export const DELETE = handler(
  { access: ['admin'], params, body: confirmBody },
  ({ db, blobs, user, params: { id }, body }) =>
    deleteBenchmark({ db, blobs, mongo: processMongo }, user, id, body.name),
);
