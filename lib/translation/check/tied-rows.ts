import type { TiedRows } from '../../results/compare';
import { equalWithin } from '../../results/equality';
import type { Value } from '../../results/value';

/**
 * Two engines add floats in different orders, which changes the last digits of a computed key. Far
 * less than the tolerance of values: within that, moments of a minute apart would be tied.
 */
const KEY_TOLERANCE = 1e-13;

/** Whether rows tie on a sort key. */
export function equalKeys(a: Value, b: Value): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return equalWithin(a, b);
  return a === b || Math.abs(a - b) <= KEY_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

/**
 * Runs of rows with equal sort keys, which may come in any order among themselves.
 * @param rows in the order of the query, each with its sort keys at the positions `keys`
 */
export function tiedRows(
  rows: readonly (readonly Value[])[],
  keys: readonly number[],
): readonly TiedRows[] {
  const tied: TiedRows[] = [];
  const sameKeys = (a: readonly Value[], b: readonly Value[]): boolean =>
    keys.every((key) => equalKeys(a[key] ?? null, b[key] ?? null));
  let first = 0;
  for (let row = 1; row <= rows.length; row++) {
    if (row < rows.length && sameKeys(rows[row - 1]!, rows[row]!)) continue;
    if (row - 1 > first) tied.push([first, row - 1]);
    first = row;
  }
  return tied;
}
