import { firstBy } from '../first-by';
import type { Value } from '../../results/value';
import type { NumberTexts } from './number-format';
import type { TextEncoding } from './text-encoding';
import type { ValueFormat } from './value-formats';

export type { ValueFormat } from './value-formats';

/** What the data of a source database is like: types as stored, not as declared. */
export interface Profile {
  readonly database: string;
  readonly encoding: TextEncoding;
  readonly tables: readonly TableProfile[];
  readonly relationships: readonly Relationship[];
  /**
   * Circles of relationships, each as the ids along it, child to parent; a self-reference is a
   * circle of one.
   */
  readonly cycles: readonly (readonly string[])[];
}

export interface TableProfile {
  readonly table: string;
  readonly rowCount: number;
  readonly columns: readonly ColumnProfile[];
  /**
   * Column sets that are unique and free of nulls in the data: declared keys that hold, and single
   * columns.
   */
  readonly keys: readonly (readonly string[])[];
  /** Mean bytes of a row's values, as BSON would carry them. */
  readonly meanRowBytes: number;
  /**
   * Bytes of the largest row: measured where it could matter, else the sum of each column's longest
   * value.
   */
  readonly maxRowBytes: number;
  /** Columns with one and the same value in every row, null included. */
  readonly constants: readonly string[];
  readonly functionalDependencies: readonly FunctionalDependency[];
  /**
   * What was searched for functional dependencies. Those listed hold in all rows, whatever was
   * searched.
   */
  readonly dependencySearch: { readonly columns: number; readonly rows: number };
}

/**
 * Rows that agree in `determinant`, which is no key, agree in every one of `dependents`. Null
 * determinants do not count.
 */
export interface FunctionalDependency {
  readonly determinant: readonly string[];
  readonly dependents: readonly string[];
}

/** How many values of a column are stored in each of SQLite's storage classes. */
export interface StorageCounts {
  readonly null: number;
  readonly integer: number;
  readonly real: number;
  readonly text: number;
  readonly blob: number;
}

export interface ColumnProfile {
  readonly column: string;
  readonly stored: StorageCounts;
  readonly distinct: number;
  /**
   * True where `distinct` is an estimate, right to about 2 %: long columns of large tables that
   * cannot be keys.
   */
  readonly distinctEstimated?: boolean;
  /** By SQLite's order, nulls left out; null when all values are. Text is cut at 200 characters. */
  readonly min: Value;
  readonly max: Value;
  /**
   * Longest value in bytes, and the mean over values that are not null, as BSON would carry them.
   */
  readonly maxBytes: number;
  readonly meanBytes: number;
  /** Formats that every non-null text value of the column has. */
  readonly formats: readonly ValueFormat[];
  /** How many values have each format: text, and integers that read as 0 and 1 or as a month. */
  readonly formatCounts: Readonly<Partial<Record<ValueFormat, number>>>;
  /** Of a column that holds texts alone: the format of its numbers, where each is the text of one. */
  readonly numbers?: NumberTexts;
  /**
   * The most frequent values, at most five, with exact counts; of a long column, among its first
   * distinct values. Empty where more than five values occur once each.
   */
  readonly topValues: readonly { readonly value: Value; readonly count: number }[];
  /** Texts that end in a blank. */
  readonly trailingBlanks: number;
  /** Texts whose bytes are not valid in the database's encoding. */
  readonly invalidUtf8: number;
  /** Reals that are infinite; SQLite stores NaN as null. */
  readonly nonFinite: number;
}

/**
 * Child rows point to parent rows: declared as a foreign key, or inferred from inclusion and names.
 */
export interface Relationship {
  /** `child(columns)->parent(columns)`; unique in the database. */
  readonly id: string;
  readonly childTable: string;
  readonly childColumns: readonly string[];
  readonly parentTable: string;
  readonly parentColumns: readonly string[];
  readonly declared: boolean;
  /** For an inferred one: why. */
  readonly evidence?: string;
  /** True when the parent columns are unique and not null in the data. */
  readonly parentIsKey: boolean;
  /** Child rows with a key that no parent has. */
  readonly orphans: number;
  /** Child rows where a key column is null. */
  readonly nullKeys: number;
  /**
   * True when every matched child's key is stored exactly as its parent's (same storage class, same
   * bytes).
   */
  readonly sameStorage: boolean;
  readonly selfReference: boolean;
  readonly fanOut: FanOut;
}

/** Children per parent over all parents, those without children included. */
export interface FanOut {
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly childlessParents: number;
}

/** Every child row has exactly one parent, so that embedding it loses nothing. */
export const isTotal = (relationship: Relationship): boolean =>
  relationship.parentIsKey && relationship.orphans === 0 && relationship.nullKeys === 0;

export const isOneToOne = (relationship: Relationship): boolean =>
  relationship.parentIsKey && relationship.fanOut.max <= 1;

const tableName = ({ table }: TableProfile): string => table;
const columnName = ({ column }: ColumnProfile): string => column;
const relationshipId = ({ id }: Relationship): string => id;

/** The profile of a table, by its name as the catalog spells it. */
export const tableProfile = (
  profile: Profile,
  name: string | undefined,
): TableProfile | undefined => firstBy(profile.tables, tableName, name);

/** The relationship with this id. */
export const relationshipById = (
  profile: Profile,
  id: string | undefined,
): Relationship | undefined => firstBy(profile.relationships, relationshipId, id);

export function columnProfile(
  profile: Profile,
  table: string,
  column: string,
): ColumnProfile | undefined {
  const columns = tableProfile(profile, table)?.columns;
  return columns && firstBy(columns, columnName, column);
}

/** 0 for a table that the profile does not know. */
export const rowCount = (profile: Profile, name: string): number =>
  tableProfile(profile, name)?.rowCount ?? 0;
