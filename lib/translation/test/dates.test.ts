import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from './translation-fixture';

const DDL = `
CREATE TABLE visit (
  id INTEGER PRIMARY KEY, born TEXT, placed TEXT, unsure TEXT, year INTEGER, epoch INTEGER,
  stamp REAL, mixed, year_text TEXT, absent TEXT, age INTEGER
);
INSERT INTO visit VALUES
  (1, '1990-01-02', '2020-01-01 10:00:00', '2001-02-03', 1990, 1000000000, 2451545.5, 'a', '1990',
    NULL, 31),
  (2, '1985-12-31', '2021-03-01 00:00:00', 'bad', 1985, 1100000000, 2451546.25, 5, '2001', NULL, 36),
  (3, NULL, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (4, '2000-02-29', '1999-12-31 23:59:59', '100%', 2001, 0, 2451600.0, '2020-01-01', '1985', NULL, 50);
CREATE TABLE days (id INTEGER PRIMARY KEY, day INTEGER, exact REAL);
INSERT INTO days VALUES (1, 0, 0.0), (2, 1721059, 1721059.4), (3, 1721060, 1721059.5),
  (4, 2451545, 2451545.123456), (5, 5373484, 5373484.49999), (6, 5373485, 5373484.5),
  (7, -1, -0.5), (8, NULL, NULL), (9, 1355817, 1355816.9), (10, 1700000, 1e300);
`;

const QUERIES = [
  // Numbers are Julian days: of before the year 0, of today, beyond the year 9999.
  "SELECT strftime('%Y', day), date(day), datetime(day), strftime('%m', day) FROM days",
  "SELECT strftime('%Y', exact), date(exact), datetime(exact), time(exact) FROM days",
  "SELECT julianday(exact), unixepoch(exact), strftime('%s', day) FROM days",
  "SELECT strftime('%J', stamp), datetime(stamp), date(stamp, 'start of month') FROM visit",
  "SELECT strftime('%Y', year), strftime('%Y-%m', year), date(year, '+1 year') FROM visit",
  "SELECT date(year, '+1 month'), date(year, '+40 days'), strftime('%w %j', year) FROM visit",
  "SELECT strftime('%Y', year) > '1', CAST(strftime('%Y', year) AS INTEGER) + 1 FROM visit",
  "SELECT COUNT(*) FROM visit WHERE strftime('%Y', year) = '-4707'",
  "SELECT COUNT(*) FROM visit WHERE date(year) > '2000-01-01'",
  "SELECT AVG(strftime('%Y', year)), MAX(date(stamp)) FROM visit",
  "SELECT strftime('%Y', epoch), strftime('%Y', age + 1000), date(age * 100000) FROM visit",
  "SELECT strftime('%Y', year_text), date(year_text), julianday(year_text) FROM visit",
  "SELECT strftime('%Y', mixed), date(mixed) FROM visit",
  "SELECT date(2451545), date(2451545.25), datetime('2451545.25'), date(-1), date(9999999)",
  "SELECT date(absent), strftime('%Y', absent), julianday(absent) FROM visit",
  // A time of day alone.
  "SELECT time('12:30'), datetime('12:30:15'), julianday('06:00') FROM visit",
  // The format forgotten.
  'SELECT strftime(born), strftime(year), strftime(unsure) FROM visit WHERE id < 4',
  "SELECT COUNT(*) FROM visit WHERE strftime(born) > '1990'",
  "SELECT strftime(NULL, born), strftime('%Y', NULL) FROM visit",
  "SELECT date(born, 'weekday 0'), date(born, 'weekday 3', '+1 day') FROM visit",
  'SELECT sign(age - 36), sign(stamp), sign(-2.5), sign(0), sign(NULL) FROM visit',
  // The text of a date counts by its year.
  "SELECT datetime('2020-01-01') - born, placed - born, SUM(born), AVG(placed), born + 0 FROM visit",
  'SELECT CAST(born AS INTEGER), CAST(born AS REAL), CAST(SUBSTR(placed, 1, 4) AS INTEGER) FROM visit',
  'SELECT SUBSTR(born, 1, 4) - 1, SUBSTR(placed, 1, 10), date(SUBSTR(placed, 1, 10)) FROM visit',
  "SELECT COUNT(*) FROM visit WHERE date(SUBSTR(placed, 1, 10)) BETWEEN '2020-01-01' AND '2020-12-31'",
  // Letters of the format that `$dateToString` has, has not, and that SQLite has not.
  "SELECT strftime('%W', born), strftime('%U %V %G %g %u', born) FROM visit",
  "SELECT strftime('%e|%k|%l|%I|%p|%P', placed), strftime('%F %T', placed) FROM visit",
  "SELECT strftime('%R', placed), strftime('%W-%w', placed), strftime('%%', placed) FROM visit",
  "SELECT strftime('%L', born), strftime('%', born), strftime('a%', born) FROM visit",
  "SELECT strftime('', born), strftime('plain', born), strftime('%d.%m.%Y', born) FROM visit",
];

describe('dates', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.create(DDL);
  });
  afterAll(() => world.close());

  it.each(QUERIES)('%s', async (sql) => {
    expect(world.runs(sql)).toBe(true);
    const { verdict, detail } = await world.check(sql);
    expect([verdict, detail]).toEqual(['equal', '']);
  });

  it('a column of Julian days of today needs no case of its own', () => {
    expect(
      world.translate('SELECT date(stamp) FROM visit WHERE stamp IS NOT NULL').pipeline,
    ).toEqual([
      { $match: { stamp: { $ne: null } } },
      {
        $project: {
          _id: 0,
          date: {
            $dateToString: {
              date: {
                $toDate: {
                  $subtract: [
                    { $toLong: { $add: [{ $multiply: ['$stamp', 86_400_000] }, 0.5] } },
                    210_866_760_000_000,
                  ],
                },
              },
              format: '%Y-%m-%d',
            },
          },
        },
      },
    ]);
  });
});
