import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { csvResponse } from '@/lib/http/csv';
import { decisionsCsv } from '@/lib/benchmarks/exports';

export const GET = handler(
  { access: ['admin', 'lead'], scope: 'read', params: z.strictObject({ id: idSchema }) },
  async ({ db, params }) => csvResponse('decisions.csv', await decisionsCsv(db, params.id)),
);
