import { expect, test } from 'vitest';
import type { Choice, ConceptualDesign } from '../../lib/design/model/document-design';
import { designDifference } from './design-difference';

const design = (
  choices: readonly [relationship: string, choice: Choice, reason: string][],
  result = '',
): ConceptualDesign => ({
  database: 'shop',
  strategy: 'access-pattern',
  collections: [],
  relationships: choices.map(([relationship, choice, reason]) => ({
    relationship,
    choice,
    reason,
  })),
  patterns: [],
  document: { source: '', accessPatterns: '', decisions: '', result },
});

test('the changed choice stands alone; reasons whose figures alone moved are apart', () => {
  const before = design(
    [
      ['a->b', 'embed', '3 queries, cost 1,200.'],
      ['c->d', 'copy', '7 queries, cost 1,200.'],
      ['e->f', 'copy', '2 queries.'],
    ],
    '| a | 10 |',
  );
  const after = design(
    [
      ['a->b', 'reference', 'A reviewer directed it.'],
      ['c->d', 'copy', '7 queries, cost 1,350.5.'],
      ['e->f', 'copy', '2 queries.'],
    ],
    '| a | 12 |',
  );
  const { decisions, reasons, figures, moved } = designDifference(before, after);
  expect(decisions).toEqual([{ subject: 'a->b', before: 'embed', after: 'reference' }]);
  expect(reasons).toEqual({
    before: 'a->b: 3 queries, cost 1,200.',
    after: 'a->b: A reviewer directed it.',
  });
  expect(figures).toEqual({
    before: 'c->d: 7 queries, cost 1,200.\n| a | 10 |',
    after: 'c->d: 7 queries, cost 1,350.5.\n| a | 12 |',
  });
  expect(moved).toBe(2);
});

test('what a reviewer directed comes first; collections come and go', () => {
  const before = design([
    ['a->b', 'embed', ''],
    ['c->d', 'embed', ''],
  ]);
  const after = design([
    ['a->b', 'copy', ''],
    ['c->d', 'reference', ''],
  ]);
  const directed: ConceptualDesign = {
    ...after,
    relationships: after.relationships.map((choice) =>
      choice.relationship === 'c->d' ? { ...choice, directed: true } : choice,
    ),
    collections: [{ name: 'c', rootTable: 'c', id: { kind: 'ordinal' } }],
  };
  expect(designDifference(before, directed).decisions).toEqual([
    { subject: 'c->d', before: 'embed', after: 'reference — set by reviewer' },
    { subject: 'a->b', before: 'embed', after: 'copy' },
    { subject: 'collection c', before: null, after: 'the rows of c, _id by position' },
  ]);
});

test('equal designs have no difference', () => {
  const one = design([['a->b', 'embed', '3 queries.']]);
  const { decisions, reasons, moved } = designDifference(one, one);
  expect(decisions).toEqual([]);
  expect(reasons).toEqual({ before: '', after: '' });
  expect(moved).toBe(0);
});
