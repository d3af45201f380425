import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pinPipeline, pinSql } from './pinned-clock';
import { World } from '../test/translation-fixture';

const CLOCK = '2019-03-04T05:06:07Z';
const AT = "'2019-03-04 05:06:07.000'";

describe('SQL with the clock pinned', () => {
  it.each([
    ["SELECT date('now')", `SELECT date(${AT})`],
    [
      'SELECT CURRENT_DATE, current_time, CURRENT_TIMESTAMP',
      "SELECT '2019-03-04', '05:06:07', '2019-03-04 05:06:07'",
    ],
    [
      "SELECT strftime('%Y', 'NOW') - strftime('%Y', born) FROM people",
      `SELECT strftime('%Y', ${AT}) - strftime('%Y', born) FROM people`,
    ],
    [
      "SELECT datetime(), julianday ( ), strftime('%Y')",
      `SELECT datetime(${AT}), julianday (${AT} ), strftime('%Y', ${AT})`,
    ],
    [
      "SELECT id FROM people WHERE born < (SELECT DateTime('now', '-1 day'))",
      `SELECT id FROM people WHERE born < (SELECT DateTime(${AT}, '-1 day'))`,
    ],
    // These only look like the clock.
    [
      "SELECT 'now', upper('now') FROM people WHERE name = 'CURRENT_DATE'",
      "SELECT 'now', upper('now') FROM people WHERE name = 'CURRENT_DATE'",
    ],
    ["SELECT date('2001-01-01', 'now')", "SELECT date('2001-01-01', 'now')"],
    ['SELECT FROM', 'SELECT FROM'],
  ])('%s', (sql, pinned) => {
    expect(pinSql(sql, CLOCK)).toBe(pinned);
  });
});

describe('MQL with the clock pinned', () => {
  it('has the moment wherever $$NOW is evaluated, and nowhere else', () => {
    const now = new Date(CLOCK);
    expect(
      pinPipeline(
        [
          { $match: { name: '$$NOW', $expr: { $lt: ['$at', '$$NOW'] } } },
          { $set: { a: '$$NOW', b: { $literal: '$$NOW' } } },
          { $lookup: { from: 'x', pipeline: [{ $project: { y: { $year: '$$NOW' } } }], as: 'x' } },
        ],
        CLOCK,
      ),
    ).toEqual([
      { $match: { name: '$$NOW', $expr: { $lt: ['$at', now] } } },
      { $set: { a: now, b: { $literal: '$$NOW' } } },
      { $lookup: { from: 'x', pipeline: [{ $project: { y: { $year: now } } }], as: 'x' } },
    ]);
  });
});

describe('queries of the current time', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.create(
      'CREATE TABLE people (id INTEGER PRIMARY KEY, born TEXT NOT NULL, seen TEXT); INSERT INTO ' +
        "people VALUES (1, '1990-05-01', '2019-03-04 05:06:07'), (2, '2019-03-04', NULL), (3, " +
        "'2024-01-01', '2030-01-01 00:00:00');",
      {},
    );
  });
  afterAll(() => world.close());

  it.each([
    "SELECT date('now'), datetime('now'), CURRENT_DATE, CURRENT_TIME, CURRENT_TIMESTAMP, " +
      "strftime('%Y'), datetime()",
    "SELECT id, CAST(strftime('%Y', 'now') AS INTEGER) - CAST(strftime('%Y', born) AS INTEGER) " +
      'FROM people',
    "SELECT id FROM people WHERE born <= date('now')",
    'SELECT id FROM people WHERE seen < CURRENT_TIMESTAMP OR seen IS NULL',
    "SELECT id, (julianday('now') - julianday(born)) / 365.25 FROM people",
    "SELECT id FROM people WHERE born > date('now', '-30 day')",
    "SELECT COUNT(*) FROM people WHERE strftime('%Y', born) = strftime('%Y', 'now')",
    "SELECT date('now', 'localtime'), datetime('now', 'start of month')",
  ])('give the rows of the pinned moment on both sides: %s', async (sql) => {
    const { verdict, detail, translation } = await world.check(sql, CLOCK);
    expect(verdict, detail).toBe('equal');
    expect(translation).toMatchObject({ caveats: ['time_dependent'] });
    expect(JSON.stringify(world.translate(sql).pipeline)).toContain('$$NOW');
  });
});
