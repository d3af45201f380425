import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from './translation-fixture';

/** Frames over peers of any key, and functions of a row's number among all. */
const DDL = `
CREATE TABLE sale (
  id INTEGER PRIMARY KEY, region TEXT, day TEXT, amount INTEGER, price REAL, code TEXT NOT NULL,
  area TEXT COLLATE NOCASE
);
INSERT INTO sale VALUES
  (1, 'n', '2020-01-01', 10, 1.5, 'x', 'A'), (2, 'n', '2020-01-02', 20, NULL, 'y', 'a'),
  (3, 'n', '2020-01-02', 5, 2.5, 'z', 'b'), (4, 's', '2020-01-01', 7, 2.5, 'a', 'B'),
  (5, 's', NULL, NULL, 9.0, 'b', 'A'), (6, 's', '2020-01-04', 9, 0.5, 'c', 'c'), (7, NULL, '2020-01-04', 1, 1.5, 'd', NULL);`;

const WINDOWS = [
  'SUM(amount) OVER (PARTITION BY region ORDER BY day)',
  'SUM(amount) OVER (ORDER BY day)',
  'MAX(amount) OVER (ORDER BY day DESC)',
  'COUNT(*) OVER (ORDER BY region, day)',
  'COUNT(amount) OVER (PARTITION BY region ORDER BY price DESC)',
  'AVG(amount) OVER (ORDER BY SUBSTR(day, 1, 4), code)',
  'SUM(amount) OVER (ORDER BY amount)',
  'SUM(price) OVER (ORDER BY day RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)',
  'SUM(price) OVER (ORDER BY day RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)',
  'SUM(amount) OVER (ORDER BY day GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW)',
  'SUM(amount) OVER (ORDER BY day DESC GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING)',
  'FIRST_VALUE(code) OVER (PARTITION BY region ORDER BY day, id)',
  'LAST_VALUE(code) OVER (PARTITION BY region ORDER BY code)',
  'SUM(amount) OVER (PARTITION BY area ORDER BY day)',
  'FIRST_VALUE(id) OVER (PARTITION BY area ORDER BY id)',
  'NTILE(2) OVER (ORDER BY id)',
  'NTILE(3) OVER (ORDER BY id)',
  'NTILE(4) OVER (PARTITION BY region ORDER BY code DESC)',
  'NTILE(100) OVER (ORDER BY id)',
  'PERCENT_RANK() OVER (ORDER BY day)',
  'PERCENT_RANK() OVER (PARTITION BY region ORDER BY day, price)',
  'CUME_DIST() OVER (ORDER BY day)',
  'CUME_DIST() OVER (PARTITION BY region ORDER BY amount DESC)',
  'SUM(SUM(amount)) OVER (ORDER BY region)',
];

describe('windows', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.create(DDL);
  });
  afterAll(() => world.close());

  it.each(WINDOWS)('%s', async (window) => {
    const sql = window.startsWith('SUM(SUM')
      ? `SELECT region, ${window} FROM sale GROUP BY region`
      : `SELECT id, ${window} FROM sale`;
    expect(world.runs(sql)).toBe(true);
    const { verdict, detail } = await world.check(sql);
    expect([verdict, detail]).toEqual(['equal', '']);
  });

  it('a key that is an ascending number needs no peers', () => {
    expect(world.optimised('SELECT id, SUM(amount) OVER (ORDER BY id) AS s FROM sale')[0]).toEqual({
      $setWindowFields: {
        sortBy: { _id: 1 },
        output: {
          s: { $sum: '$amount', window: { range: ['unbounded', 'current'] } },
          s_values: {
            $sum: { $cond: [{ $ne: ['$amount', null] }, 1, 0] },
            window: { range: ['unbounded', 'current'] },
          },
        },
      },
    });
  });
});
