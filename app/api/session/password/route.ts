import { changePassword } from '@/lib/auth/accounts';
import { handler } from '@/lib/http/handler';
import { changePasswordBody, roles } from '@/lib/auth/account-api';

export const POST = handler({ access: roles, body: changePasswordBody }, ({ db, user, body }) =>
  changePassword(db, user, body.current, body.next),
);
