import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Database, Tx } from './database';
import { Prisma } from './generated/client';

const channel = 'aptmql';

/**
 * Tells every process; inside a transaction it leaves with the commit. The payload must stay below
 * 8,000 bytes.
 */
export async function notify(on: Database | Tx, message: object): Promise<void> {
  const client = 'prisma' in on ? on.prisma : on;
  await client.$executeRaw`SELECT pg_notify(${channel}, ${JSON.stringify(message)})`;
}

/**
 * The same as a column of a statement that changes what the message is about, where a condition
 * holds for its row.
 */
export const notification = (message: Prisma.Sql, condition: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`CASE WHEN ${condition} THEN pg_notify(${channel}, ${message}::text)::text END AS notified`;

export interface Listener {
  subscribe(receive: (message: unknown) => void): () => void;
  close(): Promise<void>;
}

/**
 * One LISTEN connection for the process, fanned out to subscribers. After a lost connection it
 * reconnects by itself and tells subscribers `{ type: 'reconnected' }`, because what was sent
 * meanwhile is lost.
 */
export function listen(url: string): Listener {
  const subscribers = new Set<(message: unknown) => void>();
  const closing = new AbortController();

  const publish = (message: unknown) => {
    for (const receive of subscribers) receive(message);
  };
  const session = async (): Promise<void> => {
    const own = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
    });
    const stop = () => void own.end().catch(() => {}); // it is broken already
    const ended = new Promise<void>((resolve) => {
      own.once('end', resolve);
      own.on('error', () => resolve());
    });
    own.on('notification', (notification) => publish(JSON.parse(notification.payload ?? 'null')));
    try {
      await own.connect();
      if (closing.signal.aborted) return; // `end` while it connects would never be answered
      closing.signal.addEventListener('abort', stop);
      await own.query(`LISTEN ${channel}`);
      publish({ type: 'reconnected' });
      await ended;
    } finally {
      closing.signal.removeEventListener('abort', stop);
      await own.end().catch(() => {}); // it is broken already
    }
  };
  const running = (async () => {
    while (!closing.signal.aborted) {
      await session().catch(() => {}); // Postgres is away: tried again below
      await sleep(500, undefined, { signal: closing.signal, ref: false }).catch(() => {}); // woken by `close`
    }
  })();

  return {
    subscribe: (receive) => {
      subscribers.add(receive);
      return () => subscribers.delete(receive);
    },
    close: async () => {
      closing.abort();
      await running;
    },
  };
}
