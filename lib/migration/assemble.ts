import { Int32 } from 'mongodb';
import type Database from 'better-sqlite3';
import type { SqliteValue } from '../results/value';
import { defineKey } from '../results/value';
import { quoteName as q, type Catalog, type Table } from '../sqlite/catalog';
import { openSource } from '../sqlite/open';
import { isEmbed, type ColumnField, type ComputedField, type EmbedField, type ExtendedReferenceField, type Field, type LogicalDesign } from '../design/document-design';
import { identity, toBson, TransformError } from '../design/transform';

/** A value or a row that the design cannot carry; nothing was written in its place. */
export class MigrationError extends Error {}

/**
 * The documents of one collection, assembled by streaming: the root's rows and, beside them, every embedded table's
 * rows sorted by the position of the parent they belong to. Each stream is read once and merged, so memory does not
 * grow with the database.
 *
 * Also counts the source rows that went into documents, by table.
 */
export function* assembleDocuments(sourcePath: string, catalog: Catalog, design: LogicalDesign, used: Map<string, number>): Generator<Record<string, unknown>> {
  const opened: Database.Database[] = [];
  // One connection a stream: the driver allows one running statement a connection.
  const open = (): Database.Database => {
    const sqlite = openSource(sourcePath);
    opened.push(sqlite);
    return sqlite;
  };
  try {
    const root = tableOf(catalog, design.rootTable);
    const chain: ChainLink[] = [{ table: root, alias: 't0', join: [], orderBy: [] }];
    const copies = new RowCopies(design.fields, 't0');
    const stream = new RowStream(open(), chain, copies);
    const children = embeds(design.fields).map((field) => new ChildAssembler(field, chain, catalog, open, used));
    const columns = columnsOf(design.fields, stream, root);
    const id = design.id;
    const idAt = id.kind === 'column' ? stream.position(id.column) : -1;
    let ordinal = 0;
    for (let row = stream.next(); row; row = stream.next()) {
      ordinal++;
      const document: Record<string, unknown> = {
        _id: id.kind === 'column' ? carry(id.transform, row.values[idAt]!, `${root.name}.${id.column}`) : new Int32(ordinal),
      };
      fill(document, design.fields, columns, row, copies, children);
      bump(used, root.name);
      yield document;
    }
    for (const child of children) child.assertExhausted();
  } finally {
    for (const sqlite of opened) sqlite.close();
  }
}

interface ChainLink {
  readonly table: Table;
  readonly alias: string;
  readonly join: EmbedField['join'];
  readonly orderBy: EmbedField['orderBy'];
}

interface Row {
  /** Scan positions of the row and of its ancestors, root first: what rows are merged by. */
  readonly keys: readonly string[];
  /** The row's columns, then what its copies need. */
  readonly values: readonly SqliteValue[];
}

/** What the copies of a row add to its query: a join each, at most one row wide, and the columns that they take. */
class RowCopies {
  readonly joins: string[] = [];
  readonly selected: string[] = [];
  readonly #at = new Map<Field, number>();

  constructor(fields: readonly Field[], alias: string) {
    for (const [n, field] of fields.entries()) {
      if (field.kind !== 'extendedReference' && field.kind !== 'computed') continue;
      this.#at.set(field, this.selected.length);
      const other = `x${n}`;
      if (field.kind === 'extendedReference') {
        const on = field.join.map(({ parent, child }) => `${other}.${q(parent)} = ${alias}.${q(child)}`).join(' AND ');
        this.joins.push(`LEFT JOIN ${q(field.table)} ${other} ON ${on}`);
        // A key is never null: it tells a parent whose columns are null from no parent.
        this.selected.push(`${other}.${q(field.join[0]!.parent)} IS NOT NULL`, ...field.fields.map((copied) => `${other}.${q(copied.column)}`));
      } else {
        const keys = field.join.map(({ child }) => q(child)).join(', ');
        const on = field.join.map(({ parent, child }) => `${other}.${q(child)} = ${alias}.${q(parent)}`).join(' AND ');
        this.joins.push(`LEFT JOIN (SELECT ${keys}, ${aggregateSql(field)} AS "value?" FROM ${q(field.table)} GROUP BY ${keys}) ${other} ON ${on}`);
        this.selected.push(field.aggregate === 'count' ? `coalesce(${other}."value?", 0)` : `${other}."value?"`);
      }
    }
  }

  /** The copy's value in a row of `width` own columns; undefined where there is nothing to copy. */
  valueOf(field: ExtendedReferenceField | ComputedField, row: Row, width: number): unknown {
    const at = width + this.#at.get(field)!;
    if (field.kind === 'computed') return carry(identity, row.values[at]!, field.name);
    if (row.values[at] !== 1n) return undefined;
    const copy: Record<string, unknown> = {};
    field.fields.forEach((copied, n) => defineKey(copy, copied.name, carryField(copied, row.values[at + 1 + n]!)));
    return copy;
  }
}

export const aggregateSql = (field: ComputedField): string => `${field.aggregate}(${field.column === undefined ? '*' : q(field.column)})`;

/** Rows of the last table of a chain of joins, sorted by the scan positions of all tables above it. */
class RowStream {
  readonly #rows: Iterator<SqliteValue[]>;
  readonly #keyWidths: number[];
  readonly #columns: readonly string[];
  #ahead: Row | undefined;

  constructor(sqlite: Database.Database, chain: readonly ChainLink[], copies: RowCopies) {
    const last = chain.at(-1)!;
    const keyColumns = chain.map((link) => scanKey(link.table).map((column) => `${link.alias}.${column}`));
    this.#keyWidths = keyColumns.map((columns) => columns.length);
    this.#columns = last.table.columns.map((column) => column.name);
    const from = chain.map((link, at) => {
      const on = link.join.map(({ parent, child }) => `${chain[at - 1]!.alias}.${q(parent)} = ${link.alias}.${q(child)}`).join(' AND ');
      return at === 0 ? `${q(link.table.name)} ${link.alias}` : `JOIN ${q(link.table.name)} ${link.alias} ON ${on}`;
    });
    // Every stream sorts by what the streams above it sort by, so that they can be merged.
    const order = chain.flatMap((link, at) => [
      ...link.orderBy.map(({ column, direction }) => `${link.alias}.${q(column)} ${direction}`),
      ...keyColumns[at]!,
    ]);
    const selected = [...keyColumns.flat(), ...this.#columns.map((column) => `${last.alias}.${q(column)}`), ...copies.selected];
    const sql = `SELECT ${selected.join(', ')} FROM ${[...from, ...copies.joins].join(' ')} ORDER BY ${order.join(', ')}`;
    this.#rows = sqlite.prepare(sql).raw().iterate() as Iterator<SqliteValue[]>;
    this.#ahead = this.#read();
  }

  position(column: string): number {
    const at = this.#columns.indexOf(column);
    if (at < 0) throw new MigrationError(`the source has no column ${column}`);
    return at;
  }

  peek(): Row | undefined {
    return this.#ahead;
  }

  next(): Row | undefined {
    const row = this.#ahead;
    if (row) this.#ahead = this.#read();
    return row;
  }

  #read(): Row | undefined {
    const result = this.#rows.next();
    if (result.done) return undefined;
    const keys: string[] = [];
    let at = 0;
    for (const width of this.#keyWidths) {
      keys.push(result.value.slice(at, at + width).map(String).join('\u0000'));
      at += width;
    }
    return { keys, values: result.value.slice(at) };
  }
}

/** What orders the rows of a table uniquely: its rowid under a name that no column hides, else its primary key. */
function scanKey(table: Table): string[] {
  if (table.withoutRowid) return table.primaryKey.map(q);
  const hidden = new Set(table.columns.map((column) => column.name.toLowerCase()));
  const rowid = ['rowid', '_rowid_', 'oid'].find((name) => !hidden.has(name));
  if (rowid) return [rowid];
  if (table.rowidAlias) return table.primaryKey.map(q);
  throw new MigrationError(`${table.name} has columns named rowid, _rowid_ and oid, so that its rows cannot be told apart`);
}

/** Builds the entries of one embedded table for one parent row after the other. */
class ChildAssembler {
  readonly #stream: RowStream;
  readonly #copies: RowCopies;
  readonly #columns: readonly number[];
  readonly #children: readonly ChildAssembler[];
  readonly #depth: number;

  constructor(
    readonly field: EmbedField,
    above: readonly ChainLink[],
    catalog: Catalog,
    open: () => Database.Database,
    private readonly used: Map<string, number>,
  ) {
    const table = tableOf(catalog, field.table);
    const chain = [...above, { table, alias: `t${above.length}`, join: field.join, orderBy: field.orderBy }];
    this.#depth = above.length;
    this.#copies = new RowCopies(field.fields, `t${above.length}`);
    this.#stream = new RowStream(open(), chain, this.#copies);
    this.#columns = columnsOf(field.fields, this.#stream, table);
    this.#children = embeds(field.fields).map((inner) => new ChildAssembler(inner, chain, catalog, open, used));
  }

  /** The entries that belong to the parent row; advances the stream past them. */
  take(parent: Row): Record<string, unknown>[] {
    const entries: Record<string, unknown>[] = [];
    for (let row = this.#stream.peek(); row && belongs(row, parent, this.#depth); row = this.#stream.peek()) {
      this.#stream.next();
      const entry: Record<string, unknown> = {};
      fill(entry, this.field.fields, this.#columns, row, this.#copies, this.#children);
      bump(this.used, this.field.table);
      entries.push(entry);
    }
    return entries;
  }

  assertExhausted(): void {
    const left = this.#stream.peek();
    if (left) throw new MigrationError(`a row of ${this.field.table} (position ${left.keys.at(-1)}) met no parent while merging`);
    for (const child of this.#children) child.assertExhausted();
  }
}

const belongs = (child: Row, parent: Row, depth: number): boolean => {
  for (let at = 0; at < depth; at++) if (child.keys[at] !== parent.keys[at]) return false;
  return true;
};

const embeds = (fields: readonly Field[]): EmbedField[] => fields.filter(isEmbed);

const columnsOf = (fields: readonly Field[], stream: RowStream, table: Table): number[] =>
  fields.map((field) => {
    if (field.kind === 'column') return stream.position(field.column);
    return isEmbed(field) ? -1 : table.columns.length;
  });

function fill(target: Record<string, unknown>, fields: readonly Field[], columns: readonly number[], row: Row, copies: RowCopies, children: readonly ChildAssembler[]): void {
  let child = 0;
  fields.forEach((field, at) => {
    if (field.kind === 'column') defineKey(target, field.name, carryField(field, row.values[columns[at]!]!));
    else if (!isEmbed(field)) {
      const value = copies.valueOf(field, row, columns[at]!);
      if (value !== undefined) defineKey(target, field.name, value);
    } else {
      const entries = children[child++]!.take(row);
      if (field.kind === 'embedMany') defineKey(target, field.name, entries);
      else if (entries.length > 1) throw new MigrationError(`${field.name} holds one document, but a parent has ${entries.length} rows`);
      else if (entries.length === 1) defineKey(target, field.name, entries[0]);
    }
  });
}

const carryField = (field: ColumnField, value: SqliteValue): unknown => carry(field.transform, value, field.column);

function carry(transform: ColumnField['transform'], value: SqliteValue, what: string): unknown {
  try {
    return toBson(transform, value);
  } catch (error) {
    if (error instanceof TransformError) throw new MigrationError(`${what}: ${error.message}`);
    throw error;
  }
}

function tableOf(catalog: Catalog, name: string): Table {
  const table = catalog.tables.find((candidate) => candidate.name === name);
  if (!table) throw new MigrationError(`the source has no table ${name}`);
  return table;
}

const bump = (counts: Map<string, number>, table: string): void => {
  counts.set(table, (counts.get(table) ?? 0) + 1);
};
