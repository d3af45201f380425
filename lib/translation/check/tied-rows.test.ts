import { expect, test } from 'vitest';
import { equalKeys, tiedRows } from './tied-rows';

test('runs of equal keys, wherever they are', () => {
  const rows = [
    ['a', 1n],
    ['b', 1n],
    ['c', 2n],
    ['d', null],
    ['e', null],
    ['f', 3n],
  ];
  expect(tiedRows(rows, [1])).toEqual([
    [0, 1],
    [3, 4],
  ]);
  expect(tiedRows(rows, [0])).toEqual([]);
  expect(tiedRows(rows, [])).toEqual([[0, 5]]);
  expect(tiedRows([], [0])).toEqual([]);
});

test.each([
  ['the same number', 0.3, 0.3, true],
  ['a sum in another order', 0.1 + 0.2, 0.3, true],
  ['Julian days a minute apart', 2460000.5, 2460000.5 + 1 / 1440, false],
  ['seconds since 1970, a second apart', 1700000000.0, 1700000001.0, false],
  ['integers beyond 2^53', 9007199254740993n, 9007199254740992n, false],
  ['an integer and the same double', 2n, 2, true],
  ['texts', 'a', 'A', false],
] as const)('%s', (_, a, b, tied) => {
  expect([equalKeys(a, b), equalKeys(b, a)]).toEqual([tied, tied]);
});
