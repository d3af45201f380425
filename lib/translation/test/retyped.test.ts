import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from './translation-fixture';

const DDL = `
CREATE TABLE ride (id INTEGER PRIMARY KEY, day TEXT, at TEXT NOT NULL, born TEXT NOT NULL, us TEXT, paid TEXT, flag TEXT NOT NULL, kind TEXT);
INSERT INTO ride VALUES
 (1, '2008-08-01', '2008-08-01 00:00:00', '1990-02-28', '8/1/2008', 'TRUE', 'n', 'a'),
 (2, '2008-08-31', '2008-08-31 23:59:59', '1989-12-31', '12/31/1999', 'FALSE', 'y', 'a'),
 (3, '2008-09-01', '2008-09-01 00:00:01', '1991-01-01', '1/1/2000', NULL, 'y', 'b'),
 (4, '2009-01-01', '2009-01-01 12:30:00', '2000-02-29', NULL, 'TRUE', 'n', NULL),
 (5, NULL, '2007-12-31 06:00:00', '1990-08-15', '2/29/2000', 'FALSE', 'n', 'b'),
 (6, '2012-02-29', '2012-02-29 18:45:10', '1985-06-01', '2/29/2000', 'TRUE', 'y', 'c');
CREATE TABLE stop (ride_id INTEGER NOT NULL REFERENCES ride(id), reached TEXT, late TEXT NOT NULL);
INSERT INTO stop VALUES (1, '2008-08-01', 'no'), (1, '2008-08-02', 'yes'), (2, NULL, 'no'), (4, '2009-02-01', 'yes'), (6, '2012-03-01', 'no');`;
const RETYPED = {
  'ride.day': { kind: 'date', format: 'YYYY-MM-DD' },
  'ride.at': { kind: 'date', format: 'YYYY-MM-DD HH:MM:SS' },
  'ride.us': { kind: 'date', format: 'M/D/YYYY' },
  'ride.paid': { kind: 'bool', true: 'TRUE', false: 'FALSE' },
  // The order of the flags is not that of their texts.
  'ride.flag': { kind: 'bool', true: 'n', false: 'y' },
  'stop.reached': { kind: 'date', format: 'YYYY-MM-DD' },
  'stop.late': { kind: 'bool', true: 'yes', false: 'no' },
} as const;

let world: World;
let plain: World;
beforeAll(async () => {
  world = await World.create(DDL, { strategy: 'access-pattern', retyped: RETYPED });
  plain = await World.create(DDL, { strategy: 'access-pattern' });
});
afterAll(async () => {
  await world.close();
  await plain.close();
});

const day = (text: string): Date => new Date(`${text}Z`);
const PREDICATES: readonly (readonly [string, object])[] = [
  ["paid = 'TRUE'", { paid: true }],
  ["paid <> 'TRUE'", { paid: false }],
  ["NOT paid = 'FALSE'", { paid: true }],
  ["paid = 'true'", { paid: { $in: [] } }],
  ["paid LIKE 'true'", { paid: true }],
  ["paid NOT LIKE 'T%'", { paid: false }],
  ["paid IN ('TRUE', 'FALSE')", { paid: { $in: [true, false] } }],
  ["flag = 'y'", { flag: false }],
  ["day = '2008-08-01'", { day: day('2008-08-01T00:00') }],
  ["day <> '2008-08-01'", { day: { $nin: [day('2008-08-01T00:00'), null] } }],
  ["day LIKE '2008-08%'", { day: { $gte: day('2008-08-01T00:00'), $lt: day('2008-09-01T00:00') } }],
  ["day LIKE '2008-%'", { day: { $gte: day('2008-01-01T00:00'), $lt: day('2009-01-01T00:00') } }],
  [
    "day NOT LIKE '2008%'",
    { day: { $not: { $gte: day('2008-01-01T00:00'), $lt: day('2009-01-01T00:00') }, $ne: null } },
  ],
  [
    "strftime('%Y', day) = '2008'",
    { day: { $gte: day('2008-01-01T00:00'), $lt: day('2009-01-01T00:00') } },
  ],
  [
    "strftime('%Y-%m', at) = '2008-12'",
    { at: { $gte: day('2008-12-01T00:00'), $lt: day('2009-01-01T00:00') } },
  ],
  ["strftime('%Y', day) > '2008'", { day: { $gte: day('2009-01-01T00:00') } }],
  ["strftime('%Y', day) <= '2008'", { day: { $lt: day('2009-01-01T00:00') } }],
  ["'2008' < strftime('%Y', day)", { day: { $gte: day('2009-01-01T00:00') } }],
  [
    "CAST(strftime('%Y', day) AS INTEGER) BETWEEN 2008 AND 2010",
    { day: { $gte: day('2008-01-01T00:00'), $lt: day('2011-01-01T00:00') } },
  ],
  [
    "substr(day, 1, 4) = '2009'",
    { day: { $gte: day('2009-01-01T00:00'), $lt: day('2010-01-01T00:00') } },
  ],
  [
    "substr(day, 1, 7) <> '2008-08'",
    { day: { $not: { $gte: day('2008-08-01T00:00'), $lt: day('2008-09-01T00:00') }, $ne: null } },
  ],
  [
    "date(at) = '2008-08-31'",
    { at: { $gte: day('2008-08-31T00:00'), $lt: day('2008-09-01T00:00') } },
  ],
  ["date(at) > '2008-08-31'", { at: { $gte: day('2008-09-01T00:00') } }],
  [
    "day BETWEEN '2008-08-01' AND '2008-08-31'",
    { day: { $gte: day('2008-08-01T00:00'), $lte: day('2008-08-31T00:00') } },
  ],
  [
    "at BETWEEN '2008-08-01' AND '2008-08-31'",
    { at: { $gte: day('2008-08-01T00:00'), $lt: day('2008-08-31T00:00') } },
  ],
  ["day > '2008'", { day: { $gte: day('2008-01-01T00:00') } }],
  ["day <= '2008-09'", { day: { $lt: day('2008-09-01T00:00') } }],
  ["day >= '2008-08-31 12:00:00'", { day: { $gt: day('2008-08-31T00:00') } }],
  ["at = '2008-08'", { at: { $in: [] } }],
];

/** Columns that stay text and hold ISO dates throughout. */
const TEXT: readonly (readonly [string, object])[] = [
  ["strftime('%Y', born) = '1990'", { born: { $gte: '1990', $lt: '1991' } }],
  ["strftime('%Y-%m', born) < '1990-08'", { born: { $lt: '1990-08' } }],
  ["CAST(strftime('%Y', born) AS INT) > 1989", { born: { $gte: '1990' } }],
  ["substr(born, 1, 4) >= '1991'", { born: { $gte: '1991' } }],
  ["born LIKE '1990%'", { born: { $regex: '^1990' } }],
];

describe('predicates over retyped columns', () => {
  it.each([...PREDICATES, ...TEXT])('%s', async (condition, match) => {
    const sql = `SELECT id FROM ride WHERE ${condition}`;
    const { verdict, detail } = await world.check(sql);
    expect(verdict, detail).toBe('equal');
    expect(world.translate(sql).pipeline[0]).toEqual({ $match: match });
    expect((await plain.check(sql)).verdict).toBe('equal');
  });
});

const QUERIES = [
  'SELECT id, paid, flag, day, at, us FROM ride ORDER BY id',
  "SELECT strftime('%Y', day), strftime('%m', day), strftime('%H:%M', at), date(at), substr(day, " +
    '6, 2), substr(us, 1, 2) FROM ride',
  "SELECT strftime('%Y', day) AS y, COUNT(*) FROM ride GROUP BY y ORDER BY y",
  "SELECT COUNT(CASE WHEN paid = 'TRUE' THEN 1 END), SUM(paid = 'TRUE'), AVG(CASE WHEN flag = " +
    "'y' THEN 1.0 ELSE 0 END) FROM ride",
  "SELECT CAST(SUM(CASE WHEN paid = 'TRUE' THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(*) FROM " +
    "ride WHERE strftime('%Y', at) = '2008'",
  'SELECT MIN(day), MAX(day), MIN(at), MAX(us), MIN(flag), MAX(flag), MAX(paid) FROM ride',
  'SELECT DISTINCT paid FROM ride ORDER BY paid',
  'SELECT id FROM ride ORDER BY flag, day DESC, id LIMIT 4',
  'SELECT paid, COUNT(*) FROM ride GROUP BY paid HAVING COUNT(*) > 1',
  "SELECT id FROM ride WHERE us LIKE '%/2000' OR us = '8/1/2008'",
  "SELECT id FROM ride WHERE us > '2'",
  "SELECT id FROM ride WHERE flag > 'm' AND paid >= 'G'",
  "SELECT id FROM ride WHERE strftime('%m', day) = '08' OR strftime('%d', at) IN ('29', '31')",
  'SELECT id FROM ride WHERE julianday(at) - julianday(day) > 0.4',
  'SELECT id FROM ride WHERE day < born OR day = date(at)',
  'SELECT a.id, b.id FROM ride a JOIN ride b ON a.day = b.day',
  'SELECT r.id FROM ride r JOIN stop s ON s.ride_id = r.id WHERE s.reached = r.day',
  'SELECT r.id FROM ride r WHERE EXISTS (SELECT 1 FROM stop s WHERE s.ride_id = r.id AND s.late ' +
    "= 'yes' AND s.reached LIKE '2009%')",
  "SELECT r.id FROM ride r JOIN stop s ON s.ride_id = r.id WHERE s.late <> 'no' AND " +
    "strftime('%Y', s.reached) = '2008'",
  'SELECT r.id, s.reached FROM ride r LEFT JOIN stop s ON s.ride_id = r.id AND s.reached >= ' +
    "'2008-08-02'",
  'SELECT r.id FROM ride r LEFT JOIN stop s ON s.ride_id = r.id WHERE s.reached IS NULL OR ' +
    "s.reached NOT LIKE '2008-08%'",
  'SELECT day FROM ride UNION SELECT reached FROM stop',
  "SELECT CASE WHEN day > '2008-08-31' THEN 'new' ELSE paid END, paid || '!', LENGTH(day), " +
    'UPPER(flag) FROM ride',
  "SELECT id FROM ride WHERE paid IS NOT NULL AND NOT (day BETWEEN '2008-08-15' AND '2008-12-31')",
  'SELECT id FROM ride WHERE day > (SELECT MIN(reached) FROM stop)',
  "SELECT strftime('%Y', day) - strftime('%Y', born), CAST(strftime('%Y', us) AS INTEGER) " +
    'FROM ride',
  "SELECT IIF(paid = 'TRUE', at, day), COALESCE(day, at), NULLIF(flag, 'n') FROM ride",
  "SELECT day FROM ride WHERE strftime('%Y', day) > 2008",
  "SELECT day FROM ride WHERE strftime('%Y', day) BETWEEN '2008' AND '2009' AND paid IN " +
    "('TRUE', 'maybe')",
];

describe('results from retyped columns', () => {
  it.each(QUERIES)('are equal: %s', async (sql) => {
    const { verdict, detail } = await world.check(sql);
    expect(verdict, detail).toBe('equal');
  });

  it('compare flags by their texts inside arrays too', () => {
    expect(
      world.optimised(
        'SELECT r.id FROM ride r WHERE EXISTS (SELECT 1 FROM stop s WHERE s.ride_id = r.id AND ' +
          "s.late = 'yes' AND s.reached LIKE '2009%')",
      ),
    ).toEqual([
      {
        $match: {
          stop: {
            $elemMatch: {
              late: true,
              reached: { $gte: day('2009-01-01T00:00'), $lt: day('2010-01-01T00:00') },
            },
          },
        },
      },
      { $project: { _id: 0, id: '$_id' } },
    ]);
  });
});
