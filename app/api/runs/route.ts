import { handler } from '@/lib/http/handler';
import { runsQuery } from '@/lib/benchmarks/overview-api';
import { listAgentRuns } from '@/lib/benchmarks/runs';

export const GET = handler(
  { access: ['admin', 'lead'], scope: 'read', query: runsQuery },
  ({ db, query }) => listAgentRuns(db, query),
);
