import { childrenOf } from '../../sqlite/select/bound-walk';
import {
  columnOf,
  type BoundAggregate,
  type BoundBody,
  type BoundColumn,
  type BoundExpression,
  type BoundFrom,
  type BoundQuery,
  type BoundSelect,
  type BoundWindow,
} from '../../sqlite/select/bound';
import { collationOfExpression } from '../../sqlite/select/expression-type';
import { aggregatesIn, windowsIn } from '../../sqlite/select/bound-references';
import { orderKeys } from '../../sqlite/select/bound-walk';
import { bareColumns } from '../plan/bare-columns';
import {
  columnsRead,
  conjuncts,
  expressionKey,
  subqueryOf,
} from '../../sqlite/select/bound-references';
import {
  declaredKeys,
  determinesColumns,
  determinesRow,
  strictKeys,
} from '../plan/determined-columns';
import { valueOverNoRows } from '../lower/empty-value';

/** What SQL leaves open: the caveat that names it. */
export const AMBIGUITIES = ['tie', 'unordered_limit', 'arbitrary_row', 'unordered_concat'] as const;
export type Ambiguity = (typeof AMBIGUITIES)[number];

export interface OpenConstructs {
  /** Of everything but the outermost LIMIT, which is judged by its rows. */
  readonly inner: ReadonlySet<Ambiguity>;
  readonly outermost: Ambiguity | undefined;
  /** The result depends on the order in which rows are read: by table, the columns that show it. */
  readonly scanned: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** The outermost ORDER BY sorts groups by a column that they do not determine. */
  readonly isOrderOpen: boolean;
  /** A LIMIT below the top level sorts null first, where the column may be null. */
  readonly innerNullFirst: boolean;
  /** Columns of text that ORDER BY, MIN or MAX compare. */
  readonly textKeys: readonly BoundColumn[];
}

/**
 * Finds what SQL leaves open by looking at the query alone: whether this data shows it, only
 * running it can tell.
 */
export function openConstructs(query: BoundQuery): OpenConstructs {
  const finder = new Finder();
  finder.query(query, 'outermost');
  const { inner, outermost, scanned, innerNullFirst, textKeys } = finder;
  const readsInOrder = finder.readsInOrder;
  return {
    inner,
    outermost,
    scanned: readsInOrder ? scanned : undefined,
    isOrderOpen: isOrderOpen(query),
    innerNullFirst,
    textKeys,
  };
}

type Role = 'outermost' | 'source' | 'scalar' | 'in' | 'exists';

/** Window functions whose value depends on the order among rows of equal keys. */
const BY_POSITION = new Set([
  'row_number',
  'lag',
  'lead',
  'first_value',
  'last_value',
  'nth_value',
  'ntile',
]);
const CONCATENATIONS = new Set([
  'group_concat',
  'string_agg',
  'json_group_array',
  'json_group_object',
]);

class Finder {
  readonly inner = new Set<Ambiguity>();
  outermost: Ambiguity | undefined;
  readonly scanned = new Map<string, Set<string>>();
  readsInOrder = false;
  innerNullFirst = false;
  readonly textKeys: BoundColumn[] = [];
  private readonly visited = new Set<BoundQuery>();

  query(query: BoundQuery, role: Role): void {
    if (this.visited.has(query)) return;
    this.visited.add(query);
    this.body(query.body, query);
    for (const key of orderKeys(query.orderBy)) this.within(key);
    const cut = this.cut(query, role);
    if (cut && role === 'outermost') this.outermost = cut;
    else if (cut) this.inner.add(cut);
    if (role === 'outermost' || query.limit) this.sortKeys(query, role);
  }

  /** Which of several rows are taken, where the query leaves it open. */
  private cut({ body, orderBy, limit }: BoundQuery, role: Role): Ambiguity | undefined {
    const isOneRow = body.kind === 'select' && body.aggregated && body.groupBy.length === 0;
    if (isOneRow || role === 'exists') return undefined;
    if (!limit && (role !== 'scalar' || isAtMostOne(body))) return undefined;
    if (isEverything(limit)) return undefined;
    if (orderBy.length === 0) return limit ? 'unordered_limit' : 'arbitrary_row';
    return body.kind === 'select' && isUniqueOrder(body, orderKeys(orderBy)) ? undefined : 'tie';
  }

  private sortKeys({ body, orderBy, limit }: BoundQuery, role: Role): void {
    for (const expression of orderKeys(orderBy)) this.textKey(expression);
    const [first] = orderBy;
    if (role === 'outermost' || !limit || first?.nulls !== 'FIRST' || body.kind !== 'select')
      return;
    if (first.key.kind === 'expression' && mayBeNull(first.key.expression))
      this.innerNullFirst = true;
  }

  private textKey(expression: BoundExpression): void {
    const column = stored(expression);
    if (!column || this.textKeys.some((known) => sameStored(known, column))) return;
    if (['TEXT', 'BLOB', undefined].includes(columnOf(column).affinity)) this.textKeys.push(column);
  }

  private body(body: BoundBody, query: BoundQuery | undefined): void {
    if (body.kind === 'compound') {
      this.body(body.left, undefined);
      this.body(body.right, undefined);
      return;
    }
    if (body.kind === 'values') return;
    if (body.from) this.from(body.from);
    const shown = body.items.map(({ expression }) => expression);
    const outputs = [
      ...shown,
      ...(body.having ? [body.having] : []),
      ...orderKeys(query?.orderBy ?? []),
    ];
    for (const expression of [...outputs, ...body.groupBy, ...(body.where ? [body.where] : [])])
      this.within(expression);
    if (body.aggregated) this.group(body, outputs);
    if (body.distinct) this.distinct(body, shown, orderKeys(query?.orderBy ?? []));
    for (const window of outputs.flatMap((expression) => [...windowsIn(expression)]))
      this.window(window, body);
  }

  private from(from: BoundFrom): void {
    if (from.kind === 'join') {
      this.from(from.left);
      this.from(from.right);
      if (from.on) this.within(from.on);
    } else if (from.source.content.kind === 'query')
      this.query(from.source.content.query, 'source');
  }

  private within(expression: BoundExpression): void {
    const query = subqueryOf(expression);
    if (query) this.query(query, roleOf(expression));
    for (const child of childrenOf(expression)) this.within(child);
  }

  private group(body: BoundSelect, outputs: readonly BoundExpression[]): void {
    const aggregates = outputs.flatMap((expression) => [...aggregatesIn(expression)]);
    for (const aggregate of aggregates) this.aggregate(aggregate);
    const keys = new Set(body.groupBy.map(expressionKey));
    const bare = bareColumns(outputs, (expression) => keys.has(expressionKey(expression)));
    const extremes = new Set(aggregates.filter(isExtreme).map(expressionKey));
    if (bare.length > 0 && !determinesColumns(body, body.groupBy, bare, strictKeys)) {
      this.readInOrder(extremes.size === 1 ? 'tie' : 'arbitrary_row', bare);
    }
    const folded = body.groupBy.filter(
      (key) => isFolded(key) && outputs.some((output) => reads(output, key)),
    );
    if (folded.length > 0) this.readInOrder('arbitrary_row', folded);
  }

  private aggregate(aggregate: BoundAggregate): void {
    const [argument] = aggregate.args;
    if (argument && CONCATENATIONS.has(aggregate.name)) {
      this.readInOrder(aggregate.orderBy.length > 0 ? 'tie' : 'unordered_concat', aggregate.args);
    }
    if (argument && isExtreme(aggregate)) {
      this.textKey(argument);
      if (isFolded(argument)) this.readInOrder('arbitrary_row', [argument]);
    }
  }

  private distinct(
    body: BoundSelect,
    shown: readonly BoundExpression[],
    keys: readonly BoundExpression[],
  ): void {
    const folded = shown.filter(isFolded);
    const items = new Set(shown.map(expressionKey));
    const hidden = keys.filter((key) => !items.has(expressionKey(key)));
    const isOpen = (key: BoundExpression): boolean =>
      !determinesColumns(body, shown, [...columnsRead(key)], strictKeys);
    if (folded.length > 0 && !determinesRow(body, shown, strictKeys))
      this.readInOrder('arbitrary_row', folded);
    if (hidden.some(isOpen)) this.readInOrder('arbitrary_row', hidden);
  }

  private window(window: BoundWindow, body: BoundSelect): void {
    const isByPosition =
      BY_POSITION.has(window.name) ||
      CONCATENATIONS.has(window.name) ||
      window.frame?.unit === 'ROWS';
    if (!isByPosition) return;
    const keys = [...window.partitionBy, ...orderKeys(window.orderBy)];
    if (isUniqueOrder({ ...body, distinct: false }, keys)) return;
    this.readInOrder(window.orderBy.length > 0 ? 'tie' : 'arbitrary_row', [
      ...window.args,
      ...body.items.map(({ expression }) => expression),
    ]);
  }

  private readInOrder(name: Ambiguity, showing: readonly BoundExpression[]): void {
    this.inner.add(name);
    this.readsInOrder = true;
    for (const column of showing.flatMap((expression) => [...columnsRead(expression)])) {
      const { content } = column.source;
      if (column.kind !== 'column' || content.kind !== 'table') continue;
      const columns = this.scanned.get(content.table.name) ?? new Set();
      this.scanned.set(content.table.name, columns.add(columnOf(column).name));
    }
  }
}

/**
 * Columns beside aggregates that the group does not determine, where no single MIN or MAX says
 * which row counts.
 */
export function openBareColumns(body: BoundSelect): readonly BoundExpression[] {
  if (!body.aggregated) return [];
  const outputs = [
    ...body.items.map(({ expression }) => expression),
    ...(body.having ? [body.having] : []),
  ];
  const extremes = outputs.flatMap((expression) => [...aggregatesIn(expression)]).filter(isExtreme);
  if (new Set(extremes.map(expressionKey)).size === 1) return [];
  const keys = new Set(body.groupBy.map(expressionKey));
  const bare = bareColumns(outputs, (expression) => keys.has(expressionKey(expression)));
  return bare.filter((column) => !determinesColumns(body, body.groupBy, [column], strictKeys));
}

/** `GROUP BY a ORDER BY b`: which row of the group gives b is open, and with it the order. */
function isOrderOpen({ body, orderBy }: BoundQuery): boolean {
  if (body.kind !== 'select' || !body.aggregated) return false;
  const keys = new Set(body.groupBy.map(expressionKey));
  const bare = bareColumns(orderKeys(orderBy), (part) => keys.has(expressionKey(part)));
  return bare.length > 0 && !determinesColumns(body, body.groupBy, bare, strictKeys);
}

const isExtreme = ({ name }: BoundAggregate): boolean => name === 'min' || name === 'max';

/** Texts that differ can be equal by the collation: which of them is shown is open. */
const isFolded = (expression: BoundExpression): boolean =>
  collationOfExpression(expression) !== 'BINARY' && !isKey(expression);

function isKey(expression: BoundExpression): boolean {
  if (expression.kind !== 'column') return false;
  return declaredKeys(expression.source).some(
    (key) => key.length === 1 && key[0]!.toLowerCase() === columnOf(expression).name.toLowerCase(),
  );
}

function reads(expression: BoundExpression, key: BoundExpression): boolean {
  if (expressionKey(expression) === expressionKey(key)) return true;
  return (
    expression.kind !== 'aggregate' && childrenOf(expression).some((child) => reads(child, key))
  );
}

/** No two rows have equal keys. */
function isUniqueOrder(body: BoundSelect, keys: readonly BoundExpression[]): boolean {
  const exact = keys.filter((key) => collationOfExpression(key) === 'BINARY');
  const present = new Set(exact.map(expressionKey));
  const hasAll = (expressions: readonly BoundExpression[]): boolean =>
    expressions.length > 0 &&
    expressions.every((expression) => present.has(expressionKey(expression)));
  if (body.distinct && hasAll(body.items.map(({ expression }) => expression))) return true;
  if (body.aggregated) return hasAll(body.groupBy);
  return determinesRow(body, exact, strictKeys);
}

/**
 * A scalar subquery whose conditions fix a key: by constants, or by values of the query around it.
 */
function isAtMostOne(body: BoundBody): boolean {
  if (body.kind !== 'select') return false;
  if (body.aggregated) return body.groupBy.length === 0;
  const own = new Set<number>();
  const collect = (from: BoundFrom | undefined): void => {
    if (from?.kind === 'source') own.add(from.source.id);
    else if (from) [from.left, from.right].forEach(collect);
  };
  collect(body.from);
  const isGiven = (expression: BoundExpression): boolean =>
    [...columnsRead(expression)].every(({ source }) => !own.has(source.id));
  const fixed = conjuncts(body.where).flatMap((condition) => {
    if (condition.kind !== 'compare' || condition.operator !== '=') return [];
    const { left, right } = condition;
    if (isGiven(right)) return [left];
    return isGiven(left) ? [right] : [];
  });
  return determinesRow(body, fixed, declaredKeys);
}

/** LIMIT -1 cuts nothing off. */
function isEverything(limit: BoundExpression | undefined): boolean {
  const value = limit && valueOverNoRows(limit)?.value;
  return (typeof value === 'bigint' || typeof value === 'number') && value < 0;
}

/** The column of a table that an expression shows, also through derived tables. */
function stored(expression: BoundExpression): BoundColumn | undefined {
  if (expression.kind === 'aggregate' && isExtreme(expression))
    return expression.args[0] && stored(expression.args[0]);
  if (expression.kind !== 'column') return undefined;
  const { content } = expression.source;
  if (content.kind === 'table') return expression;
  const inner =
    content.kind === 'query' && content.query.body.kind === 'select'
      ? content.query.body.items[expression.index]
      : undefined;
  return inner && stored(inner.expression);
}

const sameStored = (a: BoundColumn, b: BoundColumn): boolean =>
  tableOf(a) === tableOf(b) && columnOf(a).name === columnOf(b).name;
const tableOf = ({ source }: BoundColumn): string | undefined =>
  source.content.kind === 'table' ? source.content.table.name : undefined;

function mayBeNull(expression: BoundExpression): boolean {
  if (expression.kind === 'aggregate')
    return expression.name !== 'count' && expression.name !== 'total';
  if (expression.kind !== 'column' || expression.source.content.kind !== 'table') return true;
  return !expression.source.content.table.columns[expression.index]?.notNull;
}

function roleOf({ kind }: BoundExpression): Role {
  if (kind === 'exists') return 'exists';
  return kind === 'inQuery' ? 'in' : 'scalar';
}
