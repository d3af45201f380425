import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { roles } from '@/lib/auth/account-api';
import { findBundle } from '@/lib/releases/bundles';

export const GET = handler(
  { access: roles, scope: 'bundles', params: z.strictObject({ id: idSchema }) },
  async ({ db, user, params }) => ({ bundle: await findBundle(db, user, params.id) }),
);
