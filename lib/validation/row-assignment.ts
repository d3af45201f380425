import type { Transform } from '../design/model/transform-kind';
import type { Place } from './document-places';
import { lackingRows, rowHashes, type IdColumn } from './id-column';

/** A field that can hold a column, judged by how often each value occurs in both. */
export interface Candidate {
  readonly path: string;
  /** The column's values as the field would hold them. */
  readonly code: IdColumn;
  /** Absent where they are stored as they are. */
  readonly transform?: Transform;
}

const SEARCH_ROUNDS = 3;
const MAX_ALTERNATIVES = 12;
const MAX_SWAPS = 100;
// Rows that the search may compare in all, and limits of the trials that this comes to.
const SEARCH_ROWS = 50_000_000;
const [MIN_TRIALS, MAX_TRIALS] = [60, 2000];

/**
 * A field of its own for each column, such that every row of the table is one entry of the place.
 * Columns are added one after the other, and a candidate stays only while all rows of the columns
 * so far are found: counts leave open which of two words is true, or which of two fields holds a
 * column, and the rows decide it. Undefined where nothing is found.
 */
export function assignByRows(
  columns: readonly (readonly Candidate[])[],
  rows: number,
  place: Place,
): Candidate[] | undefined {
  const order = columns
    .map((_, index) => index)
    .sort((a, b) => columns[a]!.length - columns[b]!.length);
  const pick: Candidate[] = [];
  let trials = Math.min(MAX_TRIALS, Math.max(MIN_TRIALS, Math.floor(SEARCH_ROWS / rows)));
  const extend = (): boolean => {
    if (pick.length === order.length) return true;
    for (const candidate of columns[order[pick.length]!]!) {
      if (pick.some(({ path }) => path === candidate.path)) continue;
      if (trials-- <= 0) return false;
      pick.push(candidate);
      if (rowsApart(pick, rows, place) === 0 && extend()) return true;
      pick.pop();
    }
    return false;
  };
  return extend() ? columns.map((_, index) => pick[order.indexOf(index)]!) : undefined;
}

/**
 * Rows of the table that no entry of the place holds as a whole, when the columns are in these
 * fields.
 */
export function rowsApart(pick: readonly Candidate[], rows: number, place: Place): number {
  const wanted = rowHashes(
    pick.map(({ code }) => code),
    rows,
  );
  return lackingRows(
    wanted,
    rowHashes(
      pick.map(({ path }) => place.columns.get(path)!),
      place.rows,
    ),
  );
}

/**
 * The least number of rows apart that is found by changing the field of one column, or those of
 * two, at a time.
 */
export function leastRowsApart(
  first: readonly Candidate[],
  columns: readonly (readonly Candidate[])[],
  rows: number,
  place: Place,
): number {
  let pick = [...first];
  let now = rowsApart(pick, rows, place);
  const attempt = (trial: Candidate[]): void => {
    const apart = rowsApart(trial, rows, place);
    if (apart < now) [now, pick] = [apart, trial];
  };
  for (let round = 0; now > 0 && round < SEARCH_ROUNDS; round++) {
    for (const [index, candidates] of columns.entries()) {
      for (const candidate of candidates.slice(0, MAX_ALTERNATIVES)) {
        if (now > 0 && candidate !== pick[index]) attempt(pick.with(index, candidate));
      }
    }
    // Two columns with the same values may have each other's fields: neither change alone would
    // help.
    let swaps = 0;
    for (const [a, candidates] of columns.entries()) {
      for (let b = a + 1; b < columns.length; b++) {
        const forA = candidates.find(({ path }) => path === pick[b]!.path);
        const forB = columns[b]!.find(({ path }) => path === pick[a]!.path);
        if (now === 0 || pick[a]!.path === pick[b]!.path || !forA || !forB || ++swaps > MAX_SWAPS)
          continue;
        attempt(pick.with(a, forA).with(b, forB));
      }
    }
  }
  return now;
}
