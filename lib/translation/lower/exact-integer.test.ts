import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from '../test/translation-fixture';

const NEAR = [0n, 2n ** 31n, 2n ** 53n, 2n ** 62n, 2n ** 63n];
const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n];
const clamped = (value: bigint): bigint => {
  if (value < LEAST) return LEAST;
  return value > MOST ? MOST : value;
};

/** Integers of 64 bits, most of them where a representation ends. */
const integers = fc
  .tuple(fc.constantFrom(...NEAR), fc.integer({ min: -3, max: 3 }), fc.boolean())
  .map(([base, offset, isNegative]) => clamped((isNegative ? -base : base) + BigInt(offset)));

// One table whose values are anything, and one whose profile shows that they are small.
const SEEDED = fc.sample(fc.tuple(integers, integers), { seed: 7, numRuns: 60 });
const DDL = `
CREATE TABLE wide (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, r REAL, m);
INSERT INTO wide VALUES ${SEEDED.map(([a, b], index) => `(${index + 1}, ${a}, ${b}, ${index}.5, ${index % 3 === 0 ? `${b}.0` : b})`).join(', ')};
CREATE TABLE narrow (id INTEGER PRIMARY KEY, a INTEGER NOT NULL, b INTEGER NOT NULL);
INSERT INTO narrow VALUES (1, 7, 2), (2, -7, 2), (3, 2147483647, -1), (4, 0, 5);
CREATE TABLE large (id INTEGER PRIMARY KEY, a INTEGER);
INSERT INTO large VALUES (1, 9007199254740993), (2, 9007199254740992), (3, 3), (4, NULL);`;

const EXPRESSIONS = [
  'a / b',
  'a % b',
  'a + b',
  'a - b',
  'a * b',
  '-a',
  'a & b',
  'a | b',
  '~a',
  'a / 1',
  'a / -1',
  'b / 7',
  '7 / b',
  'a / 2 * 2',
  '(a + b) / 9973',
  '(a - b) / 3',
  'a * 3 / 2',
  'CAST(a AS REAL)',
  'CAST(r AS INTEGER)',
  'CAST(a * 1.0 AS INTEGER)',
  'ROUND(a)',
  'ROUND(a, 2)',
  'a / 2.0',
  'a * 1.5',
  'CAST(a AS REAL) + 1',
  'CAST(a AS REAL) * b',
  'CAST(a AS REAL) / b',
  'ROUND(a) - a',
  'm / 3',
  'm + a',
  'm % 5',
  'CAST(m AS INTEGER)',
  'CAST(m AS REAL)',
  'a = CAST(a AS REAL)',
  'a > b',
  'typeof(a + b)',
  'typeof(a / b)',
  'CASE WHEN a > 0 THEN a ELSE b END / 3',
  'coalesce(a, 0) / 3',
  'max(a, b) / 5',
  'min(a, b) % 7',
  '- (- a)',
  'abs(a / 2)',
  '+a / 3',
];

describe('integers of 64 bits', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.create(DDL);
  });
  afterAll(() => world.close());

  it.each(EXPRESSIONS)('%s', async (expression) => {
    const { verdict, detail } = await world.check(`SELECT id, ${expression} FROM wide`);
    expect(verdict, detail).toBe('equal');
  });

  it('are exact as constants and in aggregates over any part of the rows', async () => {
    const aggregate = fc.constantFrom(
      'SUM(a)',
      'SUM(a) / 3',
      '(SUM(a) - 1) / 2',
      'total(a)',
      'AVG(a)',
      'MAX(a) / 2',
      'MIN(a) + MAX(b)',
      'SUM(a) % 10',
      'SUM(DISTINCT a)',
      'COUNT(*) * 100 / COUNT(a)',
      'SUM(a * 1.0)',
      'total(a) / 2',
      'ROUND(AVG(a))',
      'SUM(m)',
      'MAX(a) * 2',
    );
    const query = fc.oneof(
      fc
        .tuple(aggregate, fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 4 }))
        .map(
          ([item, from, more]) =>
            `SELECT ${item} FROM wide WHERE id BETWEEN ${from} AND ${from + more}`,
        ),
      fc
        .tuple(integers, fc.constantFrom('/', '%', '+', '-', '*', '&', '|', '<', '='), integers)
        .map(([x, operator, y]) => `SELECT ${x} ${operator} ${y}, ${x} ${operator} a FROM narrow`),
    );
    await fc.assert(
      fc.asyncProperty(query, async (sql) => {
        if (world.runs(sql) !== true) return;
        const { verdict, detail } = await world.check(sql);
        expect(verdict, `${sql}\n${detail}`).toBe('equal');
      }),
      { numRuns: 250, seed: 3 },
    );
  }, 60_000);

  it.each([
    'SELECT a / 1, ROUND(a), CAST(a AS REAL) FROM large',
    'SELECT (SUM(a) - 1) / 2, total(a), SUM(a) FROM large',
    'SELECT 9007199254740993 / 1, 9223372036854775808, -9223372036854775808, - ' +
      '(-9223372036854775808), 9223372036854775807 + 1',
    'SELECT d.s / 2, (SELECT MAX(a) FROM large) / 1 FROM (SELECT SUM(a) AS s FROM large) d',
    'SELECT CAST(1e20 AS INTEGER), CAST(-1e20 AS INTEGER), CAST("99999999999999999999" AS ' +
      'INTEGER), "99999999999999999999" + 0',
    'SELECT a FROM large WHERE a / 1 = 9007199254740993 OR a % 2 = 1',
    'SELECT a / 2, COUNT(*) FROM large GROUP BY a / 2 ORDER BY a / 2 DESC',
    'SELECT SUM(a) OVER (ORDER BY id) / 2, LAG(a) OVER (ORDER BY id) / 1 FROM large',
    'SELECT COUNT(*) * 9223372036854775807 / 2 FROM large WHERE a > 5',
  ])('%s', async (sql) => {
    const { verdict, detail } = await world.check(sql);
    expect(verdict, detail).toBe('equal');
  });

  it('keeps the short form where the profile shows that a double is exact', () => {
    const shown = (expression: string): unknown =>
      world.translate(`SELECT ${expression} AS x FROM narrow`).pipeline.at(-1)?.['$project'].x;
    expect(shown('a / 2')).toEqual({ $trunc: { $divide: ['$a', 2] } });
    expect(shown('CAST(a AS REAL) / b')).toEqual({
      $cond: [{ $eq: ['$b', 0] }, null, { $divide: ['$a', '$b'] }],
    });
    expect(shown('ROUND(a * b)')).toEqual({ $multiply: ['$a', '$b'] });
    expect(
      JSON.stringify(world.translate('SELECT SUM(a) * 100 / COUNT(*) FROM narrow').pipeline),
    ).not.toMatch(/toDecimal|toDouble/);
  });
});
