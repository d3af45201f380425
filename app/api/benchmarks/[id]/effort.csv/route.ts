import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema } from '@/lib/review/api-types';
import { csvResponse, effortCsv } from '@/lib/review/exports';

export const GET = handler(
  { access: ['admin', 'lead'], scope: 'read', params: z.strictObject({ id: idSchema }) },
  async ({ db, params }) => csvResponse('effort.csv', await effortCsv(db, params.id)),
);
