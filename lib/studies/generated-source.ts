import Database from 'better-sqlite3';
import { catalogOf } from '../sqlite/schema/introspect';
import { sameName, type Catalog } from '../sqlite/catalog';
import type { BoundQuery } from '../sqlite/select/bound';
import { tryReadSql } from '../sqlite/select/read-sql';
import {
  calculatedColumns,
  comparedConstants,
  witnessOf,
  type Constant,
  type Demand,
  type Witness,
} from './witness';

/** A schema as the benchmarks' `tables.json` gives it. */
export interface SchemaFile {
  readonly db_id: string;
  readonly table_names_original: readonly string[];
  /** Table (by position, −1 for `*`) and name. */
  readonly column_names_original: readonly (readonly [number, string])[];
  readonly column_types: readonly string[];
  /** A column, or the columns of a key of several, by position. */
  readonly primary_keys: readonly (number | readonly number[])[];
  /** Child and parent column, by position. */
  readonly foreign_keys: readonly (readonly [number, number])[];
}

export interface GenerateOptions {
  readonly schema: SchemaFile;
  /** Queries whose constants are sown, and whose results should not be empty. */
  readonly sql: readonly string[];
  /** In [0, 1), from a seed. */
  readonly random: () => number;
  /** Rows of each table before any query asks for one. */
  readonly baseRows?: number;
  /** Rows sown for each query and use of a table. */
  readonly witnesses?: number;
}

/**
 * Writes a small database of a schema at `path`, with rows that the queries' own constants select.
 */
export function generateSource(path: string, options: GenerateOptions): void {
  const sqlite = new Database(path);
  try {
    sqlite.pragma('foreign_keys = OFF');
    sqlite.exec(ddlOf(options.schema));
    const catalog = catalogOf(sqlite, { name: options.schema.db_id, sha256: '', descriptions: {} });
    const rows = new Sower(catalog, options).sow();
    sqlite.transaction(() => {
      for (const { table, values } of rows) {
        const names = [...values.keys()];
        sqlite
          .prepare(
            `INSERT OR IGNORE INTO ${quote(table)} (${names.map(quote).join(', ')}) VALUES ` +
              `(${names.map(() => '?').join(', ')})`,
          )
          .run(...values.values());
      }
    })();
  } finally {
    sqlite.close();
  }
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The DDL of a schema file; its types are the words that SQLite's affinity rules know. */
export function ddlOf(schema: SchemaFile): string {
  const columnName = (at: number): string => quote(schema.column_names_original[at]?.[1] ?? '');
  const tableOf = (at: number): number => schema.column_names_original[at]?.[0] ?? -1;
  return schema.table_names_original
    .map((table, number) => {
      const key = schema.primary_keys
        .map((entry) => (typeof entry === 'number' ? [entry] : entry))
        .find(([first]) => first !== undefined && tableOf(first) === number);
      const columns = schema.column_names_original.flatMap(([owner], index) =>
        owner === number ? [`${columnName(index)} ${schema.column_types[index] ?? ''}`] : [],
      );
      const foreign = schema.foreign_keys
        .filter(([child]) => tableOf(child) === number)
        .map(
          ([child, parent]) =>
            `FOREIGN KEY (${columnName(child)}) REFERENCES ` +
            `${quote(schema.table_names_original[tableOf(parent)] ?? '')}(${columnName(parent)})`,
        );
      return (
        `CREATE TABLE ${quote(table)} ` +
        `(${[...columns, ...(key ? [`PRIMARY KEY (${key.map(columnName).join(', ')})`] : []), ...foreign].join(', ')});`
      );
    })
    .join('\n');
}

interface Row {
  readonly table: string;
  readonly values: Map<string, Constant | null>;
  /** Columns that a query asked for. */
  readonly sown: Set<string>;
}

class Sower {
  private readonly rows: Row[] = [];
  private readonly byKey = new Map<string, Row>();
  private readonly constants = new Map<string, Constant[]>();
  private readonly calculated = new Set<string>();
  private readonly parents = new Map<string, { table: string; column: string }>();
  private serial = 1000;

  constructor(
    private readonly catalog: Catalog,
    private readonly options: GenerateOptions,
  ) {}

  sow(): readonly Row[] {
    const queries = this.options.sql.flatMap((sql) => this.bind(sql));
    for (const query of queries) {
      for (const { table, column, value } of comparedConstants(query))
        this.constants.set(id(table, column), [
          ...(this.constants.get(id(table, column)) ?? []),
          value,
        ]);
      for (const { table, column } of calculatedColumns(query))
        this.calculated.add(id(table, column));
    }
    const witnesses = queries.map(witnessOf);
    this.findParents(witnesses);
    for (const { name } of this.inOrder())
      for (let n = 0; n < (this.options.baseRows ?? 30); n++) this.add(name, new Map());
    for (let n = 0; n < (this.options.witnesses ?? 3); n++)
      for (const witness of witnesses) this.plant(witness);
    for (const row of this.rows) this.fill(row);
    return this.rows;
  }

  private bind(sql: string): BoundQuery[] {
    const read = tryReadSql(sql, this.catalog);
    return read ? [read.binding.query] : [];
  }

  /** Foreign keys, and columns that queries join with a key. */
  private findParents(witnesses: readonly Witness[]): void {
    for (const table of this.catalog.tables) {
      for (const key of table.foreignKeys) {
        const [[column], [parent]] = [key.columns, key.toColumns];
        if (key.columns.length === 1 && column && parent)
          this.parents.set(id(table.name, column), {
            table: this.table(key.toTable)?.name ?? key.toTable,
            column: parent,
          });
      }
    }
    for (const { cells } of witnesses.flatMap(({ groups }) => groups)) {
      const key = cells.find(({ table, column }) => this.isKey(table, column));
      for (const cell of cells) {
        const known = this.parents.has(id(cell.table, cell.column));
        if (
          key &&
          !known &&
          !sameName(cell.table, key.table) &&
          !this.isKey(cell.table, cell.column)
        )
          this.parents.set(id(cell.table, cell.column), key);
      }
    }
  }

  private plant({ rows, groups }: Witness): void {
    const values = new Map<number, Map<string, Constant | null>>(
      rows.map(({ row }) => [row, new Map()]),
    );
    for (const { cells, demands } of groups) {
      const [first] = cells;
      if (!first || (cells.length === 1 && demands.length === 0)) continue;
      const key = cells.find(({ table, column }) => this.isKey(table, column));
      const typed = key ?? first;
      const plain = () => this.plain(typed.table, typed.column);
      const free = () => (key ? this.fresh(key.table, key.column) : plain());
      const value = demands.length > 0 ? satisfy(demands, plain) : free();
      for (const cell of cells)
        values
          .get(cell.row)
          ?.set(cell.column, value === null ? null : wholeDate(cell.column, value));
    }
    for (const { row, table } of rows) this.add(table, values.get(row) ?? new Map());
  }

  /** Adds a row, or gives what is asked for to the row that has its key already. */
  private add(tableName: string, values: Map<string, Constant | null>): void {
    const table = this.table(tableName);
    if (!table) return;
    for (const column of table.primaryKey)
      if ((values.get(column) ?? null) === null)
        values.set(
          column,
          table.primaryKey.length === 1 && !this.parents.has(id(tableName, column))
            ? this.fresh(tableName, column)
            : this.plain(tableName, column),
        );
    const key =
      table.primaryKey.length > 0
        ? JSON.stringify([
            tableName,
            ...table.primaryKey.map((column) => String(values.get(column))),
          ])
        : undefined;
    const known = key === undefined ? undefined : this.byKey.get(key);
    if (known) {
      for (const [column, value] of values) {
        if (known.sown.has(column)) continue;
        known.values.set(column, value);
        known.sown.add(column);
      }
      return;
    }
    const row: Row = { table: tableName, values, sown: new Set(values.keys()) };
    this.rows.push(row);
    if (key !== undefined) this.byKey.set(key, row);
  }

  private fill(row: Row): void {
    for (const { name } of this.table(row.table)?.columns ?? []) {
      if (row.values.has(name)) continue;
      row.values.set(name, this.options.random() < 0.05 ? null : this.plain(row.table, name));
    }
  }

  /**
   * A value that no query asked for: of the parent, of the queries' constants, or of the column's
   * type.
   */
  private plain(table: string, column: string): Constant {
    const parent = this.parents.get(id(table, column));
    if (parent) {
      const keys = this.rows
        .filter((row) => row.table === parent.table)
        .map((row) => row.values.get(parent.column) ?? null)
        .filter((value) => value !== null);
      if (keys.length > 0) return this.pick(keys);
    }
    const constants = this.constants.get(id(table, column)) ?? [];
    if (constants.length > 0 && this.options.random() < 0.6)
      return wholeDate(column, this.pick(constants));
    const type =
      this.table(table)
        ?.columns.find(({ name }) => sameName(name, column))
        ?.declaredType.toLowerCase() ?? '';
    const number = Math.floor(this.options.random() * 200);
    if (/int/.test(type)) return BigInt(number);
    if (/real|num|float|double/.test(type))
      return number + Math.floor(this.options.random() * 100) / 100;
    if (/date|time/.test(type) || /date|birth|dob/i.test(column))
      return `${String(1990 + (number % 30))}-${two(1 + (number % 12))}-${two(1 + (number % 28))}`;
    return this.calculated.has(id(table, column))
      ? String(number)
      : `${this.pick(WORDS)} ${String(number)}`;
  }

  private fresh(table: string, column: string): Constant {
    const type =
      this.table(table)
        ?.columns.find(({ name }) => sameName(name, column))
        ?.declaredType.toLowerCase() ?? '';
    this.serial++;
    return /int|real|num/.test(type) ? BigInt(this.serial) : `k${String(this.serial)}`;
  }

  private isKey(tableName: string, column: string): boolean {
    const key = this.table(tableName)?.primaryKey ?? [];
    return key.length === 1 && sameName(key[0] ?? '', column);
  }

  /** Parents before children, as far as there is such an order. */
  private inOrder(): Catalog['tables'] {
    const depth = (name: string, above: readonly string[]): number => {
      if (above.includes(name)) return 0;
      const refers = [...this.parents]
        .filter(([child]) => child.startsWith(`${name.toLowerCase()}\0`))
        .map(([, parent]) => parent.table);
      return Math.max(0, ...refers.map((parent) => 1 + depth(parent, [...above, name])));
    };
    return [...this.catalog.tables].sort((a, b) => depth(a.name, []) - depth(b.name, []));
  }

  private table(name: string): Catalog['tables'][number] | undefined {
    return this.catalog.tables.find((table) => sameName(table.name, name));
  }

  private pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.options.random() * list.length)]!;
  }
}

/** A year that a query looks for inside a date: the column itself holds dates. */
const wholeDate = (column: string, value: Constant): Constant =>
  /date|birth|dob/i.test(column) && typeof value === 'string' && /^\d{4}$/.test(value)
    ? `${value}-06-15`
    : value;

const id = (table: string, column: string): string =>
  `${table.toLowerCase()}\0${column.toLowerCase()}`;
const two = (number: number): string => String(number).padStart(2, '0');
const WORDS = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'heath'];

type Bound = Extract<Demand, { readonly strict: boolean }>;

/** One value that meets the demands, as far as they can be met together. */
export function satisfy(demands: readonly Demand[], plain: () => Constant): Constant | null {
  if (demands.some(({ kind }) => kind === 'null')) return null;
  const exact = demands.find((demand) => demand.kind === 'value');
  if (exact) return exact.value;
  const like = demands.find((demand) => demand.kind === 'like');
  if (like) return textLike(like.pattern);
  const parts = demands.filter((demand) => demand.kind === 'datePart');
  if (parts.length > 0) return dateWith(parts);
  const part = demands.find((demand) => demand.kind === 'part');
  if (part)
    return dateLike(' '.repeat(part.start), part.text) ?? `${'x'.repeat(part.start)}${part.text}`;
  const above = demands.find((demand): demand is Bound => demand.kind === 'above');
  const below = demands.find((demand): demand is Bound => demand.kind === 'below');
  if (above && !above.strict) return above.value;
  if (below && !below.strict) return below.value;
  if (above && below) return between(above.value, below.value);
  if (above) return moved(above.value, 1);
  if (below) return moved(below.value, -1);
  return plain();
}

/** A text of the pattern; a year or month with `%` behind it becomes a whole date. */
function textLike(pattern: string): string {
  const prefix = /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?-?%$/.exec(pattern);
  if (prefix) return `${prefix[1] ?? ''}-${prefix[2] ?? '06'}-${prefix[3] ?? '15'}`;
  const inner = pattern.replaceAll('_', 'a').replaceAll('%', '');
  return /^-\d\d-$/.test(inner) ? `2005${inner}15` : inner;
}

const dateLike = (before: string, text: string): string | undefined => {
  if (before === '' && /^\d{4}$/.test(text)) return `${text}-06-15`;
  if (before === '' && /^\d{4}-\d\d$/.test(text)) return `${text}-15`;
  return before.length === 5 && /^\d\d$/.test(text) ? `2005-${text}-15` : undefined;
};

const POSITIONS: Readonly<Record<string, number>> = {
  '%Y': 0,
  '%m': 5,
  '%d': 8,
  '%H': 11,
  '%M': 14,
  '%S': 17,
};

function dateWith(parts: readonly { readonly format: string; readonly value: string }[]): string {
  let date = '2005-06-15 10:30:00';
  for (const { format, value } of parts) {
    const names = format.match(/%[A-Za-z]/g) ?? [];
    const values = value.match(/\d+/g) ?? [];
    const pieces =
      format === '%J' ? [] : names.map((name, index) => [name, values[index] ?? ''] as const);
    for (const [name, piece] of pieces) {
      const at = POSITIONS[name];
      if (at !== undefined && piece !== '')
        date = date.slice(0, at) + piece + date.slice(at + piece.length);
    }
  }
  return /%[HMS]/.test(parts.map(({ format }) => format).join('')) ? date : date.slice(0, 10);
}

function between(low: Constant, high: Constant): Constant {
  const [a, b] = [Number(low), Number(high)];
  if (Number.isFinite(a) && Number.isFinite(b))
    return b - a > 1 ? BigInt(Math.floor(a) + 1) : (a + b) / 2;
  const [from, to] = [Date.parse(String(low)), Date.parse(String(high))];
  return Number.isFinite(from) && Number.isFinite(to)
    ? new Date((from + to) / 2).toISOString().slice(0, 10)
    : `${String(low)}a`;
}

function moved(value: Constant, by: 1 | -1): Constant {
  if (typeof value === 'bigint') return value + BigInt(by);
  if (typeof value === 'number') return value + by;
  if (/^-?\d+(\.\d+)?$/.test(value)) return String(Number(value) + by);
  const year = /^(\d{4})(.*)$/s.exec(value);
  if (year) return `${String(Number(year[1]) + by)}${year[2] ?? ''}`;
  return by === 1 ? `${value}a` : value.slice(0, -1);
}
