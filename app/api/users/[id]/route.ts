import { z } from 'zod';
import { listUsers, updateUser } from '@/lib/auth/accounts';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { updateUserBody } from '@/lib/auth/account-api';

export const PATCH = handler(
  { access: ['admin'], params: z.strictObject({ id: idSchema }), body: updateUserBody },
  async ({ db, user, params, body }) => {
    const { password } = await updateUser(db, user.id, params.id, body);
    return { user: (await listUsers(db)).find((row) => row.id === params.id), password };
  },
);
