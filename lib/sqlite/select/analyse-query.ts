import { childrenOf } from './bound-walk';
import {
  columnOf,
  type BoundBody,
  type BoundColumn,
  type BoundExpression,
  type BoundFrom,
  type BoundQuery,
  type BoundSelect,
} from './bound';

/** What one statement asks of the data, by source table: the raw material of access patterns. */
export interface QueryAnalysis {
  /** One entry a table, in order of first use; names in the case of the schema. */
  readonly tables: readonly TableUse[];
  readonly joins: readonly JoinPair[];
}

export interface TableUse {
  readonly table: string;
  readonly projected: readonly string[];
  readonly filtered: readonly string[];
  readonly grouped: readonly string[];
  readonly sorted: readonly string[];
  readonly aggregated: readonly string[];
}

/** `left.column = right.column`, in FROM, in WHERE or across a subquery. */
export interface JoinPair {
  readonly left: TableColumn;
  readonly right: TableColumn;
  /** `inner` and `left` for joins; `exists` for IN and correlated subqueries. */
  readonly kind: 'inner' | 'left' | 'exists';
}
export interface TableColumn {
  readonly table: string;
  readonly column: string;
}

type Role = 'projected' | 'filtered' | 'grouped' | 'sorted' | 'aggregated';

export function analyseQuery(query: BoundQuery): QueryAnalysis {
  const analysis = new Analysis();
  analysis.query(query, 'projected');
  return analysis.result();
}

class Analysis {
  private readonly uses = new Map<string, Record<Role, Set<string>>>();
  private readonly joins = new Map<string, JoinPair>();

  result(): QueryAnalysis {
    const tables = [...this.uses].map(([table, roles]) => ({
      table,
      projected: [...roles.projected],
      filtered: [...roles.filtered],
      grouped: [...roles.grouped],
      sorted: [...roles.sorted],
      aggregated: [...roles.aggregated],
    }));
    return { tables, joins: [...this.joins.values()] };
  }

  query(query: BoundQuery, role: Role): void {
    this.body(query.body, role);
    for (const term of query.orderBy) {
      if (term.key.kind === 'expression') this.expression(term.key.expression, 'sorted');
      else
        for (const column of outputColumns(query.body, term.key.index)) this.note(column, 'sorted');
    }
  }

  private body(body: BoundBody, role: Role): void {
    if (body.kind === 'compound') {
      this.body(body.left, role);
      this.body(body.right, role);
    } else if (body.kind === 'select') this.select(body, role);
    else for (const cell of body.rows.flat()) this.expression(cell, role);
  }

  private select(select: BoundSelect, role: Role): void {
    if (select.from) this.from(select.from);
    if (select.where) this.condition(select.where, 'inner');
    for (const key of select.groupBy) this.expression(key, 'grouped');
    if (select.having) this.expression(select.having, 'filtered');
    for (const item of select.items) this.expression(item.expression, role);
  }

  private from(from: BoundFrom): void {
    if (from.kind === 'join') {
      this.from(from.left);
      this.from(from.right);
      if (from.on) this.condition(from.on, from.join === 'INNER' ? 'inner' : 'left');
      return;
    }
    const { content } = from.source;
    if (content.kind === 'table') this.use(content.table.name);
    else if (content.kind === 'query') this.query(content.query, 'projected');
  }

  private condition(expression: BoundExpression, kind: JoinPair['kind']): void {
    if (expression.kind === 'logic' && expression.operator === 'AND') {
      for (const operand of expression.operands) this.condition(operand, kind);
      return;
    }
    if (
      expression.kind === 'compare' &&
      expression.operator === '=' &&
      expression.left.kind === 'column' &&
      expression.right.kind === 'column'
    ) {
      this.join(expression.left, expression.right, kind);
    }
    this.expression(expression, 'filtered');
  }

  private join(left: BoundColumn, right: BoundColumn, kind: JoinPair['kind']): void {
    const [a] = baseColumns(left);
    const [b] = baseColumns(right);
    if (!a || !b || left.source === right.source) return;
    this.joins.set(`${a.table}.${a.column}=${b.table}.${b.column}:${kind}`, {
      left: a,
      right: b,
      kind,
    });
  }

  private expression(expression: BoundExpression, role: Role): void {
    switch (expression.kind) {
      case 'column':
        this.note(expression, role);
        return;
      case 'aggregate':
        for (const child of childrenOf(expression)) this.expression(child, 'aggregated');
        return;
      case 'exists':
      case 'subquery':
        this.subquery(expression.query);
        return;
      case 'inQuery':
        expression.operands.forEach((operand, index) => {
          this.expression(operand, role);
          for (const column of outputColumns(expression.query.body, index))
            if (operand.kind === 'column') this.join(operand, column, 'exists');
        });
        this.subquery(expression.query);
        return;
      default:
        for (const child of childrenOf(expression)) this.expression(child, role);
    }
  }

  private subquery(query: BoundQuery): void {
    const correlated = query.outer.length > 0;
    if (correlated && query.body.kind === 'select' && query.body.where)
      this.condition(query.body.where, 'exists');
    this.query(query, 'projected');
  }

  private note(column: BoundColumn, role: Role): void {
    for (const base of baseColumns(column)) this.use(base.table)[role].add(base.column);
  }

  private use(table: string): Record<Role, Set<string>> {
    const known = this.uses.get(table);
    if (known) return known;
    const fresh = {
      projected: new Set<string>(),
      filtered: new Set<string>(),
      grouped: new Set<string>(),
      sorted: new Set<string>(),
      aggregated: new Set<string>(),
    };
    this.uses.set(table, fresh);
    return fresh;
  }
}

// The columns of source tables behind a column of a derived table.
function baseColumns(column: BoundColumn): TableColumn[] {
  const { content } = column.source;
  if (content.kind === 'table')
    return [{ table: content.table.name, column: columnOf(column).name }];
  if (content.kind === 'recursive') return [];
  return outputColumns(content.query.body, column.index).flatMap(baseColumns);
}

function outputColumns(body: BoundBody, index: number): BoundColumn[] {
  if (body.kind === 'compound')
    return [...outputColumns(body.left, index), ...outputColumns(body.right, index)];
  if (body.kind === 'values') return [];
  const expression = body.items[index]?.expression;
  return expression?.kind === 'column' ? [expression] : [];
}
