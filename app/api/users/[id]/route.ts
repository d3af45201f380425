import { z } from 'zod';
import { listUsers, updateUser } from '@/lib/auth/accounts';
import { handler } from '@/lib/auth/handler';
import { idSchema, updateUserBody } from '@/lib/review/api-types';

export const PATCH = handler(
  { access: ['admin'], params: z.strictObject({ id: idSchema }), body: updateUserBody },
  async ({ db, user, params, body }) => {
    const { password } = await updateUser(db, user.id, params.id, body);
    return { user: (await listUsers(db)).find((row) => row.id === params.id), password };
  },
);
