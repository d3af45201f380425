import { changePassword } from '@/lib/auth/accounts';
import { handler } from '@/lib/auth/handler';
import { changePasswordBody, roles } from '@/lib/review/api-types';

export const POST = handler({ access: roles, body: changePasswordBody }, ({ db, user, body }) =>
  changePassword(db, user, body.current, body.next),
);
