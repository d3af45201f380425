import { expect, test } from 'vitest';
import { profiledSource } from '../test/design-fixture';
import { describeDesign, designMarkdown } from './describe-design';
import { dispositions } from './disposition';
import type { ConceptualDesign, RelationshipChoice } from '../model/document-design';

const { catalog, profile } = profiledSource(`
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author(id));
  CREATE TABLE "re*view*" (rid INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book(id), stars INTEGER);
  CREATE TABLE chapter (n INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book(id));
  CREATE TABLE "no|te" (chapter INTEGER UNIQUE REFERENCES chapter(n), editor INTEGER REFERENCES author(id), word TEXT);
  INSERT INTO author VALUES (1, 'A'), (2, 'B'); INSERT INTO book VALUES (1, 't', 1); INSERT INTO "re*view*" VALUES (1, 1, 5); INSERT INTO chapter VALUES (1, 1), (2, 1); INSERT INTO "no|te" VALUES (1, 2, 'w');`);

const key = (column: string) =>
  ({ kind: 'column', column, transform: { kind: 'identity' } }) as const;
const REVIEWS: RelationshipChoice = {
  relationship: 're*view*(book_id)->book(id)',
  choice: 'reference',
  reason: 'Referenced.',
  computed: [
    { field: 'count', aggregate: 'count' },
    { field: 'best', aggregate: 'max', column: '<stars>' },
  ],
  subset: {
    field: 'to`p',
    limit: 3,
    orderBy: [{ column: 'sta*rs', direction: 'desc' }],
    columns: ['sta*rs', 'rid'],
  },
};
const draft: Omit<ConceptualDesign, 'document'> = {
  database: 'db',
  strategy: 'access-pattern',
  collections: [
    { name: 'author', rootTable: 'author', id: key('id') },
    { name: 'book', rootTable: 'book', id: key('id') },
    { name: 'reviews', rootTable: 're*view*', id: { kind: 'ordinal' } },
  ],
  relationships: [
    {
      relationship: 'book(author_id)->author(id)',
      choice: 'copy',
      field: 'au`thor',
      columns: ['name'],
      reason: 'Copied.',
    },
    REVIEWS,
    {
      relationship: 'chapter(book_id)->book(id)',
      choice: 'embed',
      field: 'chap_ters',
      cardinality: 'many',
      reason: 'Embedded.',
    },
    {
      relationship: 'no|te(chapter)->chapter(n)',
      choice: 'embed',
      field: 'note',
      cardinality: 'one',
      reason: 'Embedded.',
    },
    {
      relationship: 'no|te(editor)->author(id)',
      choice: 'copy',
      field: 'editor',
      columns: ['name'],
      reason: 'Copied.',
    },
  ],
  patterns: [
    { pattern: 'Unbounded array', target: 'a in b', reason: 'p99 200.', status: 'avoided' },
    { pattern: 'Computed', target: 'book.count', reason: 'count over <b>rows</b>.' },
    { pattern: 'Bucket', target: 're*view*', reason: 'Left.', status: 'considered' },
  ],
};
const { decisions, result } = describeDesign(draft, {
  catalog,
  profile,
  workload: {
    database: 'db',
    patterns: [],
    unread: [],
  },
});

test('the third part says what parents keep of their children', () => {
  expect(decisions).toContain(
    '- **re\\*view\\*\\(book\\_id\\)-&gt;book\\(id\\): reference**. Referenced. The parents keep ' +
      'count (count of the rows); best (max of &lt;stars&gt;); to\\`p (the first 3 rows by ' +
      'sta\\*rs desc: sta\\*rs, rid).\n',
  );
  expect(decisions).toContain(': copy** as au\\`thor (name). Copied.\n');
});

test('the third part names the patterns applied, considered and avoided, with reasons', () => {
  expect(decisions.split('\n\n').slice(1)).toEqual([
    'Patterns applied:',
    '- **Computed** (book.count). count over &lt;b&gt;rows&lt;/b&gt;.',
    'Patterns considered and left:',
    '- **Bucket** (re\\*view\\*). Left.',
    'Anti-patterns avoided:',
    '- **Unbounded array** (a in b). p99 200.',
  ]);
  const bare = describeDesign(
    { ...draft, relationships: [], patterns: [] },
    {
      catalog,
      profile,
      workload: {
        database: 'db',
        patterns: [],
        unread: [],
      },
    },
  );
  expect(bare.decisions).toBe(
    'There are no relationships between the tables.\n\nNo pattern was applied or considered, no ' +
      'anti-pattern avoided.',
  );
});

test('the fourth part says of every collection where the rows of its tables live', () => {
  expect(result.split('\n\n')[0]!.split('\n')).toEqual([
    '- **author**, \\_id from id',
    '  - author: 2 rows, each a document',
    '- **book**, \\_id from id',
    '  - book: 1 row, each a document',
    '  - chapter: 2 rows, in chap\\_ters, an array',
    '  - no\\|te: 1 row, in chap\\_ters.note, one document at most for each parent',
    '- **reviews**, \\_id counts the rows from 1',
    '  - re\\*view\\*: 1 row, each a document',
  ]);
});

test('the fourth part has the table of destinations, with what is retrievable and where copies are', () => {
  const rows = (of: string): string[] => of.split('\n').filter((line) => line.startsWith('|'));
  expect(rows(result)).toEqual([
    '| table | disposition | collection | Ret. | copies in |',
    '|---|---|---|:---:|---|',
    '| author | standalone | author | ✓ | book |',
    '| book | standalone | book | ✓ |  |',
    '| re\\*view\\* | standalone | reviews | ✓ | book |',
    '| chapter | embedded | book | ✓ |  |',
    '| no\\|te | embedded | book | ✓ |  |',
  ]);
  const without = { ...draft, collections: draft.collections.slice(1) };
  expect(
    rows(
      describeDesign(without, {
        catalog,
        profile,
        workload: { database: 'db', patterns: [], unread: [] },
      }).result,
    )[2],
  ).toBe('| author | missing |  | no | book |');
  expect(result).toContain('\n\nIndexes are an artefact of their own, the index design.\n\n');
});

test('a circle of embeddings, which the loss check refuses, has an end', () => {
  const circle = profiledSource(
    'CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b(id)); CREATE TABLE b (id ' +
      'INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id)); INSERT INTO a VALUES (1, 1); INSERT ' +
      'INTO b VALUES (1, 1);',
  ).profile;
  const relationships = circle.relationships.map(({ id }): RelationshipChoice => ({
    relationship: id,
    choice: 'embed',
    reason: '',
  }));
  expect(
    dispositions({ ...draft, collections: [], relationships }, circle).map(
      ({ disposition }) => disposition,
    ),
  ).toEqual(['missing', 'missing']);
});

test('the document has its four parts', () => {
  const document = describeDesign(draft, {
    catalog,
    profile,
    workload: {
      database: 'db',
      patterns: [],
      unread: [],
    },
  });
  const headings = designMarkdown({ ...draft, document })
    .split('\n')
    .filter((line) => line.startsWith('#'));
  expect(headings).toEqual([
    '# Document design of db',
    '## 1. Source schema, domain, and entities',
    '### Entities',
    '## 2. Access patterns',
    '## 3. Modelling decisions',
    '## 4. Collections, indexes, and transformations',
  ]);
});
