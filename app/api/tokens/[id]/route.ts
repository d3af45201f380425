import { z } from 'zod';
import { revokeToken } from '@/lib/auth/accounts';
import { handler } from '@/lib/auth/handler';
import { idSchema, roles } from '@/lib/review/api-types';

export const DELETE = handler(
  { access: roles, params: z.strictObject({ id: idSchema }) },
  ({ db, user, params }) => revokeToken(db, user, params.id),
);
