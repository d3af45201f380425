import Database from 'better-sqlite3';
import { expect, it, test } from 'vitest';
import { rowKey } from '../../results/equality';
import type { Value } from '../../results/value';
import { HiddenOrder } from './hidden-order';

const order = (...rows: readonly (readonly [string, number])[]): HiddenOrder =>
  new HiddenOrder(
    [...rows].sort((a, b) => a[1] - b[1]).map(([name, key]) => [name, BigInt(key)]),
    1,
    [1],
  );
const keys = (...names: readonly string[]): string[] => names.map((name) => rowKey([name]));

test('rows with one sort key each have one order', () => {
  const fixed = order(['a', 1], ['b', 2], ['c', 3]);
  expect([0, 1, 2, 3].map((position) => fixed.isFixedAt(position))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(fixed.openRuns(0, 3)).toEqual({ tied: [], isChosen: false });
  expect(fixed.isLegal(keys('a', 'b'), 0)).toBe(true);
  expect(fixed.isLegal(keys('b', 'a'), 0)).toBe(false);
  expect(fixed.isLegal(keys('a', 'c'), 0)).toBe(false);
});

test('equal sort keys tie, which is no choice of a row', () => {
  const tied = order(['a', 1], ['b', 1], ['c', 3]);
  expect(tied.openRuns(0, 3)).toEqual({ tied: [[0, 1]], isChosen: false });
  expect(tied.isFixedAt(1)).toBe(false);
  expect(tied.isLegal(keys('b'), 0)).toBe(true);
  expect(tied.isLegal(keys('c'), 0)).toBe(false);
});

test('a row that may be sorted by several keys is open among those between them', () => {
  const open = order(['a', 1], ['a', 9], ['b', 5], ['c', 10]);
  expect(open.openRuns(0, 3)).toEqual({ tied: [[0, 1]], isChosen: true });
  expect(open.isFixedAt(2)).toBe(true);
  expect(open.isLegal(keys('b'), 0)).toBe(true);
  expect(open.isLegal(keys('c'), 0)).toBe(false);
  expect(open.isLegal(keys('b', 'a', 'c'), 0)).toBe(true);
  expect(open.isLegal(keys('a', 'a'), 0)).toBe(false);
  expect(open.isLegal(keys('d'), 0)).toBe(false);
});

test('what comes before an open position is not decided', () => {
  const open = order(['a', 1], ['a', 9], ['b', 5], ['c', 10]);
  expect(open.isLegal(keys('a'), 1)).toBeUndefined();
  expect(open.isLegal(keys('c'), 2)).toBe(true);
  expect(open.isLegal(keys('a'), 2)).toBe(false);
});

/** Every answer that SQL allows, by trying every choice of a key and every order of ties. */
function legalAnswers(rows: readonly (readonly [string, number])[], limit: number): Set<string> {
  const names = [...new Set(rows.map(([name]) => name))];
  const answers = new Set<string>();
  const choose = (index: number, chosen: readonly (readonly [string, number])[]): void => {
    if (index === names.length) return arrange([...chosen], []);
    for (const [name, key] of rows)
      if (name === names[index]) choose(index + 1, [...chosen, [name, key]]);
  };
  const arrange = (rest: (readonly [string, number])[], placed: readonly string[]): void => {
    if (rest.length === 0 || placed.length === limit) {
      answers.add(placed.join(' '));
      return;
    }
    const least = Math.min(...rest.map(([, key]) => key));
    for (const entry of rest)
      if (entry[1] === least)
        arrange(
          rest.filter((other) => other !== entry),
          [...placed, entry[0]],
        );
  };
  choose(0, []);
  return answers;
}

it('agrees with every choice tried out, and with SQLite', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  for (let round = 0; round < 300; round++) {
    const rows = Array.from(
      { length: 1 + random(6) },
      () => ['abcd'[random(4)]!, random(4)] as const,
    );
    const distinct = [...new Map(rows.map((row) => [row.join(), row])).values()];
    const subject = order(...distinct);
    const limit = 1 + random(4);
    const legal = legalAnswers(distinct, limit);
    const names = [...new Set(rows.map(([name]) => name))];
    for (const answer of orders(names, Math.min(limit, names.length)))
      expect(subject.isLegal(keys(...answer), 0)).toBe(legal.has(answer.join(' ')));
    const sets = new Set([...legal].map((answer) => answer.split(' ').sort().join(' ')));
    expect(subject.isFixedAt(limit)).toBe(sets.size === 1);
    expect(legal).toContain(sqliteAnswer(rows, limit).join(' '));
  }
});

function* orders(names: readonly string[], length: number): Generator<string[]> {
  if (length === 0) yield [];
  else
    for (const name of names)
      for (const rest of orders(
        names.filter((other) => other !== name),
        length - 1,
      ))
        yield [name, ...rest];
}

function sqliteAnswer(rows: readonly (readonly [string, number])[], limit: number): Value[] {
  const sqlite = new Database(':memory:');
  sqlite.exec('CREATE TABLE t (a TEXT, b INTEGER)');
  const insert = sqlite.prepare('INSERT INTO t VALUES (?, ?)');
  for (const row of rows) insert.run(...row);
  const answer = sqlite.prepare('SELECT DISTINCT a FROM t ORDER BY b LIMIT ?').pluck().all(limit);
  sqlite.close();
  return answer as Value[];
}
