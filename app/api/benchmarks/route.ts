import { handler } from '@/lib/auth/handler';
import { roles } from '@/lib/review/api-types';
import { listBenchmarks } from '@/lib/review/overview';

export const GET = handler({ access: roles, scope: 'read' }, async ({ db }) => ({
  benchmarks: await listBenchmarks(db),
}));
