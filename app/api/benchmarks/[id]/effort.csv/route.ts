import { z } from 'zod';
import { handler } from '@/lib/http/handler';
import { idSchema } from '@/lib/api-fields';
import { csvResponse } from '@/lib/http/csv';
import { effortCsv } from '@/lib/benchmarks/exports';

export const GET = handler(
  { access: ['admin', 'lead'], scope: 'read', params: z.strictObject({ id: idSchema }) },
  async ({ db, params }) => csvResponse('effort.csv', await effortCsv(db, params.id)),
);
