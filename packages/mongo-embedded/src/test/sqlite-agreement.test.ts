import Database from 'better-sqlite3';
import fc from 'fast-check';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestEngine } from './test-engine';

/** Where SQLite and MongoDB mean the same, their answers must be the same. */

type Row = { id: number; i: number | null; t: string | null; r: number | null };

let sqlite: Database.Database;
let engine: TestEngine;
beforeAll(() => {
  sqlite = new Database(':memory:');
  sqlite.exec(
    'CREATE TABLE a(id INTEGER PRIMARY KEY, i INTEGER, t TEXT, r REAL); CREATE TABLE b(id ' +
      'INTEGER PRIMARY KEY, i INTEGER, t TEXT, r REAL)',
  );
  engine = new TestEngine();
});
afterAll(() => {
  sqlite.close();
  engine.close();
});

const row = fc.record({
  i: fc.option(fc.integer({ min: -3, max: 3 }), { freq: 4 }),
  t: fc.option(fc.constantFrom('', 'a', 'b', 'B', 'ä', 'zz', '😀'), { freq: 4 }),
  r: fc.option(
    fc.integer({ min: -20, max: 20 }).map((n) => n / 4 + 0.125),
    { freq: 4 },
  ),
});
const table = fc
  .array(row, { maxLength: 14 })
  .map((rows): Row[] => rows.map((r, id) => ({ id, ...r })));

function load(name: 'a' | 'b', rows: readonly Row[]): void {
  sqlite.exec(`DELETE FROM ${name}`);
  const insert = sqlite.prepare(`INSERT INTO ${name} VALUES(?, ?, ?, ?)`);
  for (const r of rows) insert.run(r.id, r.i, r.t, r.r);
  engine.fill(
    name,
    rows.map(({ id, ...rest }) => ({ _id: id, ...rest })),
  );
}
/** Runs both, and compares row by row. */
function agree(sql: string, pipeline: Document[]): void {
  const expected = sqlite.prepare(sql).raw().all();
  const got = engine
    .aggregate('a', pipeline)
    .map((d) =>
      Object.values(d).map((v) =>
        typeof v === 'object' && v !== null && 'toNumber' in v
          ? (v as { toNumber(): number }).toNumber()
          : v,
      ),
    );
  expect(got.length).toBe(expected.length);
  got.forEach((g, n) => {
    (expected[n] as unknown[]).forEach((e, k) => {
      if (typeof e === 'number' && !Number.isInteger(e)) expect(g[k]).toBeCloseTo(e, 9);
      else expect(g[k]).toEqual(e);
    });
  });
}
const check = (property: (rows: Row[], other: Row[]) => void): void =>
  fc.assert(
    fc.property(table, table, (rows, other) => {
      load('a', rows);
      load('b', other);
      property(rows, other);
    }),
    { numRuns: 60 },
  );

describe('agreement with SQLite', () => {
  it('filters', () => {
    check(() => {
      for (const [where, filter] of [
        ['i > 0', { i: { $gt: 0 } }],
        ['i <= 1 AND r < 2', { i: { $lte: 1 }, r: { $lt: 2 } }],
        ["i IS NULL OR t = 'a'", { $or: [{ i: null }, { t: 'a' }] }],
        ['i IN (1, 2, -1)', { i: { $in: [1, 2, -1] } }],
        ['NOT (i = 1) OR i IS NULL', { i: { $ne: 1 } }],
        ["t >= 'a' AND t < 'z'", { t: { $gte: 'a', $lt: 'z' } }],
        [
          'i IS NOT NULL AND r IS NOT NULL AND i < r',
          {
            $expr: { $and: [{ $ne: ['$i', null] }, { $ne: ['$r', null] }, { $lt: ['$i', '$r'] }] },
          },
        ],
      ] as [string, Document][]) {
        agree(`SELECT id FROM a WHERE ${where} ORDER BY id`, [
          { $match: filter },
          { $sort: { _id: 1 } },
          { $project: { _id: 1 } },
        ]);
      }
    });
  });

  it('sorts', () => {
    check(() => {
      agree('SELECT id FROM a ORDER BY i, t DESC, id', [
        { $sort: { i: 1, t: -1, _id: 1 } },
        { $project: { _id: 1 } },
      ]);
      agree('SELECT id FROM a ORDER BY r DESC, id LIMIT 3 OFFSET 1', [
        { $sort: { r: -1, _id: 1 } },
        { $skip: 1 },
        { $limit: 3 },
        { $project: { _id: 1 } },
      ]);
      agree('SELECT id FROM a ORDER BY t COLLATE BINARY, i DESC, id', [
        { $sort: { t: 1, i: -1, _id: 1 } },
        { $project: { _id: 1 } },
      ]);
    });
  });

  it('groups', () => {
    check(() => {
      agree(
        'SELECT t, count(*), total(i), min(i), max(r), avg(r), count(r) FROM a GROUP BY t ' +
          'ORDER BY t',
        [
          {
            $group: {
              _id: '$t',
              n: { $sum: 1 },
              s: { $sum: '$i' },
              lo: { $min: '$i' },
              hi: { $max: '$r' },
              mean: { $avg: '$r' },
              c: { $sum: { $cond: [{ $ne: ['$r', null] }, 1, 0] } },
            },
          },
          { $sort: { _id: 1 } },
        ],
      );
      agree('SELECT i, t, count(DISTINCT r) FROM a GROUP BY i, t ORDER BY i, t', [
        { $group: { _id: { i: '$i', t: '$t' }, all: { $addToSet: '$r' } } },
        {
          $project: {
            _id: 0,
            i: '$_id.i',
            t: '$_id.t',
            n: { $size: { $setDifference: ['$all', [null]] } },
          },
        },
        { $sort: { i: 1, t: 1 } },
      ]);
    });
  });

  it('finds distinct values', () => {
    check(() => {
      agree('SELECT DISTINCT i FROM a ORDER BY i', [
        { $group: { _id: '$i' } },
        { $sort: { _id: 1 } },
      ]);
      const { values } = engine.run({ distinct: 'a', key: 't' }) as { values: unknown[] };
      expect(new Set(values)).toEqual(
        new Set(sqlite.prepare('SELECT DISTINCT t FROM a').pluck().all()),
      );
    });
  });

  it('joins', () => {
    check(() => {
      const inner = 'SELECT a.id, b.id FROM a JOIN b ON a.i = b.i ORDER BY a.id, b.id';
      const end = [
        { $unwind: '$o' },
        { $project: { _id: 1, o: '$o._id' } },
        { $sort: { _id: 1, o: 1 } },
      ];
      agree(inner, [
        { $match: { i: { $ne: null } } },
        { $lookup: { from: 'b', localField: 'i', foreignField: 'i', as: 'o' } },
        ...end,
      ]);
      agree(inner, [
        { $match: { i: { $ne: null } } },
        {
          $lookup: {
            from: 'b',
            let: { i: '$i' },
            pipeline: [{ $match: { $expr: { $eq: ['$i', '$$i'] } } }],
            as: 'o',
          },
        },
        ...end,
      ]);
      agree('SELECT a.id, b.id FROM a LEFT JOIN b ON a.i = b.i AND b.r > 0 ORDER BY a.id, b.id', [
        {
          $lookup: {
            from: 'b',
            let: { i: '$i' },
            pipeline: [
              {
                $match: {
                  r: { $gt: 0 },
                  $expr: { $and: [{ $ne: ['$$i', null] }, { $eq: ['$i', '$$i'] }] },
                },
              },
            ],
            as: 'o',
          },
        },
        { $unwind: { path: '$o', preserveNullAndEmptyArrays: true } },
        { $project: { _id: 1, o: { $ifNull: ['$o._id', null] } } },
        { $sort: { _id: 1, o: 1 } },
      ]);
      agree(
        'SELECT a.id, (SELECT count(*) FROM b WHERE b.i < a.i) FROM a WHERE a.i IS NOT NULL ' +
          'ORDER BY a.id',
        [
          { $match: { i: { $ne: null } } },
          {
            $lookup: {
              from: 'b',
              let: { i: '$i' },
              pipeline: [
                { $match: { i: { $ne: null }, $expr: { $lt: ['$i', '$$i'] } } },
                { $count: 'n' },
              ],
              as: 'o',
            },
          },
          { $project: { _id: 1, n: { $ifNull: [{ $first: '$o.n' }, 0] } } },
          { $sort: { _id: 1 } },
        ],
      );
    });
  });

  it('computes windows', () => {
    check(() => {
      agree(
        `SELECT id, row_number() OVER w, rank() OVER v, dense_rank() OVER v,
                total(i) OVER (w ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING),
                count(*) OVER (PARTITION BY t), lag(r, 1, -1) OVER w
         FROM a
         WINDOW w AS (PARTITION BY t ORDER BY i, id), v AS (PARTITION BY t ORDER BY i)
         ORDER BY id`,
        [
          {
            $setWindowFields: {
              partitionBy: '$t',
              sortBy: { i: 1, _id: 1 },
              output: { n: { $sum: 1, window: { documents: ['unbounded', 'current'] } } },
            },
          },
          {
            $setWindowFields: {
              partitionBy: '$t',
              sortBy: { i: 1 },
              output: { rank: { $rank: {} }, dense: { $denseRank: {} } },
            },
          },
          {
            $setWindowFields: {
              partitionBy: '$t',
              sortBy: { i: 1, _id: 1 },
              output: {
                s: { $sum: '$i', window: { documents: [-1, 1] } },
                all: { $sum: 1 },
                lag: { $shift: { output: '$r', by: -1, default: -1 } },
              },
            },
          },
          { $project: { n: 1, rank: 1, dense: 1, s: 1, all: 1, lag: 1 } },
          { $sort: { _id: 1 } },
        ],
      );
    });
  });
});
