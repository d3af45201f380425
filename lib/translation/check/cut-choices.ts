import { rowKey } from '../../results/equality';
import type { OpenChoice } from '../../results/open-choice';
import type { Value } from '../../results/value';
import { equalKeys } from './tied-rows';

export interface CutRows {
  /** In the order of the query, without its LIMIT, each with its sort keys at `keys`. */
  readonly rows: readonly (readonly Value[])[];
  /** There are more rows than these. */
  readonly more: boolean;
  /** Result columns: the first values of a row. */
  readonly width: number;
  readonly keys: readonly number[];
  readonly offset: number;
  /** Rows of the result. */
  readonly count: number;
}

/** Of a longer tie the choice does not ship: its rows would outweigh the result. */
const MOST_CANDIDATES = 1000;

/**
 * The rows among which a LIMIT or OFFSET chooses; undefined where they are too many, or not all
 * known.
 */
export function cutChoices(cut: CutRows): readonly OpenChoice[] | undefined {
  const { rows, more, width, offset, count } = cut;
  const choices: OpenChoice[] = [];
  for (const at of [offset, offset + count]) {
    const group = tieAcross(cut, at);
    if (!group) continue;
    const [start, end] = group;
    if (end - start > MOST_CANDIDATES || (more && end === rows.length)) return undefined;
    const tiedAcross = rows.slice(start, end);
    if (!isChoice(tiedAcross, width)) continue;
    const among = tiedAcross.map((row) => row.slice(0, width));
    const first = Math.max(start, offset) - offset;
    const last = Math.min(end, offset + count) - 1 - offset;
    const isKnown = choices.some(({ rows: [known] }) => known === first);
    if (first <= last && !isKnown) choices.push({ rows: [first, last], among });
  }
  return choices;
}

/** A row on one side of a cut has the sort keys of a row on the other, and is another row. */
export const cutsATie = (cut: CutRows): boolean =>
  [cut.offset, cut.offset + cut.count].some((at) => {
    const group = tieAcross(cut, at);
    return group !== undefined && isChoice(cut.rows.slice(...group), cut.width);
  });

const isChoice = (tied: readonly (readonly Value[])[], width: number): boolean =>
  new Set(tied.map((row) => rowKey(row.slice(0, width)))).size > 1;

/** The tie, from its first row up to behind its last, of which rows stand on both sides of `at`. */
function tieAcross({ rows, keys }: CutRows, at: number): readonly [number, number] | undefined {
  const isTied = (index: number): boolean => {
    const [before, after] = [rows[index - 1], rows[index]];
    return (
      before !== undefined &&
      after !== undefined &&
      keys.every((key) => equalKeys(before[key] ?? null, after[key] ?? null))
    );
  };
  if (!isTied(at)) return undefined;
  let [start, end] = [at, at];
  while (isTied(start)) start--;
  while (isTied(end)) end++;
  return [start, end];
}
