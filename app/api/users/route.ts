import { createUser, listUsers } from '@/lib/auth/accounts';
import { handler } from '@/lib/http/handler';
import { json } from '@/lib/http/json';
import { createUserBody } from '@/lib/auth/account-api';

export const GET = handler({ access: ['admin', 'lead'] }, async ({ db }) => ({
  users: await listUsers(db),
}));

export const POST = handler(
  { access: ['admin'], body: createUserBody },
  async ({ db, user, body }) => {
    const { id, password } = await createUser(db, user.id, body);
    const created = (await listUsers(db)).find((row) => row.id === id);
    return json(201, { user: created, password });
  },
);
