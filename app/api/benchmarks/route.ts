import { handler } from '@/lib/http/handler';
import { roles } from '@/lib/auth/account-api';
import { listBenchmarks } from '@/lib/benchmarks/overview';

export const GET = handler({ access: roles, scope: 'read' }, async ({ db }) => ({
  benchmarks: await listBenchmarks(db),
}));
