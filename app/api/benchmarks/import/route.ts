import { handler, json } from '@/lib/auth/handler';
import { importPathBody } from '@/lib/review/api-types';
import { queueImportOfPath } from '@/lib/review/imports';

export const POST = handler(
  { access: ['admin'], body: importPathBody },
  async ({ db, user, body }) => json(202, { import: await queueImportOfPath(db, user, body) }),
);
