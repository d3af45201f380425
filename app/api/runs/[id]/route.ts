import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema } from '@/lib/review/api-types';
import { agentRun } from '@/lib/review/runs';

export const GET = handler(
  { access: ['admin', 'lead'], scope: 'read', params: z.strictObject({ id: idSchema }) },
  ({ db, params }) => agentRun(db, params.id),
);
