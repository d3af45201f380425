import { expect, test } from 'vitest';
import { canonicalText, parseCanonical } from '../../results/extended-json';
import type { Profile } from '../../sqlite/profile/profile';
import { readWorkload } from '../model/read-workload';
import { deriveDesign } from '../logical/logical';
import { proposeIndexes } from '../cost/indexes';
import { proposeDesign } from '../propose/propose';
import { profiledSource } from '../test/design-fixture';
import { describeDesign } from './describe-design';

const source = profiledSource(`
CREATE TABLE kind (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO kind VALUES (1, 'comic'), (2, 'novel');
CREATE TABLE "book shop" (id INTEGER PRIMARY KEY, title TEXT, kind_id INTEGER REFERENCES kind(id),
  price TEXT, pages INTEGER, note TEXT, mixed, state TEXT, postcode TEXT);
INSERT INTO "book shop" VALUES
  (1, 'A|b', 1, '2.50', 10, '-', 1, 'open', '80331'), (2, 'C', 2, '10.00', 20, '-', 'x', 'open', '10115'),
  (3, 'D ', 2, '0.75', NULL, 'good', 2.5, 'open', '50667'), (4, 'E', 1, NULL, 10, NULL, NULL, 'open', '10115');
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, born TEXT, face BLOB);
INSERT INTO author VALUES (1, 'Ann', '1970-01-02', x'00ff'), (2, 'Bob', '1980-12-31', x'01');
CREATE TABLE wrote (author_id INTEGER REFERENCES author(id), book_id INTEGER REFERENCES "book shop"(id));
INSERT INTO wrote VALUES (1, 1), (1, 2), (2, 2), (2, 3), (1, 4);`);
const { catalog } = source;
/** As the stages read it: stored and read again. */
const profile = parseCanonical<Profile>(canonicalText(source.profile));
const SQL = [
  'SELECT title FROM "book shop" WHERE id = 1',
  'SELECT title FROM "book shop" WHERE id = 2',
  'SELECT k.name, SUM(b.price) FROM "book shop" b JOIN kind k ON k.id = b.kind_id GROUP BY k.name',
  'SELECT title FROM "book shop" ORDER BY pages LIMIT 1',
  'SELECT COUNT(*) FROM wrote',
  'SELECT nothing FROM "book shop"',
];
const workload = readWorkload(
  SQL.map((sql, index) => ({
    questionId: `q${String(index + 1)}`,
    split: 'dev',
    database: catalog.database,
    question: '',
    evidence: '',
    sql,
    difficulty: '',
  })),
  catalog,
  profile,
);
const types = {
  retype: 'proven',
  identifiers: 'stored',
  textUses: workload.textUses ?? [],
} as const;
const { design } = proposeDesign({
  catalog,
  profile,
  workload,
  strategy: 'access-pattern',
  limits: { maxArrayP99: 100, maxArray: 1000 },
  directives: [],
});
const whole = deriveDesign({ conceptual: design, catalog, profile, directives: [], types });
const document = describeDesign(design, {
  catalog,
  profile,
  workload,
  types,
  whole,
  indexes: proposeIndexes(whole, catalog, profile, workload),
});

/** The cells of a table's rows, by their first. */
function rowsOf(markdown: string): Map<string, string[]> {
  const rows = markdown
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '));
  return new Map(rows.map((cells) => [cells[0]!, cells]));
}

test('the first part says what the database is about, and what each table is', () => {
  expect(document.source.split('\n')[0]).toBe(
    '4 tables, 13 rows. It is about book shop and author, with 1 lookup table and 1 link table ' +
      'around it.',
  );
  expect(document.source).toContain('**wrote**: links author, book shop; 5 rows of ');
  expect(document.source).toContain('**kind**: names what other tables refer to; 2 rows of ');
  expect(document.source).toMatch(
    /\*\*book shop\*\*: one for each id, belongs to kind; 4 rows of \d+ bytes on average; read by 4 queries\. Has wrote \(1\.3 each, 2 at most\)\./,
  );
});

test('the first part says of each column what it holds', () => {
  const rows = rowsOf(document.source.slice(document.source.indexOf('**book shop**')));
  expect(rows.get('price')).toEqual([
    ...['price', '', 'text', '25.0 %', '3', '0.75 – 2.50'],
    'numbers written as text (0.00)',
  ]);
  expect(rows.get('note')?.slice(-2)).toEqual(['- – good; most: - 50.0 %', '“-” for 50.0 %']);
  expect(rows.get('mixed')?.at(-1)).toBe('mixed: 1 integer, 1 real, 1 text');
  expect(rows.get('state')?.slice(-2)).toEqual(['open', 'one value throughout']);
  expect(rows.get('title')?.slice(-2)).toEqual(['A\\|b – E', '1 text ending in a blank']);
  expect(rows.get('pages')?.slice(3, 6)).toEqual(['25.0 %', '2', '10 – 20; most: 10 50.0 %']);
  expect(rows.get('born')?.at(-1)).toBe('text as iso-date');
  expect(rows.get('face')?.slice(2, 6)).toEqual(['blob', '', '2', 'a blob – a blob']);
});

test('the second part says what the queries do, how often, and which they are', () => {
  expect(document.accessPatterns).toContain('Of the queries: read 40 %, join 20 %, ');
  const rows = rowsOf(document.accessPatterns);
  expect(rows.get('book shop, kind')).toEqual([
    ...['book shop, kind', 'join, aggregate', '1', '20.0 %', '', 'kind.name', '', 'q3'],
  ]);
  expect(document.accessPatterns).toContain(
    '| book shop | read | 2 | 40.0 % | book shop.id |  |  | q1, q2 |',
  );
  expect(document.accessPatterns).toContain(
    '| book shop | sort | 1 | 20.0 % |  |  | book shop.pages | q4 |',
  );
  expect(document.accessPatterns).toContain('| wrote | aggregate | 1 | 20.0 % |');
  expect(document.accessPatterns).toContain('1 query could not be read: q6 \\(');
});

test('the third part says which texts become numbers, and why', () => {
  expect(document.decisions).toContain(
    'Numbers written as text:\n\n- **book shop.price** (0.00): the values become numbers: computed ' +
      'with by query q3.\n- **book shop.postcode** (00000): the values stay text: plain ' +
      'integers that no query computes with may be codes.',
  );
});

test('the fourth part names transformations and indexes', () => {
  expect(document.result).toContain('price: number\\(0.00\\)');
  expect(document.result).toContain('author.born: date\\(YYYY-MM-DD\\)');
  expect(document.result).toMatch(/Indexes(, as proposed .*)?: /);
});
