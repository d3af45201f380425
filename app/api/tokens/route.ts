import { createToken, listTokens } from '@/lib/auth/accounts';
import { handler } from '@/lib/http/handler';
import { json } from '@/lib/http/json';
import { createTokenBody, roles } from '@/lib/auth/account-api';

export const GET = handler({ access: roles }, async ({ db, user }) => ({
  tokens: await listTokens(db, user),
}));

export const POST = handler({ access: roles, body: createTokenBody }, async ({ db, user, body }) =>
  json(201, await createToken(db, user, body)),
);
