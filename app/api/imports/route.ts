import { handler } from '@/lib/http/handler';
import { listImports } from '@/lib/benchmarks/imports';

export const GET = handler({ access: ['admin', 'lead'] }, async ({ db }) => ({
  imports: await listImports(db),
}));
