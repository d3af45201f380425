import { handler } from '@/lib/auth/handler';
import { eventsQuery, roles } from '@/lib/review/api-types';
import { eventStream } from '@/lib/review/event-stream';

export const GET = handler(
  { access: roles, query: eventsQuery },
  async ({ events, query, request }) => eventStream(events, query.benchmarkId, request.signal),
);
