import type { Removal } from '../profile/number-removal';
import {
  columnOf,
  type BoundBody,
  type BoundCall,
  type BoundColumn,
  type BoundComparison,
  type BoundExpression,
  type BoundFrom,
  type BoundQuery,
} from './bound';
import { orderKeys } from './bound-walk';
import { removalOf } from './text-removal';

/**
 * What a query asks of the text of a column: nothing but to be itself (`same`: shown, grouped,
 * compared for equality), its number (`number`), its place in the order of texts (`order`, beside
 * these constants), or the text (`text`, in this construct). `removed`: what functions take away
 * from it before.
 */
export type TextUse =
  | { readonly kind: 'same' | 'number'; readonly removed: readonly Removal[] }
  | { readonly kind: 'order'; readonly beside: readonly string[] }
  | { readonly kind: 'text'; readonly construct: string };

export interface ColumnTextUse {
  readonly table: string;
  readonly column: string;
  readonly use: TextUse;
}

const SAME: TextUse = { kind: 'same', removed: [] };
const NUMBER: TextUse = { kind: 'number', removed: [] };
const ORDER: TextUse = { kind: 'order', beside: [] };
const inText = (construct: string): TextUse => ({ kind: 'text', construct });

/** Every use of a table's column by the query, those of its subqueries and views included. */
export function textUses(query: BoundQuery): ColumnTextUse[] {
  const found = new UseFinder();
  found.query(query, SAME);
  return found.uses;
}

class UseFinder {
  readonly uses: ColumnTextUse[] = [];
  readonly #seen = new Set<object>();

  /** `outputs`: what is made of the query's result columns. */
  query(query: BoundQuery, outputs: TextUse): void {
    this.#body(query.body, query.body.kind === 'compound' ? inText('a set operation') : outputs);
    for (const { key } of query.orderBy) {
      if (key.kind === 'expression') this.#expression(key.expression, ORDER);
      else for (const item of itemsAt(query.body, key.index)) this.#expression(item, ORDER);
    }
  }

  #body(body: BoundBody, outputs: TextUse): void {
    switch (body.kind) {
      case 'compound':
        this.#body(body.left, outputs);
        this.#body(body.right, outputs);
        return;
      case 'values':
        return;
      case 'select':
        this.#from(body.from);
        if (body.where) this.#condition(body.where);
        for (const key of body.groupBy) this.#expression(key, SAME);
        if (body.having) this.#condition(body.having);
        for (const { expression } of body.items) this.#expression(expression, outputs);
    }
  }

  #from(from: BoundFrom | undefined): void {
    if (!from) return;
    if (from.kind === 'join') {
      this.#from(from.left);
      this.#from(from.right);
      if (from.on) this.#condition(from.on);
      return;
    }
    const { content } = from.source;
    if (content.kind !== 'query' || this.#seen.has(content.query)) return;
    this.#seen.add(content.query);
    this.query(content.query, SAME);
  }

  /** A truth value: of a bare column its number. */
  #condition(expression: BoundExpression): void {
    this.#expression(expression, NUMBER);
  }

  #column(column: BoundColumn, use: TextUse): void {
    const { content } = column.source;
    if (content.kind === 'table')
      this.uses.push({ table: content.table.name, column: columnOf(column).name, use });
    if (content.kind === 'query')
      for (const item of itemsAt(content.query.body, column.index)) this.#expression(item, use);
  }

  #all(expressions: readonly BoundExpression[], use: TextUse): void {
    for (const expression of expressions) this.#expression(expression, use);
  }

  #expression(expression: BoundExpression, use: TextUse): void {
    switch (expression.kind) {
      case 'literal':
      case 'clock':
      case 'rowid':
        return;
      case 'column':
        return this.#column(expression, use);
      case 'not':
        return this.#condition(expression.operand);
      case 'logic':
        return this.#all(expression.operands, NUMBER);
      case 'compare':
        return this.#comparison(expression);
      case 'arithmetic':
        return this.#all([expression.left, expression.right], NUMBER);
      case 'negate':
        return this.#expression(expression.operand, expression.operator === '+' ? use : NUMBER);
      case 'concat':
        return this.#all([expression.left, expression.right], inText('||'));
      case 'nullTest':
        return this.#expression(expression.operand, SAME);
      case 'pattern':
        return this.#all([expression.operand, expression.pattern], inText(expression.operator));
      case 'cast':
        return this.#expression(
          expression.operand,
          expression.to === 'TEXT' ? inText('CAST AS TEXT') : NUMBER,
        );
      case 'collate':
        return this.#expression(expression.operand, inText('COLLATE'));
      case 'case':
        for (const { when } of expression.branches) this.#condition(when);
        return this.#all(
          [...expression.branches.map(({ then }) => then), expression.otherwise],
          chosen(use, 'CASE'),
        );
      default:
        return this.#compound(expression, use);
    }
  }

  #compound(
    expression: Extract<
      BoundExpression,
      { kind: 'inList' | 'inQuery' | 'exists' | 'subquery' | 'call' | 'aggregate' | 'window' }
    >,
    use: TextUse,
  ): void {
    switch (expression.kind) {
      case 'inList': {
        const constant = expression.items.every(({ kind }) => kind === 'literal');
        const isSame = constant && expression.collation === 'BINARY';
        const numeric = expression.affinity === 'NUMERIC' ? NUMBER : inText('IN');
        this.#expression(
          expression.operand,
          isSame && expression.affinity !== 'NUMERIC' ? SAME : numeric,
        );
        return this.#all(expression.items, numeric);
      }
      case 'inQuery':
        this.#all(expression.operands, inText('IN'));
        return this.query(expression.query, inText('IN'));
      case 'exists':
        return this.query(expression.query, SAME);
      case 'subquery':
        return this.query(expression.query, chosen(use, 'a subquery'));
      case 'call':
        return this.#call(expression, use);
      default:
        if (expression.filter) this.#condition(expression.filter);
        if (expression.kind === 'window') this.#all(expression.partitionBy, SAME);
        this.#all(orderKeys(expression.orderBy), ORDER);
        return this.#all(expression.args, aggregateUse(expression.name));
    }
  }

  #comparison({ left, right, operator, affinity, collation }: BoundComparison): void {
    const [value, literal] = left.kind === 'literal' ? [right, left] : [left, right];
    if (affinity === 'NUMERIC') return this.#all([left, right], NUMBER);
    // Without affinity a number is less than any text.
    const isText =
      literal.kind === 'literal' && (affinity === 'TEXT' || typeof literal.value === 'string');
    if (!isText || collation !== 'BINARY')
      return this.#all([left, right], inText('a comparison of texts'));
    if (operator === '=' || operator === '<>') return this.#expression(value, SAME);
    this.#expression(value, { kind: 'order', beside: [String(literal.value)] });
  }

  #call(call: BoundCall, use: TextUse): void {
    const removal = removalOf(call);
    const [first, ...rest] = call.args;
    if (first && removal && (use.kind === 'same' || use.kind === 'number'))
      return this.#expression(first, { ...use, removed: [removal, ...use.removed] });
    switch (call.name) {
      case 'abs':
      case 'round':
        return this.#all(call.args, NUMBER);
      case 'coalesce':
      case 'ifnull':
        return this.#all(call.args, chosen(use, call.name.toUpperCase()));
      case 'iif':
      case 'if':
        if (first) this.#condition(first);
        return this.#all(rest, chosen(use, 'IIF'));
      default:
        return this.#all(call.args, inText(`${call.name.toUpperCase()}()`));
    }
  }
}

/** One of several values is a number where a number is wanted, and a text everywhere else. */
const chosen = (use: TextUse, construct: string): TextUse =>
  use.kind === 'number' ? use : inText(construct);

function aggregateUse(name: string): TextUse {
  switch (name) {
    case 'count':
      return SAME;
    case 'sum':
    case 'total':
    case 'avg':
      return NUMBER;
    case 'min':
    case 'max':
      return ORDER;
    default:
      return inText(`${name.toUpperCase()}()`);
  }
}

function itemsAt(body: BoundBody, index: number): BoundExpression[] {
  switch (body.kind) {
    case 'select':
      return body.items[index] ? [body.items[index].expression] : [];
    case 'compound':
      return [...itemsAt(body.left, index), ...itemsAt(body.right, index)];
    case 'values':
      return [];
  }
}
