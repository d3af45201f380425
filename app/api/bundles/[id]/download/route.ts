import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema, roles } from '@/lib/review/api-types';
import { downloadBundle } from '@/lib/review/bundles';

export const GET = handler(
  { access: roles, scope: 'bundles', params: z.strictObject({ id: idSchema }) },
  ({ db, blobs, user, params }) => downloadBundle(db, blobs, user, params.id),
);
