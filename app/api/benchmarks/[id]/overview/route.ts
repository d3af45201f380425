import { z } from 'zod';
import { handler } from '@/lib/auth/handler';
import { idSchema } from '@/lib/review/api-types';
import { overview } from '@/lib/review/overview';

export const GET = handler(
  { access: ['admin', 'lead'], scope: 'read', params: z.strictObject({ id: idSchema }) },
  ({ db, params }) => overview(db, params.id),
);
