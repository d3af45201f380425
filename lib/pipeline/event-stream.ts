import type { Listener } from '../db/notify';
import type { LiveEvent } from './live-events';

const heartbeatMs = 15_000;
/** Then the browser comes again by itself, and its session is looked at again. */
const longestMs = 10 * 60_000;
/**
 * What happens within this time is sent at once: a hundred reviewers make hundreds of events a
 * second for each page.
 */
const gatherMs = 1000;
const forPages: ReadonlySet<string> = new Set<LiveEvent['type']>([
  'stage',
  'tasks',
  'task',
  'import',
  'bundle',
  'benchmark',
]);

interface Page {
  readonly benchmarkId: string | undefined;
  send(bytes: Uint8Array): void;
}
interface Broadcast {
  join(page: Page): () => void;
}

interface GatheredEvent {
  readonly type?: string;
  readonly benchmarkId?: string;
  readonly databaseId?: string;
  readonly runId?: string;
  readonly change?: string;
}

/**
 * Events about the same are one, the last: progress of a run, and of the tasks of a database one of
 * each kind of change.
 */
function subjectOf(event: GatheredEvent): string {
  if (event.type === 'stage') return `stage ${event.runId}`;
  if (event.type === 'task') return `task ${event.databaseId} ${event.change}`;
  return JSON.stringify(event);
}

const encoder = new TextEncoder();
const encoded = (events: readonly object[]): Uint8Array =>
  encoder.encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));

const broadcasts = new WeakMap<Listener, Broadcast>();
function broadcastOf(events: Listener): Broadcast {
  const known = broadcasts.get(events);
  if (known) return known;
  const made = broadcast(events);
  broadcasts.set(events, made);
  return made;
}

/**
 * One subscription for all pages of the process; what is sent is written once for each benchmark
 * that pages look at.
 */
function broadcast(events: Listener): Broadcast {
  const pages = new Set<Page>();
  const gathered = new Map<string, GatheredEvent>();
  const deliver = (): void => {
    const waiting = [...gathered.values()];
    gathered.clear();
    const texts = new Map<string | undefined, Uint8Array>();
    for (const page of pages) {
      const { benchmarkId } = page;
      let bytes = texts.get(benchmarkId);
      if (!bytes) {
        bytes = encoded(
          waiting.filter(
            (event) => !benchmarkId || !event.benchmarkId || event.benchmarkId === benchmarkId,
          ),
        );
        texts.set(benchmarkId, bytes);
      }
      if (bytes.length > 0) page.send(bytes);
    }
  };
  events.subscribe((message) => {
    const event = message as GatheredEvent;
    // After a lost connection pages fetch again what they show.
    if (event.type === 'reconnected')
      for (const page of pages) page.send(encoded([{ type: 'hello' }]));
    if (!forPages.has(event.type ?? '')) return;
    if (gathered.size === 0) setTimeout(deliver, gatherMs);
    gathered.set(subjectOf(event), event);
  });
  return {
    join: (page) => {
      pages.add(page);
      return () => pages.delete(page);
    },
  };
}

/** Server-sent events of a benchmark, or of all. */
export function eventStream(
  events: Listener,
  benchmarkId: string | undefined,
  signal: AbortSignal,
): Response {
  let end = () => {};
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (bytes: Uint8Array) => controller.enqueue(bytes);
      const leave = broadcastOf(events).join({ benchmarkId, send });
      const heartbeat = setInterval(() => send(encoder.encode(': still here\n\n')), heartbeatMs);
      let ended = false;
      end = () => {
        if (ended) return;
        ended = true;
        leave();
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
      send(encoder.encode('retry: 2000\n'));
      send(encoded([{ type: 'hello' }]));
    },
    cancel: () => end(),
  });
  return new Response(stream, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      connection: 'keep-alive',
    },
  });
}
