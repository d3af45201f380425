import { handler } from '@/lib/http/handler';
import { json } from '@/lib/http/json';
import { importPathBody } from '@/lib/benchmarks/benchmark-api';
import { queueImportOfPath } from '@/lib/benchmarks/imports';

export const POST = handler(
  { access: ['admin'], body: importPathBody },
  async ({ db, user, body }) => json(202, { import: await queueImportOfPath(db, user, body) }),
);
