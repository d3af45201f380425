import { expect, test } from 'vitest';
import { conceptualDesignSchema } from './schema';

const relationship = (id: string) => ({ relationship: id, choice: 'reference', reason: 'r' });
const collection = (name: string) => ({ name, rootTable: name, id: { kind: 'ordinal' } });
const design = (relationships: readonly unknown[], collections: readonly unknown[] = []) => ({
  database: 'd',
  strategy: 'access-pattern',
  collections,
  relationships,
  patterns: [],
  document: { source: '', accessPatterns: '', decisions: '', result: '' },
});
const problems = (value: unknown): string[] =>
  conceptualDesignSchema.safeParse(value).error?.issues.map((issue) => issue.message) ?? [];

test('relationships and collections are given once', () => {
  expect(problems(design([relationship('a'), relationship('b')], [collection('x')]))).toEqual([]);
  expect(problems(design([relationship('a'), relationship('a')]))).toEqual([
    'a is given more than once',
  ]);
  expect(problems(design([], [collection('x'), collection('x')]))).toEqual([
    'x is given more than once',
  ]);
});

test.each([3000, 10_000, 100_000])('%d repeated relationships are refused at once', (count) => {
  const started = performance.now();
  const found = problems(design(Array.from({ length: count }, () => relationship('a'))));
  expect(found.length).toBeGreaterThan(0);
  expect(found.length).toBeLessThan(30);
  expect(performance.now() - started).toBeLessThan(2000);
});
