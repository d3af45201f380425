import { expect, test } from 'vitest';
import { firstBy } from './first-by';

const nameOf = ({ name }: { readonly name: string }): string => name;
const sizeOf = ({ size }: { readonly size: number }): string => String(size);

test('finds the first of several entries with a key, each list and key on its own', () => {
  const list = [
    { name: 'a', size: 1 },
    { name: 'b', size: 2 },
    { name: 'a', size: 3 },
  ];
  expect(firstBy(list, nameOf, 'a')).toBe(list[0]);
  expect(firstBy(list, sizeOf, '3')).toBe(list[2]);
  expect(firstBy([{ name: 'a', size: 4 }], nameOf, 'a')?.size).toBe(4);
});

test('names that every object has are names like others', () => {
  const list = [{ name: 'constructor' }];
  expect(firstBy(list, nameOf, 'constructor')).toBe(list[0]);
  expect(firstBy(list, nameOf, 'toString')).toBeUndefined();
  expect(firstBy(list, nameOf, undefined)).toBeUndefined();
});
