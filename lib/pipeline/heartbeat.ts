import type { Database } from '../db/database';
import { abandoned } from './run-guard';

const NAME = 'worker_seen';
const BEAT_MS = 5_000;
/** Longer than a worker that is merely busy starting something stays silent. */
const SILENT_SECONDS = 30;

/**
 * Tells, from a worker's loop, that there is one; by the clock of Postgres, and no oftener than
 * needed.
 */
export function heartbeat(db: Database): () => Promise<void> {
  let last = -Infinity;
  return async () => {
    if (performance.now() - last < BEAT_MS) return;
    await db.pool.query(
      'INSERT INTO setting (name, value) VALUES ($1, now()::text) ON CONFLICT (name) DO UPDATE ' +
        'SET value = excluded.value',
      [NAME],
    );
    last = performance.now();
  };
}

/**
 * Why nothing happens to what waits, in words: no worker has reported for a while, and none does
 * anything (one that is in the middle of a stage may be too busy to report). Null while there is
 * one.
 */
export async function workerSilence(db: Database): Promise<string | null> {
  const { rows } = await db.pool.query<{ seconds: number }>(
    'SELECT extract(epoch FROM now() - value::timestamptz)::float8 AS seconds FROM setting WHERE ' +
      'name = $1',
    [NAME],
  );
  const seconds = rows[0]?.seconds;
  if (seconds !== undefined && seconds < SILENT_SECONDS) return null;
  const running = await db.prisma.stageRun.findMany({
    where: { state: 'running' },
    select: { id: true },
  });
  if (
    (
      await abandoned(
        db,
        running.map(({ id }) => `stage:${id}`),
      )
    ).length < running.length
  )
    return null;
  return (
    `No worker has reported ${seconds === undefined ? 'so far' : `for ${ago(seconds)}`}: ` +
    'what waits is not begun until one runs again.'
  );
}

function ago(seconds: number): string {
  if (seconds < 100) return `${Math.round(seconds)} seconds`;
  return seconds < 6000
    ? `${Math.round(seconds / 60)} minutes`
    : `${Math.round(seconds / 3600)} hours`;
}

/**
 * The same, for a database with something that waits: in the queue, or asked for and not queued
 * yet.
 */
export async function silenceFor(db: Database, databaseId: string): Promise<string | null> {
  const { rows } = await db.pool.query<{ waits: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM stage_run
      WHERE database_id = $1::uuid AND state IN ('queued', 'running'))
       OR EXISTS (SELECT 1 FROM outbox
       WHERE handled_at IS NULL AND topic = 'request_stage'
         AND position(convert_to($1::text, 'UTF8') in payload) > 0) AS waits`,
    [databaseId],
  );
  return rows[0]?.waits ? workerSilence(db) : null;
}
