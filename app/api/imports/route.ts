import { handler } from '@/lib/auth/handler';
import { listImports } from '@/lib/review/imports';

export const GET = handler({ access: ['admin', 'lead'] }, async ({ db }) => ({
  imports: await listImports(db),
}));
