import { expressionsIn } from './bound-walk';
import type {
  BoundAggregate,
  BoundColumn,
  BoundExpression,
  BoundFrom,
  BoundQuery,
  BoundRowid,
  BoundSource,
  BoundWindow,
} from './bound';

/**
 * Every column that an expression reads, those of its subqueries that lie outside them included.
 */
export function* columnsRead(expression: BoundExpression): Generator<BoundColumn | BoundRowid> {
  for (const part of expressionsIn(expression)) {
    if (part.kind === 'column' || part.kind === 'rowid') yield part;
    const query = subqueryOf(part);
    if (query) yield* query.outer;
  }
}

export const sourcesRead = (expression: BoundExpression): Set<number> =>
  new Set([...columnsRead(expression)].map(({ source }) => source.id));

export function hasSubquery(expression: BoundExpression): boolean {
  for (const part of expressionsIn(expression)) if (subqueryOf(part)) return true;
  return false;
}

const isAggregate = (expression: BoundExpression): boolean => expression.kind === 'aggregate';

/**
 * The aggregates in an expression; those inside subqueries belong to them, those below a window
 * function to both.
 */
export function* aggregatesIn(expression: BoundExpression): Generator<BoundAggregate> {
  for (const part of expressionsIn(expression, isAggregate))
    if (part.kind === 'aggregate') yield part;
}

/** Whether an aggregate is in an expression, outside of subqueries. */
export const hasAggregate = (expression: BoundExpression): boolean =>
  aggregatesIn(expression).next().done === false;

/** The window functions in an expression. */
export function* windowsIn(expression: BoundExpression): Generator<BoundWindow> {
  for (const part of expressionsIn(expression)) if (part.kind === 'window') yield part;
}

export function subqueryOf(expression: BoundExpression): BoundQuery | undefined {
  return expression.kind === 'exists' ||
    expression.kind === 'subquery' ||
    expression.kind === 'inQuery'
    ? expression.query
    : undefined;
}

export function sourcesOf(from: BoundFrom | undefined): BoundSource[] {
  if (!from) return [];
  return from.kind === 'source'
    ? [from.source]
    : [...sourcesOf(from.left), ...sourcesOf(from.right)];
}

/** Equal for equal expressions over the same sources. */
export function expressionKey(expression: BoundExpression): string {
  return JSON.stringify(expression, (key, value: unknown) => {
    if (key === 'source') return (value as BoundSource).id;
    if (typeof value === 'bigint') return `${value.toString()}n`;
    return value;
  });
}

export const conjuncts = (expression: BoundExpression | undefined): readonly BoundExpression[] => {
  if (expression === undefined) return [];
  return expression.kind === 'logic' && expression.operator === 'AND'
    ? expression.operands
    : [expression];
};
