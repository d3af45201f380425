import { handler } from '@/lib/auth/handler';
import { runsQuery } from '@/lib/review/api-types';
import { listAgentRuns } from '@/lib/review/runs';

export const GET = handler(
  { access: ['admin', 'lead'], scope: 'read', query: runsQuery },
  ({ db, query }) => listAgentRuns(db, query),
);
