import { Int32 } from 'mongodb';
import type Database from 'better-sqlite3';
import type { SqliteValue } from '../results/value';
import { defineKey } from '../results/value';
import { quoteName as q, type Catalog, type Table, tableNamed } from '../sqlite/catalog';
import { openSource } from '../sqlite/open';
import {
  bucketRows,
  isArray,
  isEmbed,
  isKeptRows,
  type AttributeField,
  type BucketRule,
  type ColumnField,
  type ComputedField,
  type EmbedField,
  type ExtendedReferenceField,
  type Field,
  type IdRule,
  type LogicalDesign,
  type OutlierField,
  type SubsetField,
} from '../design/model/document-design';
import { heldKey } from '../design/model/placement';
import { identity, toBson, TransformError, transformInput } from '../design/model/transform';

/** A value or a row that the design cannot carry; nothing was written in its place. */
export class MigrationError extends Error {}

/** A document and the scan position of its root row, from which a later run can go on. */
export interface Assembled {
  readonly document: Record<string, unknown>;
  readonly position: readonly SqliteValue[];
}

/** Where an earlier run stopped: the root row of its last document, and how many there were. */
export interface StartAfter {
  readonly position: readonly SqliteValue[];
  readonly documents: number;
}

/** The documents of one collection, in the source's order. */
export function* assembleDocuments(
  sourcePath: string,
  catalog: Catalog,
  design: LogicalDesign,
  used: Map<string, number>,
): Generator<Record<string, unknown>> {
  for (const { document } of assemble(sourcePath, catalog, design, used)) yield document;
}

/**
 * The documents of one collection, assembled by streaming: the root's rows and, beside them, every
 * embedded table's rows sorted by the position of the parent they belong to. Each stream is read
 * once and merged, so memory does not grow with the database. With `after`, what an earlier run has
 * assembled is left out, and is not read either.
 *
 * Also counts the source rows that went into documents, by table.
 */
export function* assemble(
  sourcePath: string,
  catalog: Catalog,
  design: LogicalDesign,
  used: Map<string, number>,
  after?: StartAfter,
): Generator<Assembled> {
  const sqlite = openSource(sourcePath);
  const running: Iterator<SqliteValue[]>[] = [];
  try {
    const root = tableOf(catalog, design.rootTable);
    const { id } = design;
    const rows = id.kind === 'bucket' ? bucketRows(design.fields) : undefined;
    const fields = rows?.fields ?? design.fields;
    const chain: ChainLink[] = [
      {
        table: root,
        alias: 't0',
        join: [],
        orderBy: [],
        ...(id.kind === 'bucket' && { together: id.columns }),
      },
    ];
    const source: Source = { sqlite, running, catalog, used, after: after?.position };
    const extras = new RowExtras(
      [
        ...fields,
        ...(rows ? design.fields.filter((field) => field.kind === 'extendedReference') : []),
      ],
      root,
      't0',
    );
    const stream = new RowStream(source, chain, extras);
    const children = childrenOf(fields, id, stream, chain, source);
    const columns = columnsOf(fields, stream, root);
    if (id.kind === 'bucket') {
      const entry = (row: Row): Record<string, unknown> => {
        const filled: Record<string, unknown> = {};
        fill(filled, fields, columns, row, extras, children);
        bump(used, root.name);
        return filled;
      };
      const ofParent = (field: ExtendedReferenceField, row: Row): unknown =>
        extras.valueOf(field, row, root.columns.length);
      yield* buckets(design, id, stream, { entry, ofParent }, after?.documents ?? 0);
      for (const child of children) child.assertExhausted();
      return;
    }
    const idAt = id.kind === 'column' ? stream.position(id.column) : -1;
    let ordinal = after?.documents ?? 0;
    for (let row = stream.next(); row; row = stream.next()) {
      ordinal++;
      const document: Record<string, unknown> = {
        _id:
          id.kind === 'column'
            ? carry(id.transform, row.values[idAt]!, `${root.name}.${id.column}`)
            : new Int32(ordinal),
      };
      fill(document, design.fields, columns, row, extras, children);
      bump(used, root.name);
      yield { document, position: row.keys };
    }
    for (const child of children) child.assertExhausted();
  } finally {
    // A connection with a statement under way cannot be closed.
    for (const rows of running) rows.return?.();
    sqlite.close();
  }
}

interface BucketRows {
  entry(row: Row): Record<string, unknown>;
  /** What is repeated of the row's parent. */
  ofParent(field: ExtendedReferenceField, row: Row): unknown;
}

/**
 * A document for up to so many rows that share what the bucket keeps them by, and that come one
 * after the other.
 */
function* buckets(
  { fields }: LogicalDesign,
  { columns, size }: BucketRule,
  stream: RowStream,
  { entry, ofParent }: BucketRows,
  before: number,
): Generator<Assembled> {
  let ordinal = before;
  for (let first = stream.peek(); first; first = stream.peek()) {
    const entries: Record<string, unknown>[] = [];
    let last = first;
    for (
      let row: Row | undefined = first;
      row && entries.length < size && shares(row, first, columns.length);
      row = stream.peek()
    ) {
      stream.next();
      entries.push(entry(row));
      last = row;
    }
    const document: Record<string, unknown> = { _id: new Int32(++ordinal) };
    for (const field of fields) {
      let value: unknown = entries;
      if (field.kind === 'column')
        value = carryField(field, first.values[stream.position(field.column)]!);
      else if (field.kind === 'extendedReference') value = ofParent(field, first);
      if (value !== undefined) defineKey(document, field.name, value);
    }
    yield { document, position: last.keys };
  }
}

/** The first keys of a row are what its bucket keeps it by: integers or texts. */
const shares = (row: Row, other: Row, width: number): boolean =>
  row.keys.slice(0, width).every((key, index) => key === other.keys[index]);

interface Source {
  readonly sqlite: Database.Database;
  readonly running: Iterator<SqliteValue[]>[];
  readonly catalog: Catalog;
  readonly used: Map<string, number>;
  /** Root rows up to this scan position are left out, with everything below them. */
  readonly after: readonly SqliteValue[] | undefined;
}

interface ChainLink {
  readonly table: Table;
  readonly alias: string;
  readonly join: EmbedField['join'];
  readonly orderBy: EmbedField['orderBy'];
  /**
   * Columns whose equal values, by their bytes, bring rows together, before the scan order counts.
   */
  readonly together?: readonly string[];
}

interface Row {
  /** Scan positions of the row and of its ancestors, root first: what rows are merged by. */
  readonly keys: readonly SqliteValue[];
  /** The row's columns, then what the other fields need. */
  readonly values: readonly SqliteValue[];
}

/**
 * What fields add to a row's query that are no plain columns: a copy a join, at most one row wide,
 * and what it takes; bytes an expression.
 */
class RowExtras {
  readonly joins: string[] = [];
  readonly selected: string[] = [];
  readonly #at = new Map<Field, number>();

  /** `holder` is the table whose rows carry the fields. */
  constructor(fields: readonly Field[], holder: Table, alias: string) {
    for (const [n, field] of fields.entries()) {
      if (field.kind === 'column' && field.transform.kind === 'bytes') {
        this.#at.set(field, this.selected.length);
        this.selected.push(transformInput(field.transform, `${alias}.${q(field.column)}`));
      }
      if (field.kind === 'attribute') {
        this.#at.set(field, this.selected.length);
        this.selected.push(...field.fields.map(({ column }) => `${alias}.${q(column)}`));
      }
      if (field.kind !== 'extendedReference' && field.kind !== 'computed') continue;
      this.#at.set(field, this.selected.length);
      const other = `x${n}`;
      if (field.kind === 'extendedReference') {
        const on = field.join
          .map(({ parent, child }) => `${other}.${q(parent)} = ${alias}.${q(child)}`)
          .join(' AND ');
        this.joins.push(`LEFT JOIN ${q(field.table)} ${other} ON ${on}`);
        // A key is never null: it tells a parent whose columns are null from no parent.
        this.selected.push(
          `${other}.${q(field.join[0]!.parent)} IS NOT NULL`,
          ...field.fields.map((copied) => `${other}.${q(copied.column)}`),
        );
      } else {
        // Grouped by the parents' own keys: several spellings of a key in the children ('1' and
        // '01') are one parent's.
        const keys = field.join
          .map(({ parent }, index) => `owner.${q(parent)} AS k${index}`)
          .join(', ');
        const owns = field.join
          .map(({ parent, child }) => `owner.${q(parent)} = own.${q(child)}`)
          .join(' AND ');
        const on = field.join
          .map(({ parent }, index) => `${other}.k${index} = ${alias}.${q(parent)}`)
          .join(' AND ');
        const value = `${field.aggregate}(${field.column === undefined ? '*' : `own.${q(field.column)}`})`;
        this.joins.push(
          `LEFT JOIN (SELECT ${keys}, ${value} AS "value?" FROM ${q(holder.name)} owner JOIN ` +
            `${q(field.table)} own ON ${owns} GROUP BY ` +
            `${field.join.map((_, index) => index + 1).join(', ')}) ${other} ON ${on}`,
        );
        this.selected.push(
          field.aggregate === 'count' ? `coalesce(${other}."value?", 0)` : `${other}."value?"`,
        );
      }
    }
  }

  /**
   * The field's value in a row of `width` own columns; undefined where there is nothing to copy.
   */
  valueOf(
    field: ColumnField | ExtendedReferenceField | ComputedField | AttributeField,
    row: Row,
    width: number,
  ): unknown {
    const at = width + this.#at.get(field)!;
    if (field.kind === 'column') return carryField(field, row.values[at]!);
    if (field.kind === 'computed') return carry(identity, row.values[at]!, field.name);
    if (field.kind === 'attribute')
      return field.fields.flatMap((own, n) =>
        row.values[at + n] === null
          ? []
          : [{ k: own.name, v: carryField(own, row.values[at + n]!) }],
      );
    if (row.values[at] !== 1n) return undefined;
    const copy: Record<string, unknown> = {};
    field.fields.forEach((copied, n) =>
      defineKey(copy, copied.name, carryField(copied, row.values[at + 1 + n]!)),
    );
    return copy;
  }
}

// SQLite's limit is 2,000 result columns; a table can have as many, and its scan key comes on top.
const COLUMNS_A_STATEMENT = 1900;

/**
 * Rows of the last table of a chain of joins, sorted by the scan positions of all tables above it.
 */
class RowStream {
  /**
   * One statement, or several side by side, which return the same rows in the same order, where one
   * cannot be that wide.
   */
  readonly #parts: Iterator<SqliteValue[]>[];
  readonly #keyWidth: number;
  readonly #columns: readonly string[];
  #ahead: Row | undefined;

  constructor({ sqlite, running, after }: Source, chain: readonly ChainLink[], extras: RowExtras) {
    const last = chain.at(-1)!;
    const keyColumns = chain.map(({ alias, table, together = [] }) => [
      ...together.map((column) => `${alias}.${q(column)} COLLATE BINARY`),
      ...scanKey(table).map((column) => `${alias}.${column}`),
    ]);
    const keys = keyColumns.flat();
    this.#keyWidth = keys.length;
    this.#columns = last.table.columns.map((column) => column.name);
    const from = chain.map((link, index) => {
      const on = link.join
        .map(
          ({ parent, child }) =>
            `${chain[index - 1]!.alias}.${q(parent)} = ${link.alias}.${q(child)}`,
        )
        .join(' AND ');
      return index === 0
        ? `${q(link.table.name)} ${link.alias}`
        : `JOIN ${q(link.table.name)} ${link.alias} ON ${on}`;
    });
    // Every stream sorts by what the streams above it sort by, so that they can be merged.
    const order = chain.flatMap((link, index) => [
      ...link.orderBy.map(({ column, direction }) => `${link.alias}.${q(column)} ${direction}`),
      ...keyColumns[index]!,
    ]);
    const rootKey = keyColumns[0]!;
    const where = after
      ? ` WHERE (${rootKey.join(', ')}) > (${rootKey.map(() => '?').join(', ')})`
      : '';
    const selected = [
      ...keys,
      ...this.#columns.map((column) => `${last.alias}.${q(column)}`),
      ...extras.selected,
    ];
    const tail =
      ` FROM ${[...from, ...extras.joins].join(' ')}${where} ORDER BY ` + `${order.join(', ')}`;
    this.#parts = chunk(selected, COLUMNS_A_STATEMENT).map(
      (part) =>
        sqlite
          .prepare(`SELECT ${part.join(', ')}${tail}`)
          .raw()
          .iterate(...(after ?? [])) as Iterator<SqliteValue[]>,
    );
    running.push(...this.#parts);
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
    const results = this.#parts.map((part) => part.next());
    if (results[0]!.done) return undefined;
    const all =
      results.length === 1
        ? (results[0]!.value as SqliteValue[])
        : results.flatMap((result) => result.value as SqliteValue[]);
    return { keys: all.slice(0, this.#keyWidth), values: all.slice(this.#keyWidth) };
  }
}

/**
 * What orders the rows of a table uniquely: its rowid under a name that no column hides, else its
 * primary key.
 */
function scanKey(table: Table): string[] {
  if (table.withoutRowid) return table.primaryKey.map(q);
  const hidden = new Set(table.columns.map((column) => column.name.toLowerCase()));
  const rowid = ['rowid', '_rowid_', 'oid'].find((name) => !hidden.has(name));
  if (rowid) return [rowid];
  if (table.rowidAlias) return table.primaryKey.map(q);
  throw new MigrationError(
    `${table.name} has columns named rowid, _rowid_ and oid, so that its rows cannot be told apart`,
  );
}

/** What is built beside a row's own fields. `id`: of documents, where the rows are roots. */
const childrenOf = (
  fields: readonly Field[],
  id: IdRule | undefined,
  parents: RowStream,
  chain: readonly ChainLink[],
  source: Source,
): ChildAssembler[] =>
  fields
    .filter(isRowField)
    .map(
      (field) =>
        new ChildAssembler(
          field,
          chain,
          source,
          field.kind === 'outlier' ? parentKey(field, fields, id, parents) : undefined,
        ),
    );

/** The key of a parent row, as its document stores it. */
interface ParentKey {
  readonly at: number;
  readonly transform: ColumnField['transform'];
}

function parentKey(
  { name, join }: OutlierField,
  fields: readonly Field[],
  id: IdRule | undefined,
  parents: RowStream,
): ParentKey {
  const column = join[0]!.parent;
  const transform = heldKey(fields, id, column);
  if (!transform) throw new MigrationError(`no field beside ${name} holds the key ${column}`);
  return { at: parents.position(column), transform };
}

interface Taken {
  readonly entries: readonly Record<string, unknown>[];
  /** There are more rows than an array takes. */
  readonly isOutlier: boolean;
}

/**
 * Builds the entries of one embedded table, or of the rows that parents repeat of one, for one
 * parent row after the other.
 */
class ChildAssembler {
  readonly #stream: RowStream;
  readonly #extras: RowExtras;
  readonly #columns: readonly number[];
  readonly #children: readonly ChildAssembler[];
  readonly #used: Map<string, number>;

  constructor(
    readonly field: RowField,
    above: readonly ChainLink[],
    source: Source,
    readonly key: ParentKey | undefined,
  ) {
    const table = tableOf(source.catalog, field.table);
    const chain = [
      ...above,
      {
        table,
        alias: `t${above.length}`,
        join: field.join,
        orderBy: field.kind === 'outlier' ? [] : field.orderBy,
      },
    ];
    this.#used = source.used;
    this.#extras = new RowExtras(field.fields, table, `t${above.length}`);
    this.#stream = new RowStream(source, chain, this.#extras);
    this.#columns = columnsOf(field.fields, this.#stream, table);
    this.#children = childrenOf(field.fields, undefined, this.#stream, chain, source);
  }

  /** The entries that belong to the parent row; advances the stream past them. */
  take(parent: Row): Taken {
    const entries: Record<string, unknown>[] = [];
    const limit = isKeptRows(this.field) ? this.field.limit : Infinity;
    let rows = 0;
    for (let row = this.#stream.peek(); row && belongs(row, parent); row = this.#stream.peek()) {
      this.#stream.next();
      rows++;
      if (entries.length === limit) continue;
      const entry: Record<string, unknown> = {};
      fill(entry, this.field.fields, this.#columns, row, this.#extras, this.#children);
      // A copy is no place: its original is counted there.
      if (!isKeptRows(this.field)) bump(this.#used, this.field.table);
      entries.push(entry);
    }
    const isOutlier = this.field.kind === 'outlier' && rows > limit;
    return { entries: isOutlier ? [] : entries, isOutlier };
  }

  assertExhausted(): void {
    const left = this.#stream.peek();
    if (left)
      throw new MigrationError(
        `a row of ${this.field.table} (position ${String(left.keys.at(-1))}) met no parent ` +
          'while merging',
      );
    for (const child of this.#children) child.assertExhausted();
  }
}

/** A child's keys begin with those of its parent. */
function belongs(child: Row, parent: Row): boolean {
  for (let index = 0; index < parent.keys.length; index++) {
    const [mine, theirs] = [child.keys[index]!, parent.keys[index]!];
    if (
      mine !== theirs &&
      !(
        mine instanceof Uint8Array &&
        theirs instanceof Uint8Array &&
        Buffer.compare(mine, theirs) === 0
      )
    )
      return false;
  }
  return true;
}

/** The column's value as it stands in the row is all that the field needs. */
const isPlain = (field: Field): field is ColumnField =>
  field.kind === 'column' && field.transform.kind !== 'bytes';

/**
 * Holds rows of another table, which are read beside those of its own: all that belong to the
 * parent, the first of them, or all unless they are many.
 */
type RowField = EmbedField | SubsetField | OutlierField;
const isRowField = (field: Field): field is RowField => isEmbed(field) || isKeptRows(field);

const columnsOf = (fields: readonly Field[], stream: RowStream, table: Table): number[] =>
  fields.map((field) => {
    if (isPlain(field)) return stream.position(field.column);
    return isRowField(field) ? -1 : table.columns.length;
  });

function fill(
  target: Record<string, unknown>,
  fields: readonly Field[],
  columns: readonly number[],
  row: Row,
  extras: RowExtras,
  children: readonly ChildAssembler[],
): void {
  let child = 0;
  fields.forEach((field, index) => {
    if (isPlain(field))
      defineKey(target, field.name, carryField(field, row.values[columns[index]!]!));
    else if (!isRowField(field)) {
      const value = extras.valueOf(field, row, columns[index]!);
      if (value !== undefined) defineKey(target, field.name, value);
    } else {
      const assembler = children[child++]!;
      const { entries, isOutlier } = assembler.take(row);
      if (isArray(field)) defineKey(target, field.name, entries);
      else if (entries.length > 1)
        throw new MigrationError(
          `${field.name} holds one document, but a parent has ${entries.length} rows`,
        );
      else if (entries.length === 1) defineKey(target, field.name, entries[0]);
      const { key } = assembler;
      if (isOutlier && key && field.kind === 'outlier')
        defineKey(target, field.flag, carry(key.transform, row.values[key.at]!, field.flag));
    }
  });
}

const carryField = (field: ColumnField, value: SqliteValue): unknown =>
  carry(field.transform, value, field.column);

function carry(transform: ColumnField['transform'], value: SqliteValue, what: string): unknown {
  try {
    return toBson(transform, value);
  } catch (error) {
    if (error instanceof TransformError) throw new MigrationError(`${what}: ${error.message}`);
    throw error;
  }
}

function tableOf(catalog: Catalog, name: string): Table {
  const table = tableNamed(catalog, name);
  if (!table) throw new MigrationError(`the source has no table ${name}`);
  return table;
}

const chunk = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, index * size + size),
  );

const bump = (counts: Map<string, number>, table: string): void => {
  counts.set(table, (counts.get(table) ?? 0) + 1);
};
