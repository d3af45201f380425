import { expect, test } from 'vitest';
import { foldText } from './fold-text';

test.each<[string, Parameters<typeof foldText>[1], string]>([
  ['aB É ', 'BINARY', 'aB É '],
  ['aB É ', 'NOCASE', 'ab É '],
  ['aB  \t  ', 'RTRIM', 'aB  \t'],
  ['   ', 'RTRIM', ''],
])('%j under %s', (text, collation, folded) => expect(foldText(text, collation)).toBe(folded));

test('200,000 spaces in the middle take no longer than reading them', () => {
  const text = `${' '.repeat(200_000)}x`;
  const started = performance.now();
  expect(foldText(text, 'RTRIM')).toBe(text);
  expect(performance.now() - started).toBeLessThan(500);
});
