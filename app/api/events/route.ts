import { handler } from '@/lib/http/handler';
import { roles } from '@/lib/auth/account-api';
import { eventsQuery } from '@/lib/pipeline/live-events';
import { eventStream } from '@/lib/pipeline/event-stream';

export const GET = handler(
  { access: roles, query: eventsQuery },
  async ({ events, query, request }) => eventStream(events, query.benchmarkId, request.signal),
);
