import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema } from '@/lib/review/api-types';
import { csvResponse, decisionsCsv } from '@/lib/review/exports';

export const GET = handler(
  { access: ['admin', 'lead'], scope: 'read', params: z.strictObject({ id: idSchema }) },
  async ({ db, params }) => csvResponse('decisions.csv', await decisionsCsv(db, params.id)),
);
