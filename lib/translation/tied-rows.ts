import type { TiedRows } from '../results/compare';
import { equalWithin } from '../results/equality';
import type { Value } from '../results/value';

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
    keys.every((key) => equalWithin(a[key] ?? null, b[key] ?? null));
  let first = 0;
  for (let row = 1; row <= rows.length; row++) {
    if (row < rows.length && sameKeys(rows[row - 1]!, rows[row]!)) continue;
    if (row - 1 > first) tied.push([first, row - 1]);
    first = row;
  }
  return tied;
}
