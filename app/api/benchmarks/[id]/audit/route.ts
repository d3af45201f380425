import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema, pageQuery } from '@/lib/api-fields';
import { listAudit } from '@/lib/benchmarks/exports';

export const GET = handler(
  { access: ['admin', 'lead'], params: z.strictObject({ id: idSchema }), query: pageQuery },
  ({ db, params, query }) => listAudit(db, params.id, query),
);
