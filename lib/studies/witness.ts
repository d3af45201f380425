import { childrenOf } from '../sqlite/select/bound-walk';
import {
  columnOf,
  type BoundBody,
  type BoundColumn,
  type BoundExpression,
  type BoundFrom,
  type BoundQuery,
  type BoundSource,
} from '../sqlite/select/bound';
import { conjuncts, subqueryOf } from '../sqlite/select/bound-references';

export type Constant = bigint | number | string;

/** What a condition asks of one value. */
export type Demand =
  | { readonly kind: 'value'; readonly value: Constant }
  | { readonly kind: 'above' | 'below'; readonly value: Constant; readonly strict: boolean }
  | { readonly kind: 'like'; readonly pattern: string }
  | { readonly kind: 'datePart'; readonly format: string; readonly value: string }
  | { readonly kind: 'part'; readonly start: number; readonly text: string }
  | { readonly kind: 'null' };

export interface Cell {
  readonly table: string;
  readonly column: string;
  /** Use of the table in the query: cells of one row have one number. */
  readonly row: number;
}

/** Cells that the query wants to be equal, with what it asks of their value. */
export interface Group {
  readonly cells: readonly Cell[];
  readonly demands: readonly Demand[];
}

/**
 * Rows that would answer a query: one for each use of a table, as far as its plain conditions tell.
 */
export interface Witness {
  readonly rows: readonly { readonly row: number; readonly table: string }[];
  readonly groups: readonly Group[];
}

/**
 * Reads off what rows would satisfy the conditions of a query; of alternatives it takes the first.
 */
export function witnessOf(query: BoundQuery): Witness {
  const found = new WitnessReader();
  found.query(query);
  return found.witness();
}

/** Constants that any expression of the query compares a column with, wherever that is. */
export function comparedConstants(
  query: BoundQuery,
): { readonly table: string; readonly column: string; readonly value: Constant }[] {
  const found: { table: string; column: string; value: Constant }[] = [];
  const visit = (expression: BoundExpression): void => {
    const columns = comparedIn(expression);
    for (const side of columns) {
      const column = side.kind === 'column' ? tableColumn(side) : undefined;
      if (column)
        for (const other of columns)
          if (constantOf(other) !== undefined) found.push({ ...column, value: constantOf(other)! });
    }
    for (const child of childrenOf(expression)) visit(child);
    const inner = subqueryOf(expression);
    if (inner) eachExpression(inner, visit);
  };
  eachExpression(query, visit);
  return found;
}

/** Columns of text that queries calculate with: their text has to be a number. */
export function calculatedColumns(
  query: BoundQuery,
): { readonly table: string; readonly column: string }[] {
  const found: { table: string; column: string }[] = [];
  const visit = (expression: BoundExpression): void => {
    const isNumeric =
      (expression.kind === 'cast' && expression.to !== 'TEXT') ||
      expression.kind === 'arithmetic' ||
      (expression.kind === 'aggregate' && ['sum', 'avg'].includes(expression.name));
    for (const child of childrenOf(expression)) {
      const column = isNumeric && child.kind === 'column' ? tableColumn(child) : undefined;
      if (column) found.push(column);
      visit(child);
    }
    const inner = subqueryOf(expression);
    if (inner) eachExpression(inner, visit);
  };
  eachExpression(query, visit);
  return found;
}

function eachExpression(
  { body, orderBy }: Pick<BoundQuery, 'body' | 'orderBy'>,
  visit: (expression: BoundExpression) => void,
): void {
  if (body.kind === 'compound') {
    eachExpression({ body: body.left, orderBy: [] }, visit);
    eachExpression({ body: body.right, orderBy: [] }, visit);
  }
  if (body.kind !== 'select') return;
  for (const { expression } of body.items) visit(expression);
  for (const condition of [...conjuncts(body.where), ...conjuncts(body.having), ...body.groupBy])
    visit(condition);
  for (const { key } of orderBy) if (key.kind === 'expression') visit(key.expression);
  const from = (part: BoundFrom | undefined): void => {
    if (part?.kind === 'source' && part.source.content.kind === 'query')
      eachExpression(part.source.content.query, visit);
    if (part?.kind === 'join') {
      for (const condition of conjuncts(part.on)) visit(condition);
      from(part.left);
      from(part.right);
    }
  };
  from(body.from);
}

class WitnessReader {
  private readonly rows = new Map<number, string>();
  private readonly derived = new Map<number, BoundQuery>();
  private readonly parents = new Map<string, string>();
  private readonly cells = new Map<string, Cell>();
  private readonly demands = new Map<string, Demand[]>();

  query({ body }: BoundQuery): void {
    this.body(body);
  }

  witness(): Witness {
    const groups = new Map<string, { cells: Cell[]; demands: Demand[] }>();
    for (const [key, cell] of this.cells) {
      const root = this.find(key);
      const group = groups.get(root) ?? { cells: [], demands: [] };
      group.cells.push(cell);
      group.demands.push(...(this.demands.get(key) ?? []));
      groups.set(root, group);
    }
    return {
      rows: [...this.rows].map(([row, table]) => ({ row, table })),
      groups: [...groups.values()],
    };
  }

  private body(body: BoundBody): void {
    if (body.kind === 'compound') {
      this.body(body.left);
      if (body.operator !== 'EXCEPT') this.body(body.right);
    }
    if (body.kind !== 'select') return;
    this.from(body.from);
    for (const condition of conjuncts(body.where)) this.condition(condition);
  }

  private from(from: BoundFrom | undefined): void {
    if (!from) return;
    if (from.kind === 'join') {
      this.from(from.left);
      this.from(from.right);
      for (const condition of conjuncts(from.on)) this.condition(condition);
      return;
    }
    const { content, id } = from.source;
    if (content.kind === 'table') this.rows.set(id, content.table.name);
    if (content.kind === 'query') {
      this.derived.set(id, content.query);
      this.query(content.query);
    }
  }

  private condition(condition: BoundExpression): void {
    switch (condition.kind) {
      case 'logic':
        for (const operand of condition.operator === 'AND'
          ? condition.operands
          : condition.operands.slice(0, 1))
          this.condition(operand);
        return;
      case 'compare':
        this.comparison(condition.operator, condition.left, condition.right);
        this.comparison(mirrored[condition.operator], condition.right, condition.left);
        return;
      case 'pattern': {
        const pattern = constantOf(condition.pattern);
        if (!condition.negated && typeof pattern === 'string')
          this.demand(condition.operand, { kind: 'like', pattern });
        return;
      }
      case 'inList': {
        const [first] = condition.items.map(constantOf);
        if (!condition.negated && first !== undefined)
          this.demand(condition.operand, { kind: 'value', value: first });
        return;
      }
      case 'nullTest':
        if (!condition.negated) this.demand(condition.operand, { kind: 'null' });
        return;
      case 'exists':
        this.query(condition.query);
        return;
      case 'inQuery':
        if (condition.negated) return;
        this.query(condition.query);
        condition.operands.forEach((operand, index) =>
          this.unite(operand, itemOf(condition.query, index)),
        );
        return;
      default:
    }
  }

  private comparison(operator: string, left: BoundExpression, right: BoundExpression): void {
    const value = constantOf(right);
    if (value !== undefined) {
      if (operator === '=') this.demand(left, { kind: 'value', value });
      if (operator === '>' || operator === '>=')
        this.demand(left, { kind: 'above', value, strict: operator === '>' });
      if (operator === '<' || operator === '<=')
        this.demand(left, { kind: 'below', value, strict: operator === '<' });
    } else if (operator === '=' && right.kind === 'subquery') {
      this.query(right.query);
      this.unite(left, itemOf(right.query, 0));
    } else if (operator === '=') this.unite(left, right);
  }

  private demand(expression: BoundExpression, demand: Demand): void {
    const found = this.reduce(expression, demand);
    const key = found && this.key(found.column);
    if (key !== undefined) this.demands.set(key, [...(this.demands.get(key) ?? []), found!.demand]);
  }

  /** A demand on a function of a column as one on the column. */
  private reduce(
    expression: BoundExpression,
    demand: Demand,
  ): { column: BoundColumn; demand: Demand } | undefined {
    if (expression.kind === 'column') return { column: expression, demand };
    if (expression.kind === 'cast' || expression.kind === 'collate')
      return this.reduce(expression.operand, demand);
    if (expression.kind !== 'call') return undefined;
    const [first, second] = expression.args;
    if (expression.name === 'strftime' && first && second) {
      const format = constantOf(first);
      if (typeof format !== 'string' || !('value' in demand)) return undefined;
      const step = { above: 1, below: -1 }[demand.kind as string] ?? 0;
      const value = /^\d+$/.test(String(demand.value))
        ? String(Number(demand.value) + step).padStart(String(demand.value).length, '0')
        : String(demand.value);
      return this.reduce(second, { kind: 'datePart', format, value });
    }
    if (
      (expression.name === 'substr' || expression.name === 'substring') &&
      first &&
      second &&
      demand.kind === 'value'
    ) {
      const start = constantOf(second);
      return typeof start === 'bigint' && start > 0n
        ? this.reduce(first, { kind: 'part', start: Number(start) - 1, text: String(demand.value) })
        : undefined;
    }
    return first &&
      ['lower', 'upper', 'trim', 'date', 'datetime', 'ifnull', 'coalesce', 'round', 'abs'].includes(
        expression.name,
      )
      ? this.reduce(first, demand)
      : undefined;
  }

  private unite(a: BoundExpression, b: BoundExpression | undefined): void {
    const [left, right] = [a, b]
      .map((side) => (side?.kind === 'cast' ? side.operand : side))
      .map((side) => (side?.kind === 'column' ? this.key(side) : undefined));
    if (left !== undefined && right !== undefined)
      this.parents.set(this.find(left), this.find(right));
  }

  private find(key: string): string {
    let at = key;
    for (let up = this.parents.get(at); up !== undefined && up !== at; up = this.parents.get(at))
      at = up;
    return at;
  }

  private key(column: BoundColumn): string | undefined {
    const query = this.derived.get(column.source.id);
    if (query) {
      const item = itemOf(query, column.index);
      return item?.kind === 'column' ? this.key(item) : undefined;
    }
    const place = tableColumn(column);
    if (!place) return undefined;
    const key = `${String(column.source.id)}.${place.column}`;
    this.cells.set(key, { ...place, row: column.source.id });
    return key;
  }
}

const mirrored = { '=': '=', '<>': '<>', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

const itemOf = ({ body }: BoundQuery, at: number): BoundExpression | undefined =>
  body.kind === 'select' ? body.items[at]?.expression : undefined;

function tableColumn(column: BoundColumn): { table: string; column: string } | undefined {
  const { content }: BoundSource = column.source;
  return content.kind === 'table'
    ? { table: content.table.name, column: columnOf(column).name }
    : undefined;
}

function constantOf(expression: BoundExpression): Constant | undefined {
  if (expression.kind === 'negate' && expression.operator === '-') {
    const value = constantOf(expression.operand);
    return typeof value === 'bigint' || typeof value === 'number' ? -value : undefined;
  }
  if (expression.kind === 'cast' || expression.kind === 'collate')
    return constantOf(expression.operand);
  if (
    expression.kind !== 'literal' ||
    expression.value === null ||
    expression.value instanceof Uint8Array
  )
    return undefined;
  return expression.value;
}

/** Both sides of a comparison, or an operand and the list that it is compared with. */
function comparedIn(expression: BoundExpression): readonly BoundExpression[] {
  if (expression.kind === 'compare') return [expression.left, expression.right];
  return expression.kind === 'inList' ? [expression.operand, ...expression.items] : [];
}
