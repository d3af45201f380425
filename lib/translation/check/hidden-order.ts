import type { TiedRows } from '../../results/compare';
import { rowKey } from '../../results/equality';
import type { Value } from '../../results/value';
import { equalKeys } from './tied-rows';

/** The first and last place, and every place, of one distinct row in the order of the sort keys. */
interface Group {
  readonly key: string;
  /** Ranks of its sort keys, ascending; rows of equal sort keys have one rank. */
  readonly ranks: number[];
}

/**
 * `SELECT DISTINCT a … ORDER BY b`: several rows with the same `a` may have several `b`, and SQL
 * does not say which of them a distinct row is sorted by. Each choice is a legal answer; SQLite
 * takes the row that it meets first. Decides exactly what is fixed and what is legal.
 */
export class HiddenOrder {
  /** By their first place, then by their last. */
  private readonly groups: readonly Group[];
  private readonly byKey: ReadonlyMap<string, Group>;
  /** By position: every group before it comes before it in every legal order. */
  private readonly fixed: readonly boolean[];

  /**
   * @param rows every distinct combination of result columns and sort keys, in the order of the
   *   keys; the first `width` values are the result
   */
  constructor(rows: readonly (readonly Value[])[], width: number, keys: readonly number[]) {
    const groups = new Map<string, Group>();
    let rank = 0;
    for (const [index, row] of rows.entries()) {
      const before = rows[index - 1];
      const isTied =
        before !== undefined &&
        keys.every((key) => equalKeys(before[key] ?? null, row[key] ?? null));
      if (!isTied) rank++;
      const key = rowKey(row.slice(0, width));
      const group = groups.get(key) ?? { key, ranks: [] };
      groups.set(key, group);
      if (group.ranks.at(-1) !== rank) group.ranks.push(rank);
    }
    this.byKey = groups;
    this.groups = [...groups.values()].sort((a, b) => first(a) - first(b) || last(a) - last(b));
    let reached = 0;
    this.fixed = this.groups.map((group) => {
      const isFixed = reached < first(group);
      reached = Math.max(reached, last(group));
      return isFixed;
    });
  }

  /** Number of distinct rows. */
  get size(): number {
    return this.groups.length;
  }

  /** Every legal answer has the same rows before this position. */
  isFixedAt(position: number): boolean {
    return this.fixed[position] ?? true;
  }

  /**
   * Runs of positions whose rows may come in another order; `isChosen` where the order depends on
   * the choice of a row, not on equal sort keys alone.
   */
  openRuns(from: number, to: number): { readonly tied: readonly TiedRows[]; isChosen: boolean } {
    const tied: TiedRows[] = [];
    let isChosen = false;
    let start = 0;
    for (let position = 1; position <= this.size; position++) {
      if (!this.isFixedAt(position)) continue;
      const run = this.groups.slice(start, position);
      const [begin, end] = [Math.max(start, from), Math.min(position, to)];
      start = position;
      if (run.length < 2 || begin >= end) continue;
      isChosen ||= run.some(({ ranks }) => ranks.length > 1);
      if (end - begin > 1) tied.push([begin - from, end - 1 - from]);
    }
    return { tied, isChosen };
  }

  /**
   * Whether these rows, by their `rowKey`, are a legal answer from this position on. Where what
   * comes before them is open itself, it is not decided: undefined.
   */
  isLegal(keys: readonly string[], from: number): boolean | undefined {
    if (!this.isFixedAt(from)) return undefined;
    const before = new Set(this.groups.slice(0, from).map(({ key }) => key));
    const chosen = new Set(keys);
    if (chosen.size !== keys.length || keys.some((key) => before.has(key))) return false;
    // The least choice for each row leaves the most for those that follow.
    let reached = 0;
    for (const key of keys) {
      const rank = this.byKey.get(key)?.ranks.find((candidate) => candidate >= reached);
      if (rank === undefined) return false;
      reached = rank;
    }
    return this.groups.every(
      (group) => before.has(group.key) || chosen.has(group.key) || last(group) >= reached,
    );
  }
}

const first = ({ ranks }: Group): number => ranks[0]!;
const last = ({ ranks }: Group): number => ranks.at(-1)!;
