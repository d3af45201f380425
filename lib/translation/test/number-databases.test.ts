import { describe, expect, it } from 'vitest';
import { World } from './translation-fixture';

/**
 * Databases whose numbers are text, one for each format, with queries that compare, order, sum,
 * cast, concatenate and group them. `numbers`: the columns that the design stores as numbers for
 * these queries; all others keep their text, since a query needs it.
 */
interface NumberDatabase {
  readonly name: string;
  readonly ddl: string;
  readonly queries: readonly string[];
  readonly numbers: Readonly<Record<string, string>>;
}

const DATABASES: readonly NumberDatabase[] = [
  {
    name: 'plain integers',
    ddl: `CREATE TABLE game (id INTEGER PRIMARY KEY, players TEXT, year TEXT, postcode TEXT,
            level TEXT, rank TEXT);
          INSERT INTO game VALUES (1, '2', '1999', '80331', '10', '3'), (2, '12', '2004', '10115',
            '9', '1'), (3, '100', '2004', '80331', '8', '2'), (4, NULL, '2019', '50667', NULL, '10');`,
    queries: [
      'SELECT SUM(players), AVG(CAST(players AS INTEGER)) FROM game',
      'SELECT id FROM game WHERE CAST(players AS REAL) > 2 ORDER BY players + 0 DESC',
      "SELECT year, COUNT(*) FROM game WHERE year >= '2000' GROUP BY year ORDER BY year DESC",
      'SELECT id FROM game WHERE postcode = 80331',
      'SELECT id, level FROM game ORDER BY level, id',
      "SELECT 'rank ' || rank FROM game",
    ],
    numbers: { players: '0', year: '0000' },
  },
  {
    name: 'decimals of a fixed scale',
    ddl: `CREATE TABLE item (id INTEGER PRIMARY KEY, price TEXT, weight TEXT, size TEXT);
          INSERT INTO item VALUES (1, '2.50', '1.250', '0.5'), (2, '10.00', '0.005', '1.5'),
            (3, '0.75', '12.000', '10.0'), (4, NULL, '1.250', '2.5');`,
    queries: [
      'SELECT SUM(price) / COUNT(price), MAX(CAST(price AS REAL)) FROM item',
      "SELECT id FROM item WHERE price = '2.50' OR price * 2 > 10",
      'SELECT weight, COUNT(*), SUM(price) FROM item GROUP BY weight',
      'SELECT id FROM item ORDER BY CAST(weight AS REAL), id',
      'SELECT MAX(size) FROM item',
    ],
    numbers: { price: '0.00', weight: '0.000' },
  },
  {
    name: 'decimals of a free scale',
    ddl: `CREATE TABLE film (id INTEGER PRIMARY KEY, rating TEXT, stars TEXT, score TEXT, mixed TEXT);
          INSERT INTO film VALUES (1, '7', '1.0', '-2.5', '1'), (2, '8.25', '4.5', '3', '1.0'),
            (3, '10', '3.125', '0.125', '2'), (4, NULL, '5.0', '-40', '2.50');`,
    queries: [
      'SELECT rating / 2, stars / 2, score * 2 FROM film',
      'SELECT AVG(rating), SUM(stars), SUM(score) FROM film',
      'SELECT DISTINCT CAST(rating AS INTEGER), CAST(score AS NUMERIC) FROM film',
      "SELECT id FROM film WHERE rating IN ('7', '10') OR stars = '4.5' OR score + 0 < 0",
      'SELECT mixed, COUNT(*) FROM film GROUP BY mixed',
    ],
    numbers: { rating: '0.#', stars: '0.0#', score: '0.#;-0.#' },
  },
  {
    name: 'thousands separators',
    ddl: `CREATE TABLE app (id INTEGER PRIMARY KEY, installs TEXT, reviews TEXT, size TEXT);
          INSERT INTO app VALUES (1, '1,000', '12', '1,234.5'), (2, '5,000,000', '1,234', '10.25'),
            (3, '10', '999', '1.5'), (4, NULL, '0', NULL);`,
    queries: [
      "SELECT SUM(CAST(REPLACE(installs, ',', '') AS INTEGER)) FROM app",
      "SELECT id FROM app WHERE CAST(REPLACE(installs, ',', '') AS INTEGER) >= 1000",
      "SELECT id, installs FROM app WHERE installs = '5,000,000'",
      "SELECT id FROM app ORDER BY CAST(REPLACE(size, ',', '') AS REAL) DESC LIMIT 1",
      'SELECT id FROM app WHERE reviews > 5',
    ],
    numbers: { installs: '#,##0', size: '#,##0.0#' },
  },
  {
    name: 'currency signs',
    ddl: `CREATE TABLE sale (id INTEGER PRIMARY KEY, amount TEXT, fee TEXT, tip TEXT, kind TEXT);
          INSERT INTO sale VALUES (1, '$1,234.50', '€5', '£1.00', 'a'), (2, '$7.00', '€12', '£2.50',
            'b'), (3, '$0.99', '€0', '£0.10', 'a'), (4, NULL, NULL, '£10.00', 'b');`,
    queries: [
      "SELECT kind, AVG(CAST(REPLACE(REPLACE(amount, '$', ''), ',', '') AS REAL)) FROM sale GROUP BY kind",
      "SELECT SUM(CAST(SUBSTR(fee, 2) AS INTEGER)) FROM sale WHERE fee <> '€0'",
      "SELECT SUM(CASE WHEN kind = 'a' THEN CAST(LTRIM(fee, '€') AS INTEGER) ELSE 0 END) FROM sale",
      'SELECT CAST(tip AS REAL), tip FROM sale',
      "SELECT id FROM sale WHERE amount IN ('$7.00', '$0.99')",
    ],
    numbers: { amount: '$#,##0.00', fee: '€0' },
  },
  {
    name: 'percent signs',
    ddl: `CREATE TABLE vote (id INTEGER PRIMARY KEY, share TEXT, turnout TEXT, swing TEXT);
          INSERT INTO vote VALUES (1, '12.5%', '80 %', '-1.5%'), (2, '3.0%', '9 %', '0.5%'),
            (3, '100.0%', '65 %', '12.0%'), (4, NULL, '80 %', NULL);`,
    queries: [
      "SELECT AVG(CAST(REPLACE(share, '%', '') AS REAL)) FROM vote",
      "SELECT id FROM vote WHERE CAST(RTRIM(share, '%') AS REAL) BETWEEN 3 AND 50",
      "SELECT turnout, COUNT(*) FROM vote WHERE turnout = '80 %' GROUP BY turnout",
      "SELECT id FROM vote WHERE swing LIKE '-%'",
    ],
    numbers: { share: '0.0%', turnout: '0 %' },
  },
];

describe.each(DATABASES)('$name', ({ ddl, queries, numbers }) => {
  it.each(['access-pattern', 'one-to-one'] as const)('%s', async (strategy) => {
    const world = await World.create(ddl, { strategy, asked: queries });
    try {
      const retyped = world.design.logical.flatMap(({ fields }) =>
        fields.flatMap((field) =>
          field.kind === 'column' && field.transform.kind === 'number'
            ? [[field.column, field.transform.format] as const]
            : [],
        ),
      );
      expect(Object.fromEntries(retyped)).toEqual(numbers);
      for (const sql of queries) {
        const { verdict, detail } = await world.check(sql);
        expect([sql, verdict, detail]).toEqual([sql, 'equal', '']);
      }
    } finally {
      await world.close();
    }
  });
});
