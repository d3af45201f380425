import type { Listener } from '../db/notify';
import type { LiveEvent } from './api-types';

const heartbeatMs = 15_000;
/** Then the browser comes again by itself, and its session is looked at again. */
const longestMs = 10 * 60_000;
const forPages: ReadonlySet<string> = new Set<LiveEvent['type']>(['stage', 'tasks', 'task', 'import', 'bundle', 'benchmark']);

/** Server-sent events of a benchmark, or of all. */
export function eventStream(events: Listener, benchmarkId: string | undefined, signal: AbortSignal): Response {
  const encoder = new TextEncoder();
  let end = () => {};
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string) => controller.enqueue(encoder.encode(text));
      const say = (event: object) => send(`data: ${JSON.stringify(event)}\n\n`);
      const stop = events.subscribe((message) => {
        const event = message as { type?: string; benchmarkId?: string };
        // After a lost connection pages fetch again what they show.
        if (event.type === 'reconnected') say({ type: 'hello' });
        else if (forPages.has(event.type ?? '') && (!benchmarkId || !event.benchmarkId || event.benchmarkId === benchmarkId)) say(event);
      });
      const heartbeat = setInterval(() => send(': still here\n\n'), heartbeatMs);
      let ended = false;
      end = () => {
        if (ended) return;
        ended = true;
        stop();
        clearInterval(heartbeat);
        clearTimeout(last);
      };
      const last = setTimeout(() => {
        end();
        controller.close();
      }, longestMs);
      signal.addEventListener('abort', () => {
        end();
        try {
          controller.close();
        } catch {
          // The browser has closed it already.
        }
      });
      send('retry: 2000\n');
      say({ type: 'hello' });
    },
    cancel: () => end(),
  });
  return new Response(stream, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no', connection: 'keep-alive' },
  });
}
