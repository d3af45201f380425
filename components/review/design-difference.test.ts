import { expect, test } from 'vitest';
import type { Choice, ConceptualDesign } from '../../lib/design/document-design';
import { designDifference } from './design-difference';

const design = (choices: readonly [relationship: string, choice: Choice, reason: string][], result = ''): ConceptualDesign => ({
  database: 'shop',
  strategy: 'access-pattern',
  collections: [],
  relationships: choices.map(([relationship, choice, reason]) => ({ relationship, choice, reason })),
  patterns: [],
  document: { source: '', accessPatterns: '', decisions: '', result },
});

test('the changed choice stands alone; reasons whose figures alone moved are apart', () => {
  const before = design([['a->b', 'embed', '3 queries, cost 1,200.'], ['c->d', 'copy', '7 queries, cost 1,200.'], ['e->f', 'copy', '2 queries.']], '| a | 10 |');
  const after = design([['a->b', 'reference', 'A reviewer directed it.'], ['c->d', 'copy', '7 queries, cost 1,350.5.'], ['e->f', 'copy', '2 queries.']], '| a | 12 |');
  const { choices, reasons, figures, moved } = designDifference(before, after);
  expect([choices.before, choices.after].map((text) => text.split('\n').filter((line) => /embed|reference/.test(line)))).toEqual([['    embed'], ['    reference']]);
  expect(choices.after).not.toContain('queries');
  expect(reasons).toEqual({ before: 'a->b: 3 queries, cost 1,200.', after: 'a->b: A reviewer directed it.' });
  expect(figures).toEqual({ before: 'c->d: 7 queries, cost 1,200.\n| a | 10 |', after: 'c->d: 7 queries, cost 1,350.5.\n| a | 12 |' });
  expect(moved).toBe(2);
});

test('equal designs have no difference', () => {
  const one = design([['a->b', 'embed', '3 queries.']]);
  const { choices, reasons, moved } = designDifference(one, one);
  expect(choices.before).toBe(choices.after);
  expect(reasons).toEqual({ before: '', after: '' });
  expect(moved).toBe(0);
});
