import { firstBy } from './first-by';

/**
 * The schema of one source database as SQLite reports it. Produced by `readCatalog` in
 * `./introspect`.
 */
export interface Catalog {
  /** The source database's name: its file's name without the extension. */
  readonly database: string;
  /** Hex SHA-256 of the file. */
  readonly sha256: string;
  readonly tables: readonly Table[];
  /** Queries that go by a name; absent without any. They hold no rows of their own. */
  readonly views?: readonly View[];
  /** Virtual tables, which are not migrated; absent without any. */
  readonly leftOut?: readonly string[];
}

export interface View {
  readonly name: string;
  readonly columns: readonly string[];
  /** The text behind AS. */
  readonly select: string;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Declared primary key in key order; empty when there is none. */
  readonly primaryKey: readonly string[];
  /**
   * True when the primary key is a single INTEGER PRIMARY KEY column, an alias of the rowid:
   * unique, never null.
   */
  readonly rowidAlias: boolean;
  readonly withoutRowid: boolean;
  /** Other declared unique keys. */
  readonly uniqueKeys: readonly (readonly string[])[];
  readonly foreignKeys: readonly ForeignKey[];
}

export interface Column {
  readonly name: string;
  /** As written in CREATE TABLE; may be empty. */
  readonly declaredType: string;
  readonly affinity: Affinity;
  readonly collation: 'BINARY' | 'NOCASE' | 'RTRIM';
  readonly notNull: boolean;
  /** From the benchmark's column descriptions, where there are any. */
  readonly description?: string;
}

/** Column affinity by the rules of https://www.sqlite.org/datatype3.html §3.1. */
export type Affinity = 'TEXT' | 'NUMERIC' | 'INTEGER' | 'REAL' | 'BLOB';

/**
 * A declared foreign key, names in the case of the schema; `resolved` is false when its parent does
 * not exist.
 */
export interface ForeignKey {
  readonly columns: readonly string[];
  readonly toTable: string;
  readonly toColumns: readonly string[];
  readonly resolved: boolean;
}

/**
 * §3.1 of the same page; the order of the tests is the rule. `ANY` of a STRICT table is none of
 * these: it has BLOB.
 */
export function affinityOf(declaredType: string): Affinity {
  const type = declaredType.toUpperCase();
  if (type.includes('INT')) return 'INTEGER';
  if (/CHAR|CLOB|TEXT/.test(type)) return 'TEXT';
  if (type === '' || type.includes('BLOB')) return 'BLOB';
  if (/REAL|FLOA|DOUB/.test(type)) return 'REAL';
  return 'NUMERIC';
}

/** A name as SQLite compares it. */
export const foldName = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** SQLite compares identifiers case-insensitively, in ASCII only. */
export const sameName = (a: string, b: string): boolean => a === b || foldName(a) === foldName(b);

const exactName = ({ name }: Table): string => name;
const foldedName = ({ name }: Table): string => foldName(name);

/** The table with this very name, as the catalog spells it. */
export const tableNamed = (catalog: Catalog, name: string | undefined): Table | undefined =>
  firstBy(catalog.tables, exactName, name);

/** The table that SQL means by this name. */
export const findTable = (catalog: Catalog, name: string): Table | undefined =>
  firstBy(catalog.tables, foldedName, foldName(name));

export const findColumn = (table: Table, name: string): Column | undefined =>
  table.columns.find((column) => sameName(column.name, name));

/** An identifier, quoted for SQL. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
