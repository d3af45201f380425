import { expect, it, test } from 'vitest';
import { isLegalChoice } from '../../results/open-choice';
import { cutChoices, type CutRows } from './cut-choices';

const rows = [
  ['a', 1n],
  ['b', 2n],
  ['c', 2n],
  ['d', 2n],
  ['e', 3n],
  ['f', 3n],
];
const cut = (offset: number, count: number, change: Partial<CutRows> = {}) =>
  cutChoices({ rows, more: false, width: 1, keys: [1], offset, count, ...change });

it.each([
  ['no tie', 0, 1, []],
  ['a cut between ties', 0, 4, []],
  ['a cut through a tie', 0, 3, [{ rows: [1, 2], among: [['b'], ['c'], ['d']] }]],
  ['one tie at both ends', 2, 1, [{ rows: [0, 0], among: [['b'], ['c'], ['d']] }]],
  [
    'two ties',
    3,
    2,
    [
      { rows: [0, 0], among: [['b'], ['c'], ['d']] },
      { rows: [1, 1], among: [['e'], ['f']] },
    ],
  ],
])('%s', (_, offset, count, choices) => {
  expect(cut(offset, count)).toEqual(choices);
});

test('a LIMIT without order chooses among all rows', () => {
  const all = rows.map(([name]) => [name]);
  expect(cut(0, 2, { keys: [] })).toEqual([{ rows: [0, 1], among: all }]);
});

test('nothing is said of a tie whose end is not known, or that is long', () => {
  expect(cut(0, 5, { more: true })).toBeUndefined();
  expect(cut(0, 3, { more: true })).toHaveLength(1);
  const long = Array.from({ length: 1001 }, (_, at) => [BigInt(at), 1n]);
  expect(cut(0, 3, { rows: long })).toBeUndefined();
});

test('rows that are the same leave nothing to choose', () => {
  expect(cut(0, 1, { rows: [['a', 1n], ['a', 1n]] })).toEqual([]); // prettier-ignore
});

/** Every result of `count` rows, by every order of the rows within each tie. */
function answers(given: readonly (readonly [string, bigint])[], offset: number, count: number) {
  const found = new Map<string, string[][]>();
  const arrange = (placed: readonly string[], rest: readonly (readonly [string, bigint])[]) => {
    if (rest.length === 0) {
      const answer = placed.slice(offset, offset + count);
      found.set(
        answer.join(' '),
        answer.map((name) => [name]),
      );
    }
    for (const [at, [name, key]] of rest.entries())
      if (key === rest[0]![1]) arrange([...placed, name], rest.toSpliced(at, 1));
  };
  arrange([], given);
  return found;
}

it('accepts what some order of the ties gives, and nothing else', () => {
  let seed = 5;
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  for (let round = 0; round < 200; round++) {
    const given = Array.from(
      { length: 2 + random(4) },
      () => ['abc'[random(3)]!, BigInt(random(2))] as const,
    ).sort((a, b) => Number(a[1] - b[1]));
    const offset = random(2);
    const count = Math.min(1 + random(3), given.length - offset);
    const legal = answers(given, offset, count);
    const expected = given.slice(offset, offset + count);
    const choices = cut(offset, count, { rows: given })!;
    const tied = expected.flatMap((row, first) => {
      const last = expected.findLastIndex((other) => other[1] === row[1]);
      const isFirst = expected.findIndex((other) => other[1] === row[1]) === first;
      return isFirst && last > first ? [[first, last] as const] : [];
    });
    const names = expected.map(([name]) => [name]);
    const tries = count === 1 ? ['a', 'b', 'c'] : ['a a', 'a b', 'b a', 'b c', 'c a', 'c c'];
    for (const actual of [
      ...legal.values(),
      ...tries.map((text) => text.split(' ').map((n) => [n])),
    ])
      if (actual.length === count)
        expect(
          isLegalChoice(names, actual, choices, tied),
          `${JSON.stringify(given.map(String))} ${offset} ${count}: ${actual.join(' ')}`,
        ).toBe(legal.has(actual.join(' ')));
  }
});
