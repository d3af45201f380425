import Database from 'better-sqlite3';
import { expect, it, describe } from 'vitest';
import { deriveDesign } from '../../../design/logical/logical';
import { proposeDesign } from '../../../design/propose/propose';
import type { DocumentDesign } from '../../../design/model/document-design';
import { catalogOf } from '../../../sqlite/schema/introspect';
import { profileDatabase } from '../../../sqlite/profile/profile-database';
import { rewriteEvidence, type EvidenceContext } from '../evidence';
import { evidencePaths } from '../gold/evidence-paths';
import { translate } from '../../translate';

const sqlite = new Database(':memory:');
sqlite.defaultSafeIntegers(true);
sqlite.exec(`CREATE TABLE superhero (id INTEGER PRIMARY KEY, superhero_name TEXT, eye_colour_id INTEGER REFERENCES colour(id), isTextless TEXT, height INTEGER, seen TEXT, born TEXT);
  CREATE TABLE hero_power (hero_id INTEGER REFERENCES superhero(id), power_id INTEGER);
  CREATE TABLE colour (id INTEGER PRIMARY KEY, colour TEXT);
  INSERT INTO colour VALUES (1, 'Blue'); INSERT INTO superhero VALUES (1, 'A', 1, 'TRUE', 3, '2008-08-15', '1990-01-01'), (2, 'B', 1, 'FALSE', 3, NULL, '1991-01-01'); INSERT INTO hero_power VALUES (1, 5), (2, 6);`);
const catalog = catalogOf(sqlite, { name: 'memory', sha256: '', descriptions: {} });
const profile = profileDatabase(sqlite, catalog);
const conceptual = proposeDesign({
  catalog,
  profile,
  workload: { database: 'memory', patterns: [], unread: [] },
  strategy: 'access-pattern',
  limits: { maxArrayP99: 100, maxArray: 1000 },
  directives: [
    {
      kind: 'relationship',
      relationship: 'superhero(eye_colour_id)->colour(id)',
      choice: 'reference',
    },
  ],
}).design;
const plain = deriveDesign({ conceptual, catalog, profile, directives: [] });
const design: DocumentDesign = {
  ...plain,
  logical: plain.logical.map((logical) => ({
    ...logical,
    fields: logical.fields.map((field) => {
      if (field.kind === 'column' && field.column === 'isTextless')
        return { ...field, transform: { kind: 'bool', true: 'TRUE', false: 'FALSE' } as const };
      return field.kind === 'column' && field.column === 'seen'
        ? { ...field, transform: { kind: 'date', format: 'YYYY-MM-DD' } as const }
        : field;
    }),
  })),
};

const SQL =
  'SELECT superhero_name FROM superhero JOIN colour ON eye_colour_id = colour.id ' +
  "JOIN hero_power ON hero_id = superhero.id WHERE colour = 'Blue' AND power_id = 5";

function contextOf(sql: string): EvidenceContext {
  const translation = translate(sql, { catalog, profile, design });
  if (translation.status !== 'translated') throw new Error(translation.reason);
  const { collection, pipeline } = translation;
  return { catalog, design, collection, pipeline, sql };
}

const rewrite = (evidence: string, sql: string = SQL) => rewriteEvidence(evidence, contextOf(sql));

describe('evidence', () => {
  it.each([
    [
      "blue eyes refers to colour = 'Blue' and eye_colour_id = colour.id",
      "blue eyes refers to colour.colour = 'Blue' and superhero.eye_colour_id = colour._id",
    ],
    [
      'the hero refers to superhero_name; the colour of the eyes',
      'the hero refers to superhero.superhero_name; the colour of the eyes',
    ],
    ['MAX(height) is the tallest', 'the largest superhero.height is the tallest'],
    [
      "share = DIVIDE(SUM(colour = 'Blue'), COUNT(power_id)) as percentage",
      "share = (the number of documents where colour.colour = 'Blue') divided by (the number of " +
        'superhero.hero_power.power_id) as percentage',
    ],
    [
      'Average Height = AVG(height) and rate of height = [(height of A - height of B)]',
      'Average Height = the average of superhero.height and rate of height = [(height of A - ' +
        'height of B)]',
    ],
    [
      'in 1990 refers to year(born) = 1990 and YEAR (his birth)',
      'in 1990 refers to the year of superhero.born = 1990 and YEAR (his birth)',
    ],
    [
      'MULTIPLY(DIVIDE(SUM(height), COUNT(DISTINCT power_id)), 100)',
      '((the sum of superhero.height) divided by (the number of distinct ' +
        'superhero.hero_power.power_id)) times 100',
    ],
    [
      'most powers refers to MAX(COUNT(superhero_name))',
      'most powers refers to the largest number of superhero.superhero_name',
    ],
    [
      'the sum (of all) and DIVIDE(1) stay; colours means PARTITION BY eye_colour_id',
      'the sum (of all) and DIVIDE(1) stay; colours means grouped by superhero.eye_colour_id',
    ],
    [
      "not blue refers to colour ! = 'Blue'; tall refers to height > = 3",
      "not blue refers to colour.colour != 'Blue'; tall refers to superhero.height >= 3",
    ],
    ["seen refers to seen = '2008-08-15'", 'seen refers to superhero.seen = ISODate("2008-08-15")'],
    [
      "in August 2008 refers to seen LIKE '2008-08%'",
      'in August 2008 refers to superhero.seen >= ISODate("2008-08-01") and superhero.seen < ' +
        'ISODate("2008-09-01")',
    ],
    [
      "in 2008 refers to strftime('%Y', seen) = '2008'",
      'in 2008 refers to superhero.seen >= ISODate("2008-01-01") and superhero.seen < ' +
        'ISODate("2009-01-01")',
    ],
    [
      "after 2007 refers to seen > = '2008'",
      'after 2007 refers to superhero.seen >= ISODate("2008-01-01")',
    ],
    [
      "born in 1990 refers to strftime('%Y', born) = '1990'",
      "born in 1990 refers to the year of superhero.born = '1990'",
    ],
    ['a power refers to hero_power.power_id', 'a power refers to superhero.hero_power.power_id'],
    [
      "a text box refers to isTextless = 'FALSE'",
      'a text box refers to superhero.isTextless = false',
    ],
    ['`superhero_name` LIKE "A%"', 'superhero.superhero_name matches /^A/i'],
    [
      'no field is meant by the height of the tower',
      'no field is meant by the height of the tower',
    ],
    ['', ''],
  ])('%s', (evidence, expected) => {
    expect(rewrite(evidence).text).toBe(expected);
  });

  it('reads the aliases of the SQL', () => {
    const sql =
      'SELECT T1.superhero_name FROM superhero AS T1 JOIN colour T2 ON T1.eye_colour_id = T2.id ' +
      "WHERE T2.colour = 'Blue'";
    expect(rewrite('T1.height of the hero T2.colour', sql).text).toBe(
      'superhero.height of the hero colour.colour',
    );
  });

  it('marks what it cannot match', () => {
    expect(rewrite('see `full name` and superhero.weight_kg').unmatched).toEqual(['full name']);
    const text = 'superhero.weight_kg is unknown, colour. Then it ends';
    expect(evidencePaths(text, contextOf(SQL))).toEqual([
      { path: 'superhero.weight_kg', use: 'unknown' },
    ]);
  });
});

describe('long hints and queries take no longer than reading them', () => {
  const HEIGHT = 'SELECT superhero_name FROM superhero WHERE height = 3';
  it.each([
    ['calls that are never closed', 'sum('.repeat(50_000)],
    ['brackets that are never closed', '['.repeat(200_000)],
    ['quotes that are never closed', '`a'.repeat(100_000)],
    ['spaces behind a name', `height${' '.repeat(200_000)}x`],
    ['dots', `year(${'.'.repeat(200_000)})`],
    ['a cast', `cast(height${' as'.repeat(66_000)} )`],
  ])('%s', (_, text) => {
    const started = performance.now();
    expect(rewrite(text, HEIGHT)).toMatchObject({
      text,
      unmatched: ['(longer than 5000 characters: not rewritten)'],
    });
    evidencePaths(text, contextOf(HEIGHT));
    for (let start = 0; start < 20_000; start += 4_900)
      rewrite(text.slice(start, start + 4_900), HEIGHT);
    expect(performance.now() - started).toBeLessThan(4_000);
  });

  it('the aliases of a query with 200,000 spaces', () => {
    const sql =
      `SELECT h.superhero_name FROM superhero${' '.repeat(200_000)}AS h WHERE ` + 'h.height = 3';
    const started = performance.now();
    expect(rewrite('`h`.`height` is 3', sql).text).toBe('superhero.height is 3');
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
