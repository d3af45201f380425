import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema, pageQuery } from '@/lib/review/api-types';
import { listAudit } from '@/lib/review/exports';

export const GET = handler(
  { access: ['admin', 'lead'], params: z.strictObject({ id: idSchema }), query: pageQuery },
  ({ db, params, query }) => listAudit(db, params.id, query),
);
