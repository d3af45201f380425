import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema } from '@/lib/review/api-types';
import { findImport } from '@/lib/review/imports';

export const GET = handler(
  { access: ['admin', 'lead'], params: z.strictObject({ id: idSchema }) },
  async ({ db, params }) => ({ import: await findImport(db, params.id) }),
);
