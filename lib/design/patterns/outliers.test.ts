import { describe, expect, test } from 'vitest';
import { score } from '../model/score';
import { CostModel } from '../cost/cost-model';
import { profiledSource } from '../test/design-fixture';
import type { Directive } from '../model/directive';
import type { DocumentDesign } from '../model/document-design';
import { forecastCollections } from '../limits/forecast';
import { deriveDesign } from '../logical/logical';
import { checkDesign } from '../limits/loss-check';
import { outliersOf } from '../model/outlier-share';
import { outlierObstacle } from './outliers';
import { proposeDesign } from '../propose/propose';
import { readWorkload } from '../model/read-workload';
import { whatIf } from '../propose/what-if';

const limits = { maxArrayP99: 100, maxArray: 1000 };
const ID = 'book(author_id)->author(id)';
const COLUMNS =
  'bid INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES author(id), title TEXT NOT ' +
  'NULL, year INTEGER NOT NULL, shelf TEXT, blurb TEXT';
/**
 * 2,000 authors with 0–5 books, but for three with 1,500. Lives are too long to be copied into
 * every book.
 */
const ddl = ({ columns = COLUMNS, many = 3, rows = 1500, blurb = 40 } = {}): string => `
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, life TEXT NOT NULL);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO author SELECT i, 'author ' || i, printf('%.300c', 'x') || i FROM n;
  CREATE TABLE book (${columns});
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO book SELECT i, 1 + i % 2000, 'title ' || i, 1900 + i % 120, 's' || (i % 7), printf('%.${blurb}c', 'y') FROM n WHERE i / 2000 < (i % 2000) % 6;
  ${Array.from({ length: many }, (_, index) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) INSERT INTO book SELECT ${20_000 * (index + 1)} + i, ${5 + index * 100}, 'more ' || i, 1900 + i % 120, 's', 'z' FROM n;`).join('\n')}`;
const source = profiledSource(ddl());

const FROM = 'FROM author a JOIN book b ON b.author_id = a.id';
/** Three queries that read lives, which no copy can spare. */
const ASKED = [
  `SELECT a.life, b.title ${FROM}`,
  `SELECT a.life, b.year ${FROM} WHERE a.name LIKE 'author 1%'`,
  `SELECT a.life, b.title ${FROM} ORDER BY b.year`,
];

function propose(
  sql: readonly string[],
  { catalog, profile } = source,
  directives: readonly Directive[] = [],
  within = limits,
) {
  const items = sql.map((text, index) => ({
    questionId: String(index),
    split: 'dev',
    database: 'db',
    question: '',
    evidence: '',
    sql: text,
    difficulty: null,
  }));
  const workload = readWorkload(items, catalog, profile);
  const { design: conceptual } = proposeDesign({
    catalog,
    profile,
    workload,
    strategy: 'access-pattern',
    limits: within,
    directives,
  });
  const design = deriveDesign({ conceptual, catalog, profile, directives: [] });
  expect(checkDesign(design, catalog, profile, within)).toEqual([]);
  const pattern = conceptual.patterns
    .filter((use) => use.pattern === 'Outlier')
    .map(({ status = 'applied', target, reason }) => `${status} ${target}: ${reason}`);
  return {
    workload,
    conceptual,
    design,
    choice: conceptual.relationships.find((entry) => entry.relationship === ID)!,
    pattern,
  };
}
const withoutArray = (design: DocumentDesign): DocumentDesign => ({
  ...design,
  logical: design.logical.map((logical) => ({
    ...logical,
    fields: logical.fields.filter(({ kind }) => kind !== 'outlier'),
  })),
});

test('it is proposed where three queries join parents and children, few of which are outliers’', () => {
  const { choice, design, conceptual, pattern } = propose(ASKED);
  expect(choice.outlier).toEqual({
    field: 'book',
    flag: 'book_elsewhere',
    limit: 100,
    columns: ['title', 'year'],
    queries: 3,
  });
  expect(design.logical.find(({ rootTable }) => rootTable === 'author')!.fields).toMatchObject([
    { name: 'name' },
    { name: 'life' },
    {
      kind: 'outlier',
      name: 'book',
      flag: 'book_elsewhere',
      fields: [{ name: 'title' }, { name: 'year' }],
    },
  ]);
  expect(pattern).toEqual([
    'applied author.book: title, year of all rows of book in every author that has at most 100 ' +
      '(p99 5). 3 of 2000 have more, up to 1504: book_elsewhere flags them, and their rows are ' +
      'found in the collection of book alone. 3 queries need no more than these columns.',
  ]);
  expect(conceptual.document.decisions).toContain(
    'The parents keep book (all rows where there are 100 at most: title, year; with more none, ' +
      'and the key in book\\_elsewhere)',
  );
  expect(conceptual.document.result).toMatch(/\| book \| standalone \| book \| ✓ \| author \|/);
});

test('the key of the child is an entry’s _id, and names are those of the child’s documents', () => {
  const columns = COLUMNS.replace('title TEXT', '"the title" TEXT')
    .replace('year INTEGER', '"The Title" INTEGER')
    .replace('"The Title"', '"the-title"');
  const named = profiledSource(ddl({ columns }));
  const { design } = propose(
    [
      `SELECT a.life, b.bid, b."the-title" ${FROM}`,
      `SELECT a.life, b.bid ${FROM} WHERE a.id > 9`,
      `SELECT a.life, b."the-title" ${FROM} WHERE a.id > 8`,
    ],
    named,
  );
  const field = design.logical
    .find(({ rootTable }) => rootTable === 'author')!
    .fields.find(({ kind }) => kind === 'outlier');
  const original = design.logical
    .find(({ rootTable }) => rootTable === 'book')!
    .fields.find((own) => own.kind === 'column' && own.column === 'the-title');
  expect(original!.name).toBe('theTitle_2');
  expect(field).toMatchObject({
    fields: [
      { name: '_id', column: 'bid' },
      { name: 'theTitle_2', column: 'the-title' },
    ],
  });
});

describe('it is left', () => {
  const other = (from: string, to: string): typeof source =>
    profiledSource(ddl({ columns: COLUMNS.replace(from, to) }));
  const few =
    'fewer than 3 queries look up the rows of book for those of author and read only a few short ' +
    'columns of them';
  test.each<[string, readonly string[], typeof source, string]>([
    ['where two queries ask', ASKED.slice(1), source, few],
    [
      'where long columns are read',
      ASKED.map((sql) => sql.replace('b.title', 'b.title, b.blurb').replace('b.year', 'b.blurb')),
      profiledSource(ddl({ blurb: 400 })),
      few,
    ],
    [
      'where queries read only one of both tables',
      [
        'SELECT life FROM author WHERE id = 1',
        'SELECT title FROM book WHERE year = 1950',
        'SELECT count(*) FROM book',
      ],
      source,
      few,
    ],
    [
      'where a join is another one',
      [1, 2, 3].map(
        (n) => `SELECT a.life, b.title FROM author a JOIN book b ON b.year = a.id AND b.bid > ${n}`,
      ),
      source,
      few,
    ],
    [
      'where subqueries ask',
      [1, 2, 3].map(
        (n) =>
          `SELECT a.life FROM author a WHERE a.id > ${n} AND EXISTS (SELECT 1 FROM book b WHERE ` +
          'b.author_id = a.id AND b.year = 1950)',
      ),
      source,
      few,
    ],
    [
      'where children have no key',
      ASKED,
      profiledSource(
        `${ddl({ columns: COLUMNS.replace('author_id INTEGER NOT NULL', 'author_id INTEGER') })} ` +
          `INSERT INTO book VALUES (90000, NULL, 't', 1900, 's', 'b');`,
      ),
      '1 rows of book have no key, and a parent without a flag would find them',
    ],
    [
      'where keys are stored in two ways',
      ASKED,
      other('author_id INTEGER', 'author_id TEXT'),
      'author_id is stored otherwise than its parent’s key, so a flag would not find the children',
    ],
    [
      'where the workload hardly gains',
      [
        ...ASKED,
        ...Array.from(
          { length: 400 },
          (_, n) => `SELECT blurb FROM book WHERE blurb LIKE '%${n}%'`,
        ),
      ],
      source,
      'the workload would not be cheaper by 5 % with them repeated in their parents',
    ],
  ])('%s', (_, sql, from, reason) => {
    const { choice, pattern } = propose(sql, from);
    expect(choice.outlier).toBeUndefined();
    expect(pattern).toHaveLength(1);
    expect(pattern[0]).toMatch(
      /^considered author and book: 99 % of the rows of author have at most 5 rows of book, one has /,
    );
    expect(pattern[0]).toContain(`Left: ${reason}.`);
  });

  test.each<[string, typeof limits]>([
    ['where no parent has too many to be embedded', { maxArrayP99: 100, maxArray: 2000 }],
    ['where more than one parent in a hundred has many', { maxArrayP99: 3, maxArray: 1000 }],
  ])('unsaid %s', (_, within) => {
    const { choice, pattern } = propose(ASKED, source, [], within);
    expect(choice.outlier).toBeUndefined();
    expect(pattern).toEqual([]);
  });

  test('where the arrays could outgrow a document', () => {
    const { catalog, profile } = source;
    const longer = {
      ...profile,
      tables: profile.tables.map((table) => ({
        ...table,
        columns: table.columns.map((column) =>
          column.column === 'title' ? { ...column, maxBytes: 250 } : column,
        ),
      })),
      relationships: profile.relationships.map((relationship) => ({
        ...relationship,
        fanOut: { ...relationship.fanOut, max: 60_000 },
      })),
    };
    const within = { maxArrayP99: 40_000, maxArray: 50_000 };
    expect(propose(ASKED, { catalog, profile: longer }, [], within).pattern[0]).toContain(
      'Left: the largest document would reach about 11 MB.',
    );
    expect(
      propose(ASKED, { catalog, profile: longer }, [], { ...within, maxArrayP99: 100 }).choice
        .outlier,
    ).toBeDefined();
  });

  test('where a key has several columns, or one of both is no document of its own', () => {
    const { profile } = source;
    const relationship = profile.relationships.find(({ id }) => id === ID)!;
    const within = (id: string, childTable: string) => ({
      ...profile,
      relationships: [
        ...profile.relationships,
        { ...relationship, id, childTable, parentTable: 'shelf' },
      ],
    });
    expect(outlierObstacle(relationship, new Map(), profile)).toBeUndefined();
    expect(outlierObstacle({ ...relationship, childColumns: ['a', 'b'] }, new Map(), profile)).toBe(
      'the key has 2 columns, and a flag holds one',
    );
    for (const table of ['author', 'book'])
      expect(outlierObstacle(relationship, new Map([['x', 'embed']]), within('x', table))).toBe(
        `${table} is embedded in shelf`,
      );
    for (const table of ['author', 'book'])
      expect(outlierObstacle(relationship, new Map([['x', 'bucket']]), within('x', table))).toBe(
        `${table} lies in buckets`,
      );
  });

  test('where a reviewer does without it, or copies spare the lookups', () => {
    const without: Directive = { kind: 'without_field', relationship: ID, field: 'book' };
    expect(propose(ASKED, source, [without]).choice.outlier).toBeUndefined();
    expect(propose(ASKED, source, [without]).pattern[0]).toContain(
      'Left: a reviewer wants to do without book.',
    );
    const copied = propose(
      [1, 2, 3].map((n) => `SELECT a.name, b.title ${FROM} WHERE b.year = ${1900 + n}`),
      source,
      [{ kind: 'relationship', relationship: ID, choice: 'copy' }],
    );
    expect(copied.choice).toMatchObject({ choice: 'copy', columns: ['name'] });
    expect(copied.pattern[0]).toContain(`Left: ${few}.`);
  });

  test('where a subset or a stored aggregate answers the same queries', () => {
    const first = [1, 2, 3].map(
      (n) => `SELECT a.life, b.year ${FROM} WHERE a.id > ${n} ORDER BY b.year LIMIT 3`,
    );
    const counts = [1, 2, 3].map(
      (n) => `SELECT a.life, count(b.year) ${FROM} WHERE a.id > ${n} GROUP BY a.id`,
    );
    expect(propose(first).choice).toMatchObject({ subset: { field: 'book_by_year' } });
    expect(propose(counts).choice).toMatchObject({ computed: [{ field: 'book_count_year' }] });
    for (const sql of [first, counts]) {
      expect(propose(sql).choice.outlier).toBeUndefined();
      expect(propose(sql).pattern[0]).toContain(`Left: ${few}.`);
    }
    expect(propose([...first, ...ASKED]).choice).toMatchObject({
      subset: { field: 'book_by_year' },
      outlier: { columns: ['title', 'year'], queries: 3 },
    });
  });
});

test('at most six columns, those of the most frequent queries', () => {
  const wide = profiledSource(
    ddl({
      columns: COLUMNS.replace(
        'blurb TEXT',
        'blurb TEXT, c1 TEXT DEFAULT 1, c2 TEXT DEFAULT 2, c3 TEXT DEFAULT 3, c4 TEXT DEFAULT 4',
      ),
    }).replaceAll(
      'INSERT INTO book SELECT',
      'INSERT INTO book (bid, author_id, title, year, shelf, blurb) SELECT',
    ),
  );
  const { choice } = propose(
    [
      ...ASKED,
      ...ASKED.map((sql) => sql.replace('a.life', 'a.life, b.c1, b.c2')),
      `SELECT a.life, b.c1, b.c2, b.c3, b.c4 ${FROM}`,
      `SELECT a.life, b.shelf ${FROM}`,
    ],
    wide,
  );
  expect(choice.outlier!.columns).toEqual(['title', 'year', 'shelf', 'c1', 'c2']);
  expect(choice.outlier!.queries).toBe(7);
});

test('the estimate: a probe for each parent, documents of outliers’ children alone, entries of all; what-if keeps it', () => {
  const { workload, conceptual, design } = propose(
    ASKED.slice(0, 1).concat(ASKED.slice(0, 1), ASKED.slice(0, 1)),
  );
  const { profile, catalog } = source;
  const cost = (of: DocumentDesign) => new CostModel(of, 'ideal', profile).workload(workload);
  const [kept, apart] = [cost(design), cost(withoutArray(design))];
  const books = profile.tables.find(({ table }) => table === 'book')!.rowCount;
  const elsewhere = outliersOf(
    profile.relationships.find(({ id }) => id === ID)!,
    100,
    profile,
  );
  expect(elsewhere).toMatchObject({ parents: 3, exact: true });
  expect(kept.lookups).toBeCloseTo(3 * 2000);
  expect(kept.documents).toBeCloseTo(3 * (2000 + elsewhere.children));
  expect(apart.documents).toBeGreaterThan(3 * books);
  expect(score(kept)).toBeLessThan(score(apart) * 0.95);
  const { before, after } = whatIf({
    catalog,
    profile,
    workload,
    design: conceptual,
    directives: [],
    limits,
    change: { relationship: ID, choice: 'copy' },
  });
  expect(before.score).toBeLessThan(score(apart) * 0.95);
  expect(after).toBeDefined();
});

test('what-if does without it where the change moves the children', () => {
  const RACK = 'book(bid)->rack(id)';
  const racked = profiledSource(
    `${ddl({ columns: COLUMNS.replace('PRIMARY KEY', 'PRIMARY KEY REFERENCES rack(id)') })} ` +
      `CREATE TABLE rack (id INTEGER PRIMARY KEY, place TEXT); INSERT INTO rack SELECT bid, 'p' ` +
      'FROM book;',
  );
  const { workload, conceptual, choice } = propose(
    [
      ...ASKED,
      ...Array.from({ length: 9 }, (_, n) => `SELECT title FROM book WHERE year = ${1900 + n}`),
    ],
    racked,
    [{ kind: 'relationship', relationship: RACK, choice: 'reference' }],
  );
  expect(choice.outlier).toBeDefined();
  const { problems, after } = whatIf({
    ...racked,
    workload,
    design: conceptual,
    directives: [],
    limits,
    change: { relationship: RACK, choice: 'embed' },
  });
  expect(problems).toEqual([]);
  expect(after).toBeDefined();
});

test('the forecast counts what parents keep: outliers’ children are not among it', () => {
  const { design } = propose(ASKED);
  const of = (which: DocumentDesign) =>
    forecastCollections(which, source.profile).find(({ collection }) => collection === 'author')!;
  expect(of(design).longestArrays).toEqual({ book: 100 });
  const more = of(design).meanBytes - of(withoutArray(design)).meanBytes;
  // Five thousand books in two thousand authors, two fields each.
  expect(more).toBeGreaterThan(2.4 * 2 * 20);
  expect(more).toBeLessThan(2.6 * 2 * 45);
});

test.each([
  [3, { parents: 3, exact: true }],
  [7, { parents: 20, exact: false }],
])(
  'how many outliers there are, where %i parents are: the profile lists five',
  (many, expected) => {
    const { profile } = profiledSource(ddl({ many, rows: 1100 }));
    expect(
      outliersOf(
        profile.relationships.find(({ id }) => id === ID)!,
        100,
        profile,
      ),
    ).toMatchObject(expected);
  },
);
