import { isInOrder, isPartOf, type TiedRows } from './compare';
import type { ResultSet, Value } from './value';

/**
 * Rows at a LIMIT that cuts a tie: at the positions `rows`, a legal answer has any of the rows
 * `among`, each at most as often as it stands there.
 */
export interface OpenChoice {
  readonly rows: TiedRows;
  readonly among: readonly (readonly Value[])[];
}

/**
 * Whether an answer is a legal choice: the other rows come in the expected order, up to ties.
 * `expected` may be the first rows only of a longer result.
 */
export function isLegalChoice(
  expected: ResultSet['rows'],
  actual: ResultSet['rows'],
  choices: readonly OpenChoice[],
  tied: readonly TiedRows[],
): boolean {
  const isOpen = (row: number): boolean =>
    choices.some(({ rows: [first, last] }) => first <= row && row <= last);
  const fixed = expected.map((row, index) => (isOpen(index) ? (actual[index] ?? row) : row));
  return (
    choices.every(({ rows: [first, last], among }) =>
      isPartOf(actual.slice(first, last + 1), among),
    ) &&
    isInOrder(
      fixed,
      actual,
      tied.filter(([first]) => !isOpen(first)),
    )
  );
}
