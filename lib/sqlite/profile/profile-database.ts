import type Database from 'better-sqlite3';
import type { SqliteValue, Value } from '../../results/value';
import type { AskedJoin } from './asked-joins';
import { quoteName as q, type Catalog, type Table } from '../catalog';
import { ColumnProfiler, shorten, type ColumnScan } from './column-profiler';
import { findDependencies } from './functional-dependencies';
import { relationshipCycles } from './relationship-cycles';
import { readRelationships } from './relationships';
import type { ColumnProfile, Profile, TableProfile } from './profile';
import { isValidText, type TextEncoding } from './text-encoding';

export interface ProfileOptions {
  /** Called before a table is read. */
  onTable?(table: string): void;
  /** What the benchmark's queries join. */
  readonly asked?: readonly AskedJoin[];
}

/**
 * Profiles a source database: types as stored, formats, keys, dependencies and relationships. What
 * losslessness stands on (counts, storage classes, keys, orphans, fan-out) is exact; what is
 * estimated or sampled says so. What the benchmark's queries join (`asked`) is evidence of
 * relationships that nobody declared.
 */
export function profileDatabase(
  sqlite: Database.Database,
  catalog: Catalog,
  { onTable, asked }: ProfileOptions = {},
): Profile {
  const tables = catalog.tables.map((table) => {
    onTable?.(table.name);
    return profileTable(sqlite, table);
  });
  const relationships = readRelationships(sqlite, catalog, tables, asked);
  return {
    database: catalog.database,
    encoding: encodingOf(sqlite),
    tables,
    relationships,
    cycles: relationshipCycles(relationships),
  };
}

/** Distinct values held for a table while it is read, over all its columns, and for one column. */
const HELD_VALUES = 1_000_000;
const HELD_VALUES_A_COLUMN = 16_384;
/**
 * Up to here distinct values are counted where they could not be held; beyond, only those of
 * possible keys.
 */
const COUNTED_ROWS = 100_000;
/** Rows are measured only where all of the longest values together would come to this. */
const MEASURED_ROW_BYTES = 1_000_000;

function profileTable(sqlite: Database.Database, table: Table): TableProfile {
  const profilers = table.columns.map(
    () =>
      new ColumnProfiler(
        Math.min(HELD_VALUES_A_COLUMN, Math.ceil(HELD_VALUES / table.columns.length)),
      ),
  );
  let rowCount = 0;
  for (const row of sqlite
    .prepare(`SELECT ${table.columns.map(({ name }) => q(name)).join(', ')} FROM ${q(table.name)}`)
    .raw()
    .iterate() as Iterable<SqliteValue[]>) {
    rowCount++;
    for (let c = 0; c < profilers.length; c++) profilers[c]!.add(row[c]!);
  }
  const columns = table.columns.map(({ name }, c) =>
    settle(sqlite, table, name, rowCount, profilers[c]!.finish()),
  );
  const bytes = columns.reduce(
    (sum, { meanBytes, stored }) => sum + meanBytes * (rowCount - stored.null),
    0,
  );
  const keys = keysThatHold(sqlite, table, rowCount, columns);
  const constants = columns
    .filter(
      ({ distinct, stored }) =>
        rowCount > 0 && (stored.null === rowCount || (distinct === 1 && stored.null === 0)),
    )
    .map(({ column }) => column);
  return {
    table: table.name,
    rowCount,
    columns,
    keys,
    meanRowBytes: rowCount ? bytes / rowCount : 0,
    maxRowBytes: largestRow(sqlite, table.name, columns),
    constants,
    ...findDependencies(sqlite, table.name, rowCount, columns, keys, constants),
  };
}

function largestRow(
  sqlite: Database.Database,
  table: string,
  columns: readonly ColumnProfile[],
): number {
  const longest = columns.reduce((sum, { maxBytes }) => sum + maxBytes, 0);
  if (longest < MEASURED_ROW_BYTES) return longest;
  // What is short everywhere is counted at its longest; a sum of a thousand terms is too deep for
  // SQLite.
  const long = [...columns].sort((a, b) => b.maxBytes - a.maxBytes).slice(0, 100);
  const measured = long.map(({ column }) => `ifnull(octet_length(${q(column)}), 0)`).join(' + ');
  const rest = longest - long.reduce((sum, { maxBytes }) => sum + maxBytes, 0);
  return (
    rest +
    Number(
      sqlite
        .prepare(`SELECT max(${measured}) FROM ${q(table)}`)
        .pluck()
        .get(),
    )
  );
}

/** Asks SQLite for what the scan had to leave open. */
function settle(
  sqlite: Database.Database,
  table: Table,
  column: string,
  rowCount: number,
  scan: ColumnScan,
): ColumnProfile {
  const { mayBeKey, suspectText, orderUnsure, distinctEstimated, distinct, ...known } = scan;
  const countExactly = (): number | undefined => {
    if (!distinctEstimated) return distinct;
    if (mayBeKey && table.rowidAlias && table.primaryKey[0] === column) return rowCount;
    return mayBeKey || rowCount <= COUNTED_ROWS
      ? countDistinct(sqlite, table.name, column)
      : undefined;
  };
  const exact = countExactly();
  return {
    ...known,
    column,
    ...(exact === undefined ? { distinct, distinctEstimated: true } : { distinct: exact }),
    ...(orderUnsure ? bounds(sqlite, table.name, column) : {}),
    invalidUtf8: suspectText ? countInvalidText(sqlite, table.name, column) : 0,
  };
}

const countDistinct = (sqlite: Database.Database, table: string, column: string): number =>
  Number(
    sqlite
      .prepare(`SELECT count(DISTINCT ${q(column)} COLLATE BINARY) FROM ${q(table)}`)
      .pluck()
      .get(),
  );

function bounds(
  sqlite: Database.Database,
  table: string,
  column: string,
): Pick<ColumnProfile, 'min' | 'max'> {
  const [min, max] = sqlite
    .prepare(
      `SELECT min(${q(column)} COLLATE BINARY), max(${q(column)} COLLATE BINARY) FROM ${q(table)}`,
    )
    .raw()
    .get() as [Value, Value];
  return { min: shorten(min), max: shorten(max) };
}

/** The driver shows U+FFFD for bytes that are no text; a blob of the same value shows the bytes. */
function countInvalidText(sqlite: Database.Database, table: string, column: string): number {
  const encoding = encodingOf(sqlite);
  let invalid = 0;
  for (const bytes of sqlite
    .prepare(
      `SELECT CAST(${q(column)} AS BLOB) FROM ${q(table)} WHERE typeof(${q(column)}) = 'text'`,
    )
    .pluck()
    .iterate() as Iterable<Buffer>)
    if (!isValidText(encoding, bytes)) invalid++;
  return invalid;
}

const encodingOf = (sqlite: Database.Database): TextEncoding =>
  sqlite.pragma('encoding', { simple: true }) as TextEncoding;

/**
 * Declared keys that the data keeps (SQLite lets primary keys hold nulls), and single columns that
 * happen to be unique. Texts that are none are no keys: as strings, two of them can be one.
 */
function keysThatHold(
  sqlite: Database.Database,
  table: Table,
  rowCount: number,
  columns: readonly ColumnProfile[],
): string[][] {
  const full = (name: string): boolean =>
    columns.some((c) => c.column === name && c.stored.null === 0 && c.invalidUtf8 === 0);
  const declared = [table.primaryKey, ...table.uniqueKeys].filter(
    (key) => key.length > 1 && key.every(full),
  );
  const holding = declared.filter((key) => {
    const names = key.map((name) => `${q(name)} COLLATE BINARY`).join(',');
    return !sqlite
      .prepare(`SELECT 1 FROM ${q(table.name)} GROUP BY ${names} HAVING count(*) > 1 LIMIT 1`)
      .get();
  });
  const single = columns
    .filter(
      (c) => rowCount > 0 && !c.distinctEstimated && c.distinct === rowCount && full(c.column),
    )
    .map((c) => [c.column]);
  const emptyPrimary = rowCount === 0 && table.primaryKey.length > 0 ? [[...table.primaryKey]] : [];
  return [...holding.map((key) => [...key]), ...single, ...emptyPrimary];
}
