import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { findImport } from '@/lib/benchmarks/imports';

export const GET = handler(
  { access: ['admin', 'lead'], params: z.strictObject({ id: idSchema }) },
  async ({ db, params }) => ({ import: await findImport(db, params.id) }),
);
