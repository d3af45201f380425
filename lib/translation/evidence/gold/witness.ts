import { sameName, type Catalog } from '../../../sqlite/catalog';
import type { Copy } from './design-columns';
import {
  columnOf,
  type BoundColumn,
  type BoundExpression,
  type BoundOrder,
  type BoundQuery,
  type BoundSource,
} from '../../../sqlite/select/bound';
import { expressionsIn, orderKeys, walkBound } from '../../../sqlite/select/bound-walk';
import { tryReadSql } from '../../../sqlite/select/read-sql';

/** A use of a table in the item's SQL: what it is there for. */
export interface SourceUse {
  readonly alias: string;
  readonly table: string;
  /** What its rows are joined by: own column, and column of the other table. */
  readonly links: readonly Link[];
  /** Constants by the column, in lower case, that they are compared with. */
  readonly constants: ReadonlyMap<string, readonly string[]>;
  /** Columns, in lower case, that are read for more than a join. */
  readonly reads: ReadonlySet<string>;
  /** Columns, in lower case, that are counted. */
  readonly counted: ReadonlySet<string>;
  /** Columns, in lower case, by which rows are sorted or ranked. */
  readonly sorted: ReadonlySet<string>;
  /** Aggregates, in lower case, by the column that they are of. */
  readonly aggregates: ReadonlyMap<string, ReadonlySet<string>>;
  /** The SQL reads rows of a subquery as well, which are followed no further. */
  readonly isDerived: boolean;
}

export interface Link {
  readonly column: string;
  readonly otherTable: string;
  readonly otherColumn: string;
}

interface Collected {
  readonly alias: string;
  readonly table: string;
  readonly links: Link[];
  readonly constants: Map<string, string[]>;
  readonly reads: Set<string>;
  readonly sorted: Set<string>;
  readonly aggregates: Map<string, Set<string>>;
}

/** Whether a copy repeats the rows that this use joins: one role of a table of several. */
export const isRoleOf = ({ holder, columns }: Copy, { links }: SourceUse): boolean =>
  links.some(
    ({ otherTable, otherColumn }) =>
      sameName(otherTable, holder) && columns.some((own) => sameName(own, otherColumn)),
  );

/** What the SQL does with its tables; empty where it cannot be read. */
export function sourceUses(sql: string, catalog: Catalog): readonly SourceUse[] {
  const read = tryReadSql(sql, catalog);
  return read ? new UseCollector().collect(read.binding.query) : [];
}

const isSource = (node: object): node is BoundSource => 'content' in node && 'columns' in node;

class UseCollector {
  private readonly uses = new Map<number, Collected>();
  private readonly joined = new Set<BoundExpression>();
  private isDerived = false;

  collect(query: BoundQuery): readonly SourceUse[] {
    walkBound(query, (node) => {
      // What lies below a table is the schema.
      if (isSource(node)) {
        const isTable = this.useOf(node) !== undefined;
        this.isDerived ||= !isTable;
        return !isTable;
      }
      if ('orderBy' in node) this.sort(node.orderBy as readonly BoundOrder[]);
      if ('kind' in node) this.visit(node as BoundExpression);
      return true;
    });
    return [...this.uses.values()].map((use) => ({
      ...use,
      isDerived: this.isDerived,
      counted: new Set(
        [...use.aggregates].filter(([, names]) => names.has('count')).map(([column]) => column),
      ),
    }));
  }

  private useOf({ id, name, content }: BoundSource): Collected | undefined {
    if (content.kind !== 'table') return undefined;
    const known = this.uses.get(id) ?? {
      alias: name,
      table: content.table.name,
      links: [],
      constants: new Map<string, string[]>(),
      reads: new Set<string>(),
      sorted: new Set<string>(),
      aggregates: new Map<string, Set<string>>(),
    };
    this.uses.set(id, known);
    return known;
  }

  private visit(expression: BoundExpression): void {
    if (expression.kind === 'compare') {
      const { left, right } = expression;
      if (left.kind === 'column' && right.kind === 'column' && left.source !== right.source) {
        this.link(left, right);
        this.link(right, left);
        this.joined.add(left).add(right);
        return;
      }
      this.compared(left, right);
      this.compared(right, left);
      if (right.kind === 'subquery') this.linkTo(left, right.query);
      if (left.kind === 'subquery') this.linkTo(right, left.query);
    }
    if (expression.kind === 'inQuery' && expression.operands.length === 1)
      this.linkTo(expression.operands[0]!, expression.query);
    if (expression.kind === 'aggregate')
      this.aggregated(expression.name.toLowerCase(), expression.args);
    if (expression.kind === 'pattern') this.compared(expression.operand, expression.pattern);
    if (expression.kind === 'inList')
      for (const item of expression.items) this.compared(expression.operand, item);
    if (expression.kind === 'column' && !this.joined.has(expression)) {
      const use = this.useOf(expression.source);
      if (use) use.reads.add(columnOf(expression).name.toLowerCase());
    }
  }

  private sort(orderBy: readonly BoundOrder[]): void {
    for (const key of orderKeys(orderBy))
      for (const part of expressionsIn(key, isAggregate))
        if (part.kind === 'column')
          this.useOf(part.source)?.sorted.add(columnOf(part).name.toLowerCase());
  }

  private aggregated(name: string, args: readonly BoundExpression[]): void {
    const values = args.flatMap(valuesOf);
    for (const value of values) {
      for (const part of expressionsIn(value)) {
        if (part.kind !== 'column') continue;
        const use = this.useOf(part.source);
        const key = columnOf(part).name.toLowerCase();
        use?.aggregates.set(key, new Set([...(use.aggregates.get(key) ?? []), name]));
      }
    }
  }

  /** `x IN (SELECT y …)` leads from one row to the other as a join does. */
  private linkTo(own: BoundExpression, { body }: BoundQuery): void {
    const [item] = body.kind === 'select' ? body.items : [];
    if (own.kind !== 'column' || item?.expression.kind !== 'column') return;
    this.link(own, item.expression);
    this.link(item.expression, own);
  }

  private link(own: BoundColumn, other: BoundColumn): void {
    const [use, otherUse] = [this.useOf(own.source), this.useOf(other.source)];
    if (!use || !otherUse) return;
    use.links.push({
      column: columnOf(own).name,
      otherTable: otherUse.table,
      otherColumn: columnOf(other).name,
    });
  }

  /** A constant that the column, or what is made of it alone, is compared with. */
  private compared(operand: BoundExpression, value: BoundExpression): void {
    if (value.kind !== 'literal' || value.value === null) return;
    for (const part of expressionsIn(operand)) {
      if (part.kind !== 'column') continue;
      const use = this.useOf(part.source);
      const name = use && columnOf(part).name.toLowerCase();
      if (name === undefined) continue;
      use?.constants.set(name, [...(use.constants.get(name) ?? []), String(value.value)]);
    }
  }
}

/** What an expression can be: of CASE the branches, of a condition nothing of its columns. */
function valuesOf(expression: BoundExpression): readonly BoundExpression[] {
  if (expression.kind === 'case')
    return [...expression.branches.map(({ then }) => then), expression.otherwise].flatMap(valuesOf);
  return CONDITIONS.has(expression.kind) ? [] : [expression];
}

const CONDITIONS: ReadonlySet<BoundExpression['kind']> = new Set([
  'compare',
  'logic',
  'not',
  'nullTest',
  'pattern',
  'inList',
]);

const isAggregate = ({ kind }: BoundExpression): boolean => kind === 'aggregate';
