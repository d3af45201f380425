import { createToken, listTokens } from '@/lib/auth/accounts';
import { handler, json } from '@/lib/auth/handler';
import { createTokenBody, roles } from '@/lib/review/api-types';

export const GET = handler({ access: roles }, async ({ db, user }) => ({
  tokens: await listTokens(db, user),
}));

export const POST = handler({ access: roles, body: createTokenBody }, async ({ db, user, body }) =>
  json(201, await createToken(db, user, body)),
);
