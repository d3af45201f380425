import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../lib/db/database';
import { createTestDatabase } from '../lib/db/test/test-database';
import { seedReview } from './review-seed';

const TASKS = 6000;
let db: Database;
let benchmarkId: string;
beforeAll(async () => {
  db = await createTestDatabase();
  ({ benchmarkId } = await seedReview(db.pool, TASKS, 1));
}, 120_000);
afterAll(() => db.close());

/**
 * On one connection that has done the same for one row before, as in life: it keeps the plans made
 * for that.
 */
async function within(seconds: number, statements: readonly string[]): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query(`SET statement_timeout = '${seconds}s'`);
    for (const statement of statements) await client.query(statement);
    await client.query('RESET statement_timeout');
  } finally {
    client.release();
  }
}
async function states(): Promise<Record<string, number>> {
  const { rows } = await db.pool.query<{ state: string; n: number }>(
    'SELECT state, count(*)::int AS n FROM task GROUP BY state',
  );
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
}
const one = (kind: string) => `SELECT id FROM artefact WHERE kind = '${kind}' LIMIT 1`;

test('the states of thousands of tasks follow one statement in seconds', async () => {
  await within(12, [
    `UPDATE task SET closed_at = now() WHERE id = (SELECT id FROM task LIMIT 1)`,
    `UPDATE task SET closed_at = now() WHERE closed_at IS NULL`,
  ]);
  expect(await states()).toEqual({ closed: TASKS });
  await within(12, [`UPDATE task SET closed_at = NULL`]);
  expect(await states()).toEqual({ open: TASKS });
});

test('those of what was made from replaced or retired artefacts, too', async () => {
  await within(12, [
    `UPDATE artefact SET retired_at = now() WHERE id = (${one('gold')})`,
    `UPDATE artefact SET retired_at = now() WHERE kind = 'gold'`,
  ]);
  expect(await states()).toEqual({ open: TASKS / 2, closed: TASKS / 2 });
  await within(12, [
    `UPDATE artefact SET retired_at = NULL WHERE kind = 'gold'`,
    `UPDATE artefact_version SET content_hash = 'other' || id FROM (SELECT current_id FROM artefact WHERE kind = 'gold') gold
     WHERE artefact_version.id = gold.current_id`,
    // Another version of all logical designs: what was made from them waits.
    'CREATE TEMP TABLE newer AS SELECT gen_random_uuid() AS version, id FROM artefact WHERE kind ' +
      `= 'logical_design'`,
    `INSERT INTO artefact_version (id, artefact_id, seq, content_hash, blob_hash, inputs_hash)
     SELECT version, id, 2, 'newer', 'none', 'none' FROM newer`,
    `UPDATE artefact SET current_id = newer.version FROM newer WHERE newer.id = artefact.id`,
  ]);
  expect(await states()).toEqual({ waiting: TASKS });
  const { rows } = await db.pool.query<{ corrected: number }>(
    'SELECT sum(rebuild_task_states(id))::int AS corrected FROM source_database',
  );
  expect(rows[0]?.corrected).toBe(0);
});

test('a decided benchmark of thousands of tasks is deleted in seconds', async () => {
  await db.pool.query(
    `INSERT INTO decision (id, benchmark_id, database_id, task_id, version_id, content_hash, inputs_hash, user_id, verdict,
       settles, awaits, restart_only, idempotency_key)
     SELECT gen_random_uuid(), task.benchmark_id, task.database_id, task.id, artefact.current_id, '', '',
       (SELECT id FROM app_user WHERE role = 'reviewer' LIMIT 1), 'approve', true, false, '{}', gen_random_uuid()
     FROM task JOIN artefact ON artefact.id = task.artefact_id`,
  );
  await db.pool.query(
    `INSERT INTO seen (user_id, artefact_id, version_id)
     SELECT (SELECT id FROM app_user WHERE role = 'reviewer' LIMIT 1), id, current_id FROM artefact`,
  );
  await within(8, [`DELETE FROM benchmark WHERE id = '${benchmarkId}'`]);
  expect(await states()).toEqual({});
}, 60_000);
