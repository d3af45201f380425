import type Database from 'better-sqlite3';
import type { SqliteValue } from '../../results/value';
import { quoteName as q } from '../catalog';
import type { ColumnProfile, FunctionalDependency } from './profile';

// Work is bounded whatever a table is like: pairs are refuted on a sample, what survives is proven
// on all rows.
const MAX_COLUMNS = 64;
const SAMPLE_ROWS = 5000;
const MAX_PROVEN = 24;
const MAX_DETERMINANT_VALUES = 200_000;
/** A column of which hardly any value repeats would seem to determine everything. */
const MIN_REPEATED_SHARE = 0.05;

export interface DependencySearch {
  readonly functionalDependencies: readonly FunctionalDependency[];
  readonly dependencySearch: { readonly columns: number; readonly rows: number };
}

/**
 * Dependencies of single columns on single columns that are no keys and not constant. Those that
 * are returned hold in all rows.
 */
export function findDependencies(
  sqlite: Database.Database,
  table: string,
  rowCount: number,
  columns: readonly ColumnProfile[],
  keys: readonly (readonly string[])[],
  constants: readonly string[],
): DependencySearch {
  const isKey = (name: string): boolean => keys.some((key) => key.length === 1 && key[0] === name);
  const searched = columns
    .filter(
      ({ column, stored }) =>
        !isKey(column) &&
        !constants.includes(column) &&
        stored.blob === 0 &&
        stored.null < rowCount,
    )
    .slice(0, MAX_COLUMNS);
  const rows = Math.min(rowCount, SAMPLE_ROWS);
  const found = { columns: searched.length, rows };
  const determinants = searched.filter((column) => repeatsEnough(column, rowCount));
  if (searched.length < 2 || determinants.length === 0)
    return { functionalDependencies: [], dependencySearch: found };

  const names = searched.map(({ column }) => column);
  const sample = new Interned(names.length);
  for (const row of scan(sqlite, table, names, rows)) sample.add(row);
  const candidates = determinants
    .map((column) => names.indexOf(column.column))
    .map((from) => ({
      from,
      to: names.flatMap((_, to) => (to !== from && sample.determines(from, to) ? [to] : [])),
    }))
    .filter(({ to }) => to.length > 0)
    .slice(0, MAX_PROVEN);
  const proven = rowCount <= rows ? candidates : prove(sqlite, table, names, candidates);
  return {
    functionalDependencies: proven.map(({ from, to }) => ({
      determinant: [names[from]!],
      dependents: to.map((at) => names[at]!),
    })),
    dependencySearch: found,
  };
}

function repeatsEnough({ stored, distinct }: ColumnProfile, rowCount: number): boolean {
  const filled = rowCount - stored.null;
  return filled - distinct >= Math.max(2, filled * MIN_REPEATED_SHARE);
}

function scan(
  sqlite: Database.Database,
  table: string,
  names: readonly string[],
  limit?: number,
): Iterable<SqliteValue[]> {
  return sqlite
    .prepare(
      `SELECT ${names.map(q).join(', ')} FROM ` +
        `${q(table)}${limit === undefined ? '' : ` LIMIT ${limit}`}`,
    )
    .raw()
    .iterate() as Iterable<SqliteValue[]>;
}

/** Rows as small numbers, so that comparing columns is cheap. Null is 0. */
class Interned {
  readonly #ids: Map<SqliteValue, number>[];
  readonly #columns: number[][];

  constructor(width: number) {
    this.#ids = Array.from({ length: width }, () => new Map<SqliteValue, number>([[null, 0]]));
    this.#columns = Array.from({ length: width }, () => []);
  }

  add(row: readonly SqliteValue[]): void {
    row.forEach((value, index) => {
      const ids = this.#ids[index]!;
      let id = ids.get(value);
      if (id === undefined) ids.set(value, (id = ids.size));
      this.#columns[index]!.push(id);
    });
  }

  determines(from: number, to: number): boolean {
    const [determinant, dependent] = [this.#columns[from]!, this.#columns[to]!];
    const first = new Int32Array(this.#ids[from]!.size).fill(-1);
    return determinant.every((id, row) => {
      if (id === 0) return true;
      if (first[id] === -1) first[id] = dependent[row]!;
      return first[id] === dependent[row];
    });
  }
}

interface Candidate {
  readonly from: number;
  readonly to: readonly number[];
}

/** The candidates that hold in all rows. */
function prove(
  sqlite: Database.Database,
  table: string,
  names: readonly string[],
  candidates: readonly Candidate[],
): Candidate[] {
  if (candidates.length === 0) return [];
  const needed = [...new Set(candidates.flatMap(({ from, to }) => [from, ...to]))].sort(
    (a, b) => a - b,
  );
  const open = candidates.map(({ from, to }) => ({
    from: needed.indexOf(from),
    to: to.map((at) => needed.indexOf(at)),
    seen: new Map<SqliteValue, SqliteValue[]>(),
  }));
  for (const row of scan(
    sqlite,
    table,
    needed.map((at) => names[at]!),
  )) {
    let alive = false;
    for (const candidate of open) {
      const value = row[candidate.from]!;
      if (candidate.to.length === 0) continue;
      alive = true;
      if (value === null) continue;
      const known = candidate.seen.get(value);
      if (!known) candidate.seen.set(value, row);
      else if (candidate.to.some((at) => known[at] !== row[at]))
        candidate.to = candidate.to.filter((at) => known[at] === row[at]);
      // Too many values to hold: nothing is claimed of what was not proven.
      if (candidate.seen.size > MAX_DETERMINANT_VALUES) candidate.to = [];
      if (candidate.to.length === 0) candidate.seen.clear();
    }
    if (!alive) break;
  }
  return open
    .filter(({ to }) => to.length > 0)
    .map(({ from, to }) => ({ from: needed[from]!, to: to.map((at) => needed[at]!) }));
}
