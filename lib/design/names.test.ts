import { expect, test } from 'vitest';
import { legalCollectionName, NameSet } from './names';

test.each([
  ['plain', 't'.repeat(300), 't'.repeat(100)],
  ['repaired', `a ${'b'.repeat(300)}`, `aB${'b'.repeat(98)}`],
  ['of two bytes a character', 'é'.repeat(80), 'é'.repeat(50)],
  ['at the end of a character of four bytes', `abc${'𠀀'.repeat(40)}`, `abc${'𠀀'.repeat(24)}`],
  ['just short enough', 'é'.repeat(50), 'é'.repeat(50)],
])('a collection name takes 100 bytes at most: %s', (_, source, legal) => expect(legalCollectionName(source)).toBe(legal));

test('names that are the same once they are cut get a number', () => {
  const names = new NameSet();
  const cut = 't'.repeat(100);
  expect(['a', 'b'].map((end) => names.take(legalCollectionName(`${'t'.repeat(299)}${end}`)))).toEqual([cut, `${cut}_2`]);
});
