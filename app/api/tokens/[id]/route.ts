import { z } from 'zod';
import { revokeToken } from '@/lib/auth/accounts';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { roles } from '@/lib/auth/account-api';

export const DELETE = handler(
  { access: roles, params: z.strictObject({ id: idSchema }) },
  ({ db, user, params }) => revokeToken(db, user, params.id),
);
