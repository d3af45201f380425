import { sameName } from '../catalog';
import { aggregatesIn, hasSubquery } from './bound-references';
import { childrenOf, expressionsIn } from './bound-walk';
import {
  columnOf,
  type BoundBody,
  type BoundColumn,
  type BoundExpression,
  type BoundFrom,
  type BoundQuery,
  type BoundSelect,
  type BoundSource,
} from './bound';

/**
 * One pass over the data that a statement asks for: the tables of one FROM, with those of the
 * subqueries that depend on its rows, and how their rows are found. A set operation has two, a
 * derived table is one of its own. Plain data: the estimate of costs reads it, long after the
 * statement is forgotten.
 */
export interface QueryBlock {
  readonly sources: readonly BlockSource[];
  /** Conditions `column = column` between sources, by their positions. */
  readonly joins: readonly BlockJoin[];
  readonly grouped: readonly BlockColumn[];
  readonly sorted: readonly BlockColumn[];
  readonly aggregates: readonly BlockAggregate[];
  /**
   * Rows that a literal LIMIT lets through, where nothing is grouped or made distinct before it.
   */
  readonly limit: number | null;
  /**
   * What ORDER BY sorts those rows by, where it names columns alone, in the order that SQLite takes
   * without being told; else null.
   */
  readonly top: readonly BlockOrder[] | null;
}

export interface BlockOrder extends BlockColumn {
  readonly direction: 'asc' | 'desc';
}

/**
 * One use of a table. Conditions that hold whatever the rest says (top-level ANDs) are told by how
 * an index serves them.
 */
export interface BlockSource {
  readonly table: string;
  /** Columns that something else than a join condition reads. */
  readonly read: readonly string[];
  readonly equality: readonly string[];
  readonly range: readonly string[];
  /** Filters that no index serves. */
  readonly other: readonly string[];
  /** It is read by a subquery that depends on the rows of the others. */
  readonly nested?: true;
  /** Of `equality`, what is asked for null or for what a subquery finds, where there is any. */
  readonly notLiteral?: readonly string[];
  /**
   * Columns of which at least one is to equal one and the same literal, where there are any; each
   * is in `other` as well.
   */
  readonly anyOf?: readonly (readonly string[])[];
}

export interface BlockColumn {
  readonly source: number;
  readonly column: string;
}
export interface BlockJoin {
  readonly left: BlockColumn;
  readonly right: BlockColumn;
}
export interface BlockAggregate {
  readonly name: string;
  readonly distinct: boolean;
  /** The column that it is over; null for `count(*)` and for expressions. */
  readonly of: BlockColumn | null;
  readonly star: boolean;
}

/** Whether a block joins these columns of two of its sources, pair by pair. */
export function joinsOn(
  block: QueryBlock,
  a: { source: number; columns: readonly string[] },
  b: { source: number; columns: readonly string[] },
): boolean {
  const is = (side: BlockColumn, source: number, column: string): boolean =>
    side.source === source && sameName(side.column, column);
  return a.columns.every((column, index) =>
    block.joins.some(
      ({ left, right }) =>
        (is(left, a.source, column) && is(right, b.source, b.columns[index]!)) ||
        (is(right, a.source, column) && is(left, b.source, b.columns[index]!)),
    ),
  );
}

export function queryBlocks(query: BoundQuery): QueryBlock[] {
  const blocks: BlockBuilder[] = [];
  readQuery(query, undefined, blocks);
  return blocks.filter((block) => block.sources.length > 0).map((block) => block.result());
}

interface OpenSource {
  readonly id: number;
  readonly table: string;
  readonly read: Set<string>;
  readonly equality: Set<string>;
  readonly range: Set<string>;
  readonly other: Set<string>;
  readonly nested: boolean;
  readonly notLiteral: Set<string>;
  readonly anyOf: Set<string>;
}

class BlockBuilder {
  readonly sources: OpenSource[] = [];
  readonly joins = new Map<string, BlockJoin>();
  readonly grouped: BlockColumn[] = [];
  readonly sorted: BlockColumn[] = [];
  readonly aggregates: BlockAggregate[] = [];
  limit: number | null = null;
  top: readonly BlockOrder[] | null = null;

  add(source: BoundSource, table: string, nested: boolean): void {
    this.sources.push({
      id: source.id,
      table,
      nested,
      read: new Set(),
      equality: new Set(),
      range: new Set(),
      other: new Set(),
      notLiteral: new Set(),
      anyOf: new Set(),
    });
  }

  /** The use of a column, where its table is one of this block's. */
  find(column: BoundColumn): (BlockColumn & { readonly entry: OpenSource }) | undefined {
    const at = this.sources.findIndex((entry) => entry.id === column.source.id);
    const entry = this.sources[at];
    return entry && { source: at, column: columnOf(column).name, entry };
  }

  join(left: BoundColumn, right: BoundColumn): boolean {
    const [a, b] = [this.find(left), this.find(right)];
    if (!a || !b || a.source === b.source) return false;
    const join = {
      left: { source: a.source, column: a.column },
      right: { source: b.source, column: b.column },
    };
    this.joins.set(JSON.stringify(join), join);
    return true;
  }

  result(): QueryBlock {
    const sources = this.sources.map(
      ({ table, read, equality, range, other, nested, notLiteral, anyOf }) => ({
        table,
        read: [...read].sort(),
        equality: [...equality].sort(),
        range: [...range].sort(),
        other: [...other].sort(),
        ...(nested ? { nested } : {}),
        ...(notLiteral.size > 0 ? { notLiteral: [...notLiteral].sort() } : {}),
        ...(anyOf.size > 0
          ? { anyOf: [...anyOf].sort().map((columns) => JSON.parse(columns) as string[]) }
          : {}),
      }),
    );
    return {
      sources,
      joins: [...this.joins.values()],
      grouped: this.grouped,
      sorted: this.sorted,
      aggregates: this.aggregates,
      limit: this.limit,
      top: this.top,
    };
  }
}

/** `outer`: the block on whose rows the query depends; its tables are then read with those. */
function readQuery(
  query: BoundQuery,
  outer: BlockBuilder | undefined,
  blocks: BlockBuilder[],
): BlockBuilder | undefined {
  const block = readBody(query.body, outer, blocks);
  if (!block || query.body.kind !== 'select') return block;
  const { limit, body } = query;
  if (
    !outer &&
    limit?.kind === 'literal' &&
    typeof limit.value === 'bigint' &&
    !body.aggregated &&
    !body.distinct
  )
    block.limit = Number(limit.value);
  for (const { key } of query.orderBy) {
    const expression =
      key.kind === 'expression' ? key.expression : query.body.items[key.index]?.expression;
    if (!expression) continue;
    const sorted = expression.kind === 'column' ? block.find(expression) : undefined;
    if (sorted) block.sorted.push({ source: sorted.source, column: sorted.column });
    read(expression, block, blocks);
  }
  if (block.limit !== null && !query.offset) block.top = topOf(query, block);
  return block;
}

function topOf({ orderBy, body, columns }: BoundQuery, block: BlockBuilder): BlockOrder[] | null {
  const keys = orderBy.map(({ key, direction, nulls, collation }): BlockOrder | undefined => {
    const items = body.kind === 'select' ? body.items : [];
    const expression = key.kind === 'expression' ? key.expression : items[key.index]?.expression;
    const column = expression?.kind === 'column' ? expression : undefined;
    const found = column && block.find(column);
    const plain =
      found &&
      nulls === (direction === 'ASC' ? 'FIRST' : 'LAST') &&
      collation === column.source.columns[column.index]?.collation;
    return plain
      ? {
          source: found.source,
          column: found.column,
          direction: direction === 'ASC' ? 'asc' : 'desc',
        }
      : undefined;
  });
  return keys.length > 0 && columns.length > 0 && keys.every((key) => key !== undefined)
    ? keys
    : null;
}

function readBody(
  body: BoundBody,
  outer: BlockBuilder | undefined,
  blocks: BlockBuilder[],
): BlockBuilder | undefined {
  if (body.kind === 'values') return undefined;
  if (body.kind === 'compound') {
    readBody(body.left, outer, blocks);
    readBody(body.right, outer, blocks);
    return undefined;
  }
  const block = outer ?? new BlockBuilder();
  if (!outer) blocks.push(block);
  readSelect(body, block, blocks, outer !== undefined);
  return block;
}

function readSelect(
  select: BoundSelect,
  block: BlockBuilder,
  blocks: BlockBuilder[],
  nested: boolean,
): void {
  const conditions: BoundExpression[] = select.where ? [select.where] : [];
  if (select.from) addSources(select.from, conditions, block, blocks, nested);
  for (const condition of conditions) readCondition(condition, block, blocks);
  for (const key of select.groupBy) {
    const column = key.kind === 'column' ? block.find(key) : undefined;
    if (column) block.grouped.push({ source: column.source, column: column.column });
    read(key, block, blocks);
  }
  if (select.having) read(select.having, block, blocks);
  for (const { expression } of select.items) read(expression, block, blocks);
}

function addSources(
  from: BoundFrom,
  conditions: BoundExpression[],
  block: BlockBuilder,
  blocks: BlockBuilder[],
  nested: boolean,
): void {
  if (from.kind === 'join') {
    addSources(from.left, conditions, block, blocks, nested);
    addSources(from.right, conditions, block, blocks, nested);
    if (from.on) conditions.push(from.on);
  } else if (from.source.content.kind === 'table')
    block.add(from.source, from.source.content.table.name, nested);
  else if (from.source.content.kind === 'query')
    readQuery(from.source.content.query, undefined, blocks);
}

function readCondition(
  expression: BoundExpression,
  block: BlockBuilder,
  blocks: BlockBuilder[],
): void {
  if (expression.kind === 'logic' && expression.operator === 'AND') {
    for (const operand of expression.operands) readCondition(operand, block, blocks);
    return;
  }
  if (
    expression.kind === 'compare' &&
    expression.operator === '=' &&
    expression.left.kind === 'column' &&
    expression.right.kind === 'column' &&
    block.join(expression.left, expression.right)
  )
    return;
  const filter = filterOf(expression);
  const found = filter && block.find(filter.column);
  if (found) found.entry[filter.how].add(found.column);
  if (found && filter.notLiteral) found.entry.notLiteral.add(found.column);
  const uses = sameLiteral(expression)?.map((column) => block.find(column));
  const [first] = uses ?? [];
  if (first && uses?.every((use) => use?.entry === first.entry))
    first.entry.anyOf.add(JSON.stringify([...new Set(uses.map((use) => use!.column))].sort()));
  if (expression.kind === 'inQuery') {
    const { body, limit } = expression.query;
    // Membership in a plain selection is looked up by row, as EXISTS is.
    const plain = body.kind === 'select' && !body.aggregated && !limit;
    const inner = plain
      ? readQuery(expression.query, block, blocks)
      : readInner(expression.query, block, blocks);
    const outputs = expression.query.body.kind === 'select' ? expression.query.body.items : [];
    const linked =
      inner &&
      expression.operands.every((operand, index) => {
        const output = outputs[index]?.expression;
        return (
          operand.kind === 'column' && output?.kind === 'column' && block.join(operand, output)
        );
      });
    for (const operand of expression.operands) if (!linked) read(operand, block, blocks);
    return;
  }
  for (const column of columnsOf(expression)) {
    const use = block.find(column);
    use?.entry.read.add(use.column);
    if (use && !filter) use.entry.other.add(use.column);
  }
  readSubqueries(expression, block, blocks);
}

/**
 * A condition on one column against what does not vary by row, and whether an index finds its
 * values or only a range.
 */
function filterOf(
  expression: BoundExpression,
): { column: BoundColumn; how: 'equality' | 'range'; notLiteral?: true } | undefined {
  const constant = (operand: BoundExpression): boolean =>
    columnsOf(operand).length === 0 && operand.kind !== 'exists';
  if (expression.kind === 'compare' && expression.operator !== '<>') {
    const { left, right } = expression;
    const how = expression.operator === '=' ? 'equality' : 'range';
    for (const [column, other] of [
      [left, right],
      [right, left],
    ] as const)
      if (column.kind === 'column' && constant(other)) return { column, how, ...notLiteral(other) };
  }
  if (
    expression.kind === 'inList' &&
    !expression.negated &&
    expression.operand.kind === 'column' &&
    expression.items.every(constant)
  )
    return { column: expression.operand, how: 'equality', ...notLiteral(...expression.items) };
  if (expression.kind === 'nullTest' && !expression.negated && expression.operand.kind === 'column')
    return { column: expression.operand, how: 'equality', notLiteral: true };
  // LIKE ignores case, so that only GLOB could use an index, and nobody writes it.
  return undefined;
}

const notLiteral = (...values: readonly BoundExpression[]): { notLiteral?: true } =>
  values.some((value) => hasSubquery(value) || (value.kind === 'literal' && value.value === null))
    ? { notLiteral: true }
    : {};

/** `a = 5 OR b = 5` and `5 IN (a, b)`: the columns, two at least. */
function sameLiteral(expression: BoundExpression): BoundColumn[] | undefined {
  const pairs =
    expression.kind === 'inList' && !expression.negated
      ? expression.items.map((item) => [item, expression.operand] as const)
      : alternatives(expression).map((part) => {
          if (part.kind === 'compare' && part.operator === '=') {
            return part.left.kind === 'column'
              ? ([part.left, part.right] as const)
              : ([part.right, part.left] as const);
          }
          return undefined;
        });
  const values = pairs.map((pair) => (pair?.[1].kind === 'literal' ? pair[1].value : null));
  const columns = pairs.flatMap((pair) => (pair?.[0].kind === 'column' ? [pair[0]] : []));
  return columns.length > 1 &&
    columns.length === pairs.length &&
    values.every((value) => value !== null && value === values[0])
    ? columns
    : undefined;
}

const alternatives = (expression: BoundExpression): readonly BoundExpression[] =>
  expression.kind === 'logic' && expression.operator === 'OR'
    ? expression.operands.flatMap(alternatives)
    : [expression];

function read(expression: BoundExpression, block: BlockBuilder, blocks: BlockBuilder[]): void {
  for (const column of columnsOf(expression)) {
    const use = block.find(column);
    use?.entry.read.add(use.column);
  }
  for (const aggregate of aggregatesOf(expression)) {
    const [argument] = aggregate.args;
    const of = argument?.kind === 'column' ? block.find(argument) : undefined;
    block.aggregates.push({
      name: aggregate.name,
      distinct: aggregate.distinct,
      of: of ? { source: of.source, column: of.column } : null,
      star: aggregate.args.length === 0,
    });
  }
  readSubqueries(expression, block, blocks);
}

function readSubqueries(
  expression: BoundExpression,
  block: BlockBuilder,
  blocks: BlockBuilder[],
): void {
  if (expression.kind === 'subquery' || expression.kind === 'exists')
    readInner(expression.query, block, blocks);
  if (expression.kind === 'inQuery') readInner(expression.query, block, blocks);
  for (const child of childrenOf(expression)) readSubqueries(child, block, blocks);
}

/**
 * A subquery that depends on the rows of the block is read with them; one that does not is read
 * once, on its own.
 */
function readInner(
  query: BoundQuery,
  block: BlockBuilder,
  blocks: BlockBuilder[],
): BlockBuilder | undefined {
  return readQuery(query, query.outer.length > 0 ? block : undefined, blocks);
}

const columnsOf = (expression: BoundExpression): BoundColumn[] =>
  [...expressionsIn(expression)].filter((part) => part.kind === 'column');
const aggregatesOf = (expression: BoundExpression) => [...aggregatesIn(expression)];
