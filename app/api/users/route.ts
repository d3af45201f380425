import { createUser, listUsers } from '@/lib/auth/accounts';
import { handler, json } from '@/lib/auth/handler';
import { createUserBody } from '@/lib/review/api-types';

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
