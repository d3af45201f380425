import Database from 'better-sqlite3';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { QueryProcess } from './query-process';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-query-'));
const file = path.join(folder, 'source.sqlite');
const queries = new QueryProcess();

beforeAll(() => {
  const sqlite = new Database(file);
  sqlite.exec('CREATE TABLE t (a INTEGER, b BLOB)');
  sqlite.prepare('INSERT INTO t VALUES (?, ?)').run(9223372036854775807n, Buffer.from([0, 255]));
  sqlite.close();
});
afterAll(() => {
  queries.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

test('integers stay exact and blobs stay bytes', async () => {
  const { columns, rows } = await queries.query(file, 'SELECT a, b FROM t');
  expect(columns).toEqual(['a', 'b']);
  expect(rows[0]![0]).toBe(9223372036854775807n);
  expect([...(rows[0]![1] as Uint8Array)]).toEqual([0, 255]);
});

test.each([
  ['ATTACH', `ATTACH '${folder}/other.sqlite' AS other`],
  ['VACUUM INTO', `VACUUM INTO '${folder}/copy.sqlite'`],
  ['PRAGMA', 'PRAGMA table_info(t)'],
  ['a PRAGMA behind a comment', '/* SELECT */ PRAGMA query_only = OFF'],
  ['INSERT', 'INSERT INTO t VALUES (1, 2)'],
  ['a writing CTE', 'WITH x AS (SELECT 1) DELETE FROM t'],
  ['two statements', 'SELECT 1; DELETE FROM t'],
])('%s is refused', async (_, sql) => {
  await expect(queries.query(file, sql)).rejects.toThrow(/only|more than one|readonly/);
  expect(fs.readdirSync(folder)).toEqual(['source.sqlite']);
});

test.each([
  [
    'a recursive bomb',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r',
  ],
  [
    'a cartesian bomb',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 10000) SELECT count(*) ' +
      'FROM r a, r b, r c',
  ],
])('%s is killed, and the next query runs', async (_, sql) => {
  await expect(queries.query(file, sql, { timeoutMs: 400 })).rejects.toMatchObject({
    kind: 'timeout',
  });
  expect((await queries.query(file, 'SELECT 1')).rows).toEqual([[1n]]);
});

test('a query that takes too much memory ends, and the next query runs', async () => {
  // A sort that keeps whole rows of a cross join in memory.
  const rows = 'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 3000)';
  const sql =
    `${rows} SELECT a.n, hex(zeroblob(400)) || a.n || b.n AS text FROM r a, r b ORDER ` +
    'BY text DESC';
  const started = performance.now();
  await expect(queries.query(file, sql)).rejects.toMatchObject({
    kind: 'memory',
    message: expect.stringContaining('1.5 GiB') as string,
  });
  expect(performance.now() - started).toBeLessThan(25_000);
  expect((await queries.query(file, 'SELECT 1')).rows).toEqual([[1n]]);
});

test('a huge value is refused by size, and rows are cut by number', async () => {
  await expect(
    queries.query(file, 'SELECT zeroblob(1e8)', { maxBytes: 1e6 }),
  ).rejects.toMatchObject({ kind: 'too_large' });
  const cut = await queries.query(
    file,
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 50) SELECT n FROM r',
    { maxRows: 10 },
  );
  expect([cut.rows.length, cut.more]).toEqual([10, true]);
});

test('a query can be cancelled', async () => {
  const controller = new AbortController();
  const running = queries.query(
    file,
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r',
    {},
    controller.signal,
  );
  setTimeout(() => controller.abort(), 100);
  await expect(running).rejects.toMatchObject({ kind: 'cancelled' });
});
