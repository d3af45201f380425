import pg from 'pg';
import type { Database } from '../db/database';

/**
 * Says which work is being done by a living process: each piece is an advisory lock on one
 * connection of the worker, which Postgres frees when the worker dies, however it dies. No clock is
 * involved, so a stage may block for minutes.
 */
export interface RunGuard {
  /** False while another process does this work. */
  hold(key: string): Promise<boolean>;
  release(key: string): Promise<void>;
  close(): Promise<void>;
}

/** @param lost is called when the connection breaks: others may take over whatever was held. */
export function openRunGuard(url: string, lost: () => void): RunGuard {
  let client: Promise<pg.Client> | undefined;
  const held = new Set<string>();

  const connect = async (): Promise<pg.Client> => {
    const own = new pg.Client({
      connectionString: url,
      keepAlive: true,
      application_name: 'aptmql-worker',
    });
    const gone = () => {
      if (client === undefined) return;
      client = undefined;
      held.clear();
      lost();
    };
    own.on('error', gone);
    own.on('end', gone);
    await own.connect();
    return own;
  };
  const connected = (): Promise<pg.Client> => {
    client ??= connect().catch((error: unknown) => {
      client = undefined;
      throw error;
    });
    return client;
  };

  return {
    hold: async (key) => {
      if (held.has(key)) return false; // the lock is the connection's: it would be given twice
      held.add(key);
      try {
        const { rows } = await (
          await connected()
        ).query<{ held: boolean }>('SELECT pg_try_advisory_lock(hashtextextended($1, 7)) AS held', [
          key,
        ]);
        if (!rows[0]?.held) held.delete(key);
        return rows[0]?.held === true;
      } catch (error) {
        held.delete(key);
        throw error;
      }
    },
    release: async (key) => {
      if (!held.delete(key) || !client) return;
      await (await client).query('SELECT pg_advisory_unlock(hashtextextended($1, 7))', [key]);
    },
    close: async () => {
      const closing = client;
      client = undefined;
      held.clear();
      await (await closing)?.end();
    },
  };
}

/** Which of these pieces of work nobody does. */
export async function abandoned(db: Database, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const client = await db.pool.connect();
  try {
    const free: string[] = [];
    for (const key of keys) {
      const { rows } = await client.query<{ free: boolean }>(
        'SELECT pg_try_advisory_lock(hashtextextended($1, 7)) AS free',
        [key],
      );
      if (!rows[0]?.free) continue;
      await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 7))', [key]);
      free.push(key);
    }
    return free;
  } finally {
    client.release();
  }
}
