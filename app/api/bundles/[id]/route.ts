import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema, roles } from '@/lib/review/api-types';
import { findBundle } from '@/lib/review/bundles';

export const GET = handler(
  { access: roles, scope: 'bundles', params: z.strictObject({ id: idSchema }) },
  async ({ db, user, params }) => ({ bundle: await findBundle(db, user, params.id) }),
);
