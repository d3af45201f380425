import { quoteName, sameName, type Catalog } from '../../sqlite/catalog';
import type {
  CommonTable,
  Expression,
  OrderTerm,
  SelectCore,
  SelectItem,
  SelectStatement,
} from '../../sqlite/select/ast';
import type { Binding, BoundExpression } from '../../sqlite/select/bound';
import { parseSelect } from '../../sqlite/select/parse-select';
import { printSelect } from '../../sqlite/select/print-select';
import { expressionKey, windowsIn } from '../../sqlite/select/bound-references';
import { openBareColumns } from './open-constructs';

export type Direction = 'ASC' | 'DESC';

export interface Reordering {
  /** How rows of equal sort keys follow one another: by their values, in this direction. */
  readonly direction: Direction;
  /** Tables that are read in another order, with the columns that they are sorted by first. */
  readonly scanned: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** The outermost query gets a complete order, too. */
  readonly outermost: boolean;
  /** The result has to be an answer that SQL allows, not only one that shows what is open. */
  readonly legal?: boolean;
  /** Sort keys whose first term puts null first put it last. */
  readonly nullsLast?: boolean;
  /**
   * Instead of all that: tables are read in an order of their own for each multiplier (of a row's
   * place, modulo a prime), and what is open stays open. SQLite then takes the rows that it meets
   * first, so that each is an answer that SQL allows.
   */
  readonly shuffle?: number;
  /** Likewise, but tables are read from this row on (the first is 1), and then from the first. */
  readonly startsAt?: number;
  /** By table, columns whose texts are read as numbers. */
  readonly numeric?: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * The query with every order below the top level made complete, so that nothing is left to chance:
 * one of the answers that SQL allows. In both directions, rows that tie come first and last.
 */
export function reorderedSql(
  statement: SelectStatement,
  binding: Binding,
  catalog: Catalog,
  reordering: Reordering,
): string {
  if (reordering.shuffle !== undefined || reordering.startsAt !== undefined)
    return rereadSql(statement, catalog, reordering);
  const rewriter = new Rewriter(binding, reordering);
  const rewritten = rewriter.statement(statement);
  const whole = reordering.outermost
    ? rewriter.complete(statement, rewritten, 'outermost')
    : rewritten;
  const tables = reordering.scanned
    ? scannedTables(statement, catalog, reordering.scanned, reordering)
    : [];
  return printSelect({ ...whole, with: [...tables, ...whole.with] });
}

/** The query with its tables read in another order, whether or not its names can be resolved. */
export function rereadSql(
  statement: SelectStatement,
  catalog: Catalog,
  reordering: Reordering,
): string {
  const tables = scannedTables(statement, catalog, new Map(), reordering);
  return printSelect({ ...statement, with: [...tables, ...statement.with] });
}

type Role = 'outermost' | 'source' | 'scalar' | 'in';

class Rewriter {
  constructor(
    private readonly binding: Binding,
    private readonly reordering: Reordering,
  ) {}

  statement(statement: SelectStatement): SelectStatement {
    return this.inside(statement) as SelectStatement;
  }

  /**
   * Orders what the query leaves open; `rewritten` is the query with its own subqueries rewritten.
   */
  complete(original: SelectStatement, rewritten: SelectStatement, role: Role): SelectStatement {
    const width = this.binding.queries.get(original)?.columns.length;
    const { body, limit } = rewritten;
    const cuts = limit !== undefined || role === 'scalar';
    if (width === undefined || body.kind === 'values' || (!cuts && role !== 'source'))
      return rewritten;
    const bound: Expression = limit ?? number(role === 'scalar' ? 1 : -1);
    const grouped = this.groupedDistinct(original, rewritten);
    const completed = [
      ...(grouped ?? rewritten).orderBy.map((term, index) => this.term(term, index)),
      ...this.positions(width),
    ];
    return { ...(grouped ?? rewritten), orderBy: completed, limit: bound };
  }

  /**
   * DISTINCT sorted by what it does not return: each row by the least, or by the greatest, of the
   * sort keys that it may have. Undefined for all other queries.
   */
  private groupedDistinct(
    original: SelectStatement,
    { body, orderBy, ...rest }: SelectStatement,
  ): SelectStatement | undefined {
    const bound = this.binding.queries.get(original);
    if (body.kind !== 'select' || bound?.body.kind !== 'select') return undefined;
    const { items, distinct, aggregated } = bound.body;
    const shown = items.map(({ expression }) => expression);
    const isPlain = body.items.every(({ kind }) => kind === 'expression');
    if (!distinct || aggregated || !isPlain || shown.some(hasWindow)) return undefined;
    const known = new Set(shown.map(expressionKey));
    const isHidden = bound.orderBy.map(
      ({ key }) => key.kind === 'expression' && !known.has(expressionKey(key.expression)),
    );
    if (!isHidden.includes(true)) return undefined;
    const extreme = this.reordering.direction === 'ASC' ? 'min' : 'max';
    return {
      ...rest,
      body: { ...body, distinct: false, groupBy: shown.map((_, index) => number(index + 1)) },
      orderBy: orderBy.map((term, index) =>
        isHidden[index] ? { ...term, expression: call(extreme, [term.expression]) } : term,
      ),
    };
  }

  private term(term: OrderTerm, index: number): OrderTerm {
    const isNullFirst = (term.nulls ?? (term.direction === 'ASC' ? 'FIRST' : 'LAST')) === 'FIRST';
    return this.reordering.nullsLast === true && index === 0 && isNullFirst
      ? { ...term, nulls: 'LAST' }
      : term;
  }

  private positions(width: number): OrderTerm[] {
    return Array.from({ length: width }, (_, index) => ({
      expression: number(index + 1),
      direction: this.reordering.direction,
    }));
  }

  /** Of a group's rows that differ in a bare column, the least or the greatest value. */
  private pickedRows(original: SelectCore, rewritten: SelectCore): SelectCore {
    const bound = this.binding.selects.get(original);
    if (!bound || original.items.length !== bound.items.length) return rewritten;
    const open = new Set(openBareColumns(bound).map(expressionKey));
    const isPicked = (index: number): boolean =>
      original.items[index]?.kind === 'expression' &&
      open.has(expressionKey(bound.items[index]!.expression));
    // The values of one column come from a row; those of several need not come from the same.
    if (this.reordering.legal && bound.items.filter((_, index) => isPicked(index)).length > 1)
      return rewritten;
    const items = rewritten.items.map((item, index): SelectItem => {
      if (item.kind !== 'expression' || !isPicked(index)) return item;
      return {
        ...item,
        expression: extremeOf(item.expression, this.reordering.direction),
        alias: item.alias ?? bound.items[index]!.name,
      };
    });
    return { ...rewritten, items };
  }

  private inside(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((inner) => this.inside(inner));
    if (typeof value !== 'object' || value === null) return value;
    const node = value as Record<string, unknown>;
    const copy = Object.fromEntries(
      Object.entries(node).map(([key, inner]) => [key, this.inside(inner)]),
    );
    if (node['kind'] === 'select')
      return this.pickedRows(value as SelectCore, copy as unknown as SelectCore);
    const query = node['query'] as SelectStatement | undefined;
    const role = query && roleOf(node);
    return query && role
      ? { ...copy, query: this.complete(query, copy['query'] as SelectStatement, role) }
      : copy;
  }
}

const hasWindow = (expression: BoundExpression): boolean =>
  windowsIn(expression).next().done === false;

const call = (name: string, args: readonly Expression[]): Expression => ({
  kind: 'call',
  name,
  star: args.length === 0,
  distinct: false,
  args,
  orderBy: [],
  start: 0,
  end: 0,
});

/** The least value, null being less than any other; or the greatest. */
function extremeOf(column: Expression, direction: Direction): Expression {
  if (direction === 'DESC') return call('max', [column]);
  const when: Expression = {
    kind: 'binary',
    operator: '=',
    left: call('count', [column]),
    right: call('count', []),
    start: 0,
    end: 0,
  };
  return { kind: 'case', branches: [{ when, then: call('min', [column]) }], start: 0, end: 0 };
}

function roleOf(node: Record<string, unknown>): Role | undefined {
  switch (node['kind']) {
    case 'subquery':
      return 'scalar';
    case 'derived':
      return 'source';
    // The set of IN.
    case 'query':
      return 'in';
    case 'exists':
      return undefined;
    default:
      // A common table; a recursive one is a compound.
      return (node['query'] as SelectStatement).body.kind === 'select' ? 'source' : undefined;
  }
}

const number = (value: number): Expression =>
  value < 0
    ? { kind: 'unary', operator: '-', operand: number(-value), start: 0, end: 0 }
    : { kind: 'number', text: String(value), start: 0, end: 0 };

/**
 * Common tables that stand in front of tables of their names, and give the same rows in another
 * order.
 */
function scannedTables(
  statement: SelectStatement,
  catalog: Catalog,
  scanned: ReadonlyMap<string, ReadonlySet<string>>,
  { direction, numeric, shuffle, startsAt }: Reordering,
): CommonTable[] {
  return namesRead(statement).flatMap((name) => {
    const table = catalog.tables.find((candidate) => sameName(candidate.name, name));
    const view = catalog.views?.some((candidate) => sameName(candidate.name, name));
    if (!table && !view) return [];
    const columns = table ? [...(scanned.get(table.name) ?? [])].map(quoteName) : [];
    const hasRowid =
      table &&
      !table.withoutRowid &&
      !table.columns.some((column) => sameName(column.name, 'rowid'));
    const last = hasRowid ? 'rowid' : 'row_number() OVER ()';
    const inDirection = [...columns, last].map((term) => `${term} ${direction}`).join(', ');
    const order = otherStart(startsAt) ?? otherOrder(last, shuffle) ?? inDirection;
    const asNumbers = table && numeric?.get(table.name);
    const items = asNumbers
      ? table.columns.map((column) => itemOf(column.name, asNumbers.has(column.name)))
      : ['*'];
    const query = parseSelect(
      `SELECT ${items.join(', ')} FROM main.${quoteName(name)} ORDER BY ${order} LIMIT -1`,
    );
    return [{ name, materialized: true, query }];
  });
}

/** An order that no index has and that nothing else in the query sorts by. */
const otherOrder = (place: string, multiplier: number | undefined): string | undefined =>
  multiplier === undefined ? undefined : `(${place} % 1000003) * ${multiplier} % 1000003`;

const otherStart = (row: number | undefined): string | undefined =>
  row === undefined ? undefined : `row_number() OVER () < ${row}, row_number() OVER ()`;

/** Tables and views of the database that the query names. */
export function namesRead(statement: SelectStatement): string[] {
  const named = new Set<string>();
  const defined = new Set<string>();
  collectNames(statement, named, defined);
  return [...named].filter((name) => !defined.has(name));
}

function itemOf(column: string, asNumber: boolean): string {
  const name = quoteName(column);
  return asNumber ? `CAST(${name} AS NUMERIC) AS ${name}` : name;
}

function collectNames(value: unknown, named: Set<string>, defined: Set<string>): void {
  if (Array.isArray(value)) for (const inner of value) collectNames(inner, named, defined);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const node = value as Partial<{
    kind: string;
    name: string;
    schema: string;
    with: CommonTable[];
  }>;
  if (node.kind === 'table' && node.name !== undefined && node.schema === undefined)
    named.add(node.name.toLowerCase());
  for (const { name } of node.with ?? []) defined.add(name.toLowerCase());
  for (const inner of Object.values(value)) collectNames(inner, named, defined);
}
