import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { MongoClient, type Db, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { start as startMongoServer, type EmbeddedServer } from 'mongo-embedded';
import type { Catalog } from '../../sqlite/catalog';
import { catalogOf } from '../../sqlite/schema/introspect';
import { openSource } from '../../sqlite/open';
import { QueryProcess } from '../../sqlite/query/query-process';
import { checkQuery, expectedRows } from './check-query';
import type { EquivalenceInput } from './pipeline-rows';
import { KnownResults } from './known-results';
import { sourceCaveats } from './equivalence';
import { isWeaklyTested } from './weakly-tested';

const ROWS = 5000;
const folder = mkdtempSync(path.join(tmpdir(), 'check-query-'));
const file = path.join(folder, 'source.sqlite');
const queries = new QueryProcess();
let server: EmbeddedServer;
let client: MongoClient;
let db: Db;
let catalog: Catalog;

beforeAll(async () => {
  const sqlite = new Database(file);
  sqlite.exec(`CREATE TABLE reading (id INTEGER PRIMARY KEY, level INTEGER, note TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    INSERT INTO reading SELECT i, i / 10, 'a note of some length ' || i FROM n`);
  sqlite.close();
  const source = openSource(file);
  catalog = catalogOf(source, { name: 'source', sha256: '', descriptions: {} });
  source.close();
  server = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
  client = await new MongoClient(server.uri).connect();
  db = client.db('source');
  await db.collection('reading').insertMany(
    Array.from(
      { length: ROWS },
      (_, at) =>
        ({
          _id: at + 1,
          level: Math.floor((at + 1) / 10),
          note: `a note of some length ${at + 1}`,
        }) as unknown as Document,
    ),
  );
});
afterAll(async () => {
  queries.close();
  await client.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ids = (sql: string, ...pipeline: Document[]): EquivalenceInput => ({
  sql,
  sourcePath: file,
  catalog,
  queries,
  db,
  collection: 'reading',
  pipeline: [...pipeline, { $project: { _id: 0, id: '$_id' } }],
  columns: [{ name: 'id', path: 'id', transform: { kind: 'identity' } }],
  clock: '2026-01-01T00:00:00Z',
  signal: new AbortController().signal,
});

/** What a piece of work asks of SQLite (rows asked for) and of MongoDB (pipelines). */
async function asked(
  work: () => Promise<unknown>,
): Promise<{ sql: (number | undefined)[]; pipelines: number }> {
  const sql = vi.spyOn(queries, 'query');
  const collection = vi.spyOn(db, 'collection');
  try {
    await work();
    return {
      sql: sql.mock.calls.map(([, , limits]) => limits?.maxRows),
      pipelines: collection.mock.calls.length,
    };
  } finally {
    sql.mockRestore();
    collection.mockRestore();
  }
}

test('on the same data a query runs once; another pipeline asks for no source rows', async () => {
  const known = new KnownResults();
  const query = ids('SELECT id FROM reading WHERE level = 7', { $match: { level: 7 } });
  const first = await checkQuery(query, known);
  expect(first).toMatchObject({ verdict: { kind: 'equal' }, expected: { rowCount: 10 } });
  expect(await asked(async () => expect(await checkQuery(query, known)).toEqual(first))).toEqual({
    sql: [],
    pipelines: 0,
  });
  expect(
    await asked(() =>
      checkQuery(
        { ...query, pipeline: [{ $match: { level: { $eq: 7 } } }, ...query.pipeline.slice(1)] },
        known,
      ),
    ),
  ).toEqual({ sql: [], pipelines: 1 });
  expect(await asked(() => checkQuery({ ...query, db: client.db('other') }, known))).toMatchObject({
    sql: [],
  });
  expect(await asked(() => checkQuery(query, undefined))).toEqual({ sql: [200_000], pipelines: 1 });
});

test('what failed, or stopped early, is not remembered', async () => {
  const known = new KnownResults();
  const wrong = {
    ...ids('SELECT id FROM reading WHERE level = 7'),
    candidate: { maxTimeMS: 5000 },
  };
  expect((await checkQuery(wrong, known)).verdict).toMatchObject({
    kind: 'row_count',
    detail: '10 rows expected, more found',
  });
  expect(
    (await checkQuery({ ...ids('SELECT id FROM reading WHERE level = 7') }, known)).verdict.detail,
  ).toBe(`10 rows expected, ${ROWS} found`);
  const failing = ids('SELECT id FROM reading WHERE level = 7', {
    $set: { x: { $divide: [1, 0] } },
  });
  expect((await checkQuery(failing, known)).verdict.kind).toBe('error');
  expect((await asked(() => checkQuery(failing, known))).pipelines).toBe(1);
});

test('of many expected rows number and digest are kept; the rows are asked for again', async () => {
  const known = new KnownResults();
  const query = {
    ...ids('SELECT note || note || note || note AS id FROM reading'),
    pipeline: [{ $project: { _id: 0, id: { $concat: ['$note', '$note', '$note', '$note'] } } }],
  };
  const first = await checkQuery(query, known);
  const again = await checkQuery(query, known);
  expect(again.expected).toEqual({ ...first.expected, rows: undefined });
  expect(again.expected).toMatchObject({ rowCount: ROWS });
  expect(await expectedRows(again, query)).toEqual(first.expected!.rows);
});

test.each<[string, string, Document[], string[], number[]]>([
  [
    'a cut through a tie',
    'SELECT id FROM reading ORDER BY level LIMIT 12',
    [{ $sort: { level: 1, _id: 1 } }, { $limit: 12 }],
    ['tie'],
    [200_000, 1012],
  ],
  [
    'no tie',
    'SELECT id FROM reading ORDER BY id DESC LIMIT 3',
    [{ $sort: { _id: -1 } }, { $limit: 3 }],
    [],
    [200_000, 1003],
  ],
  [
    'no order',
    'SELECT id FROM reading LIMIT 2',
    [{ $limit: 2 }],
    ['unordered_limit'],
    [200_000, 1002],
  ],
  [
    'another choice in a tie longer than what is asked for first',
    'SELECT id FROM reading ORDER BY level > 0 DESC LIMIT 2',
    [{ $sort: { _id: -1 } }, { $limit: 2 }],
    ['tie'],
    [200_000, 1002, 200_000],
  ],
])('%s is found in the rows behind the limit', async (_, sql, pipeline, caveats, rows) => {
  let found;
  expect(
    await asked(async () => (found = await checkQuery(ids(sql, ...pipeline), undefined))),
  ).toEqual({ sql: rows, pipelines: 1 });
  expect(found).toMatchObject({
    caveats,
    verdict: { kind: sql.includes('> 0') ? 'tie' : 'equal' },
  });
});

test.each<[string, string, unknown]>([
  [
    'a cut through a tie',
    'SELECT id FROM reading ORDER BY level LIMIT 12',
    [{ rows: [9, 11], among: Array.from({ length: 10 }, (_, at) => [BigInt(at + 10)]) }],
  ],
  [
    'no order',
    'SELECT id FROM reading WHERE id < 4 LIMIT 2',
    [{ rows: [0, 1], among: [[1n], [2n], [3n]] }],
  ],
  [
    'a cut between an offset and a limit',
    'SELECT id FROM reading WHERE id < 4 ORDER BY level LIMIT 1 OFFSET 1',
    [{ rows: [0, 0], among: [[1n], [2n], [3n]] }],
  ],
  ['a tie of more rows than ship', 'SELECT id FROM reading ORDER BY level < 0 LIMIT 2', undefined],
  ['no tie', 'SELECT id FROM reading ORDER BY id LIMIT 2', undefined],
  [
    'a tie below the top level as well',
    'SELECT id FROM reading WHERE id > (SELECT id FROM reading ORDER BY level LIMIT 1) ' +
      'ORDER BY level LIMIT 2',
    undefined,
  ],
])('%s: what may be chosen is known where that is all that is open', async (_, sql, choices) => {
  const { expected } = await checkQuery(ids(sql), undefined);
  expect(expected?.choices).toEqual(choices);
});

const pick = (id: number): Document => ({ $match: { _id: id } });

test.each<[string, string, Document[], string, string[]]>([
  [
    "SQLite's own answer",
    'SELECT id FROM reading WHERE id = (SELECT id FROM reading WHERE id < 10 ORDER BY level ' +
      'LIMIT 1)',
    [pick(1)],
    'equal',
    ['tie'],
  ],
  [
    'the other end of a tie',
    'SELECT id FROM reading WHERE id = (SELECT id FROM reading WHERE id < 10 ORDER BY level ' +
      'LIMIT 1)',
    [pick(9)],
    'tie',
    ['tie'],
  ],
  [
    'a row outside of the tie',
    'SELECT id FROM reading WHERE id = (SELECT id FROM reading WHERE id < 20 ORDER BY level ' +
      'LIMIT 1)',
    [pick(15)],
    'value',
    ['tie'],
  ],
  [
    'the last of several rows',
    'SELECT (SELECT r.id FROM reading r WHERE r.level = 7) AS id FROM reading WHERE id = 1',
    [pick(79)],
    'tie',
    ['arbitrary_row'],
  ],
  [
    'no row of the group',
    'SELECT id FROM reading WHERE level = 7 GROUP BY level',
    [pick(80)],
    'value',
    ['arbitrary_row'],
  ],
  [
    'another row of the group',
    'SELECT id FROM reading WHERE level = 7 GROUP BY level',
    [pick(79)],
    'tie',
    ['arbitrary_row'],
  ],
  [
    'fewer rows',
    'SELECT id FROM reading WHERE id IN (SELECT id FROM reading ORDER BY level LIMIT 2)',
    [pick(1)],
    'row_count',
    ['tie'],
  ],
  [
    'a wrong row of a query that leaves nothing open',
    'SELECT id FROM reading WHERE id = (SELECT MAX(id) FROM reading)',
    [pick(1)],
    'value',
    [],
  ],
])(
  '%s: judged by what the SQL leaves open below the top level',
  async (_, sql, pipeline, kind, caveats) => {
    const found = await checkQuery(ids(sql, ...pipeline), undefined);
    expect(found).toMatchObject({ verdict: { kind }, caveats });
    // A refusal names what is open.
    const isNamed = found.verdict.detail.includes(caveats[0] ?? 'leaves');
    expect(isNamed).toBe(kind !== 'equal' && caveats.length > 0);
  },
);

test.each([
  'SELECT id FROM reading ORDER BY level LIMIT 12',
  'SELECT id FROM reading LIMIT 2',
  'SELECT id FROM reading ORDER BY id DESC LIMIT 3',
  'SELECT count(*) FROM reading WHERE id = (SELECT id FROM reading ORDER BY level LIMIT 1)',
  "SELECT id FROM reading WHERE note < date('now')",
])(
  'what the source leaves open is the same without a pipeline, and with one that fails: %s',
  async (sql) => {
    const right = ids(sql, { $match: { _id: { $gte: 0 } } });
    const failing = ids(sql, { $set: { x: { $divide: [1, 0] } } });
    const caveats = await sourceCaveats(right);
    expect((await checkQuery(right, undefined)).caveats).toEqual(caveats);
    expect((await checkQuery(failing, undefined)).caveats).toEqual(caveats);
  },
);

test('mutations are compared with the run there was', async () => {
  const query = ids('SELECT id FROM reading WHERE level = 7', { $match: { level: 7 } });
  const { run } = await checkQuery(query, undefined);
  const weak = {
    db,
    collection: 'reading',
    pipeline: query.pipeline,
    design: { logical: [] },
    ordered: false,
    clock: query.clock,
    signal: query.signal,
  };
  const counted = async (known: typeof run): Promise<number> =>
    (
      await asked(async () =>
        expect(await isWeaklyTested({ ...weak, ...(known && { known }) })).toBe(false),
      )
    ).pipelines;
  expect(await counted(undefined)).toBe(2);
  expect(await counted(run)).toBe(1);
  // How long it took decides nothing.
  expect(await counted({ ...run!, milliseconds: 6000 })).toBe(1);
});
