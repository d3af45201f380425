import { describe, expect, test } from 'vitest';
import { parseSelect } from '../../sqlite/select/parse-select';
import { bindSelect } from '../../sqlite/select/bind';
import { queryBlocks } from '../../sqlite/select/query-blocks';
import { score } from '../model/score';
import { CostModel } from '../cost/cost-model';
import { profiledSource } from '../test/design-fixture';
import type { Directive } from '../model/directive';
import { deriveDesign } from '../logical/logical';
import { checkDesign } from '../limits/loss-check';
import { proposeDesign } from '../propose/propose';
import { readWorkload } from '../model/read-workload';
import { leadsWith, topRows } from './subsets';
import { whatIf } from '../propose/what-if';

const limits = { maxArrayP99: 100, maxArray: 1000 };
const ID = 'review(book_id)->book(id)';
/** Four books with 500 reviews each: far too many for an array. */
const DDL = `
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
  INSERT INTO book VALUES (1, 'A'), (2, 'B'), (3, 'C'), (4, 'D');
  CREATE TABLE review (rid INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES book(id), stars INTEGER NOT NULL, day TEXT NOT NULL, body TEXT);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO review SELECT i, 1 + i % 4, i % 5, date('2020-01-01', '+' || i || ' days'), printf('%.300c', 'x') FROM n;`;
const { catalog, profile } = profiledSource(DDL);
const relationship = profile.relationships.find(({ id }) => id === ID)!;

const FROM = 'FROM book b JOIN review r ON r.book_id = b.id';
const newest = (title: string, limit = 3): string =>
  `SELECT r.stars, r.day ${FROM} WHERE b.title = '${title}' ORDER BY r.day DESC LIMIT ${limit}`;

function propose(sql: readonly string[], directives: readonly Directive[] = []) {
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
    limits,
    directives,
  });
  const design = deriveDesign({ conceptual, catalog, profile, directives: [] });
  expect(checkDesign(design, catalog, profile, limits)).toEqual([]);
  return {
    workload,
    conceptual,
    design,
    choice: conceptual.relationships.find((entry) => entry.relationship === ID)!,
  };
}

describe('a subset is proposed', () => {
  test('where three queries ask for the first rows and nothing else, as long as the longest of them', () => {
    const { choice, design, conceptual } = propose([newest('A'), newest('B', 5), newest('C')]);
    expect(choice.subset).toEqual({
      field: 'review_by_day',
      limit: 5,
      orderBy: [{ column: 'day', direction: 'desc' }],
      columns: ['day', 'stars'],
      queries: 3,
    });
    expect(design.logical.find(({ rootTable }) => rootTable === 'book')!.fields).toMatchObject([
      { name: 'title' },
      { kind: 'subset', name: 'review_by_day', limit: 5 },
    ]);
    expect(conceptual.patterns.find(({ pattern }) => pattern === 'Subset')).toMatchObject({
      target: 'book.review_by_day',
      reason: 'The first 5 rows of review by day desc, of up to 500: 3 queries ask for no others.',
    });
  });

  test.each<[string, readonly string[]]>([
    ['two queries are not enough', [newest('A'), newest('A')]],
    ['orders differ', [newest('A'), newest('B'), `SELECT r.stars ${FROM} ORDER BY r.day LIMIT 3`]],
    ['more rows than a page', [newest('A', 50), newest('B', 50), newest('C', 50)]],
    [
      'a filter on the child',
      [1, 2, 3].map(
        (stars) => `SELECT r.day ${FROM} WHERE r.stars = ${stars} ORDER BY r.day DESC LIMIT 3`,
      ),
    ],
    [
      'values too long to copy',
      [1, 2, 3].map((id) => `SELECT r.body ${FROM} WHERE b.id = ${id} ORDER BY r.day DESC LIMIT 3`),
    ],
  ])('but not where %s', (_, sql) => {
    expect(propose(sql).choice.subset).toBeUndefined();
  });
});

test('a reviewer can do without a field that parents keep', () => {
  const counts = [1, 2].map(
    (id) => `SELECT b.title, count(*) ${FROM} WHERE b.id > ${id} GROUP BY b.id`,
  );
  const asked = [newest('A'), newest('B'), newest('C'), ...counts];
  const [subset, count] = ['review_by_day', 'review_count'].map((field): Directive => ({
    kind: 'without_field',
    relationship: ID,
    field,
  }));
  expect(propose(asked).choice).toMatchObject({
    subset: { field: 'review_by_day' },
    computed: [{ field: 'review_count' }],
  });
  expect(propose(asked, [subset!]).choice.subset).toBeUndefined();
  expect(propose(asked, [subset!]).choice.computed).toHaveLength(1);
  expect(propose(asked, [count!]).choice.computed).toBeUndefined();
});

test('the estimate knows what it saves, and what-if keeps it', () => {
  const { workload, conceptual, design } = propose([newest('A'), newest('B'), newest('C')]);
  const without = {
    ...design,
    logical: design.logical.map((logical) => ({
      ...logical,
      fields: logical.fields.filter(({ kind }) => kind !== 'subset'),
    })),
  };
  const cost = (of: typeof design): number =>
    score(new CostModel(of, 'ideal', profile).workload(workload));
  expect(cost(design)).toBeLessThan(cost(without) / 10);
  const { before, after } = whatIf({
    catalog,
    profile,
    workload,
    design: conceptual,
    directives: [],
    limits,
    change: { relationship: ID, choice: 'copy' },
  });
  expect(before.score).toBeLessThan(cost(without) / 10);
  expect(after!.score).toBeLessThan(cost(without) / 10);
});

test.each<[string, boolean]>([
  [newest('A'), true],
  [`SELECT r.day ${FROM} ORDER BY r.day DESC NULLS FIRST LIMIT 3`, false],
  [`SELECT r.day ${FROM} ORDER BY lower(r.day) LIMIT 3`, false],
  [`SELECT r.day ${FROM} ORDER BY r.day LIMIT 3 OFFSET 2`, false],
  [`SELECT r.day ${FROM} ORDER BY b.title, r.day LIMIT 3`, false],
  [`SELECT DISTINCT r.day ${FROM} ORDER BY r.day LIMIT 3`, false],
  [`SELECT r.day ${FROM} AND r.stars = b.id ORDER BY r.day LIMIT 3`, false],
  ['SELECT r.day FROM book b, review r ORDER BY r.day LIMIT 3', false],
  [`SELECT r.day ${FROM} ORDER BY r.day`, false],
])('%s: %s', (sql, expected) => {
  const [block] = queryBlocks(bindSelect(parseSelect(sql), catalog).query);
  expect(topRows(block!, relationship) !== undefined).toBe(expected);
});

test('an order leads another when it begins with it', () => {
  const [day, stars] = [
    { column: 'day', direction: 'desc' },
    { column: 'stars', direction: 'asc' },
  ] as const;
  expect([
    leadsWith([day, stars], [day]),
    leadsWith([day], [day, stars]),
    leadsWith([day], [{ ...day, direction: 'asc' }]),
    leadsWith([day], [{ ...day, column: 'DAY' }]),
  ]).toEqual([true, false, false, true]);
});
