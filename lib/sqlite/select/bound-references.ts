import { childrenOf } from './bind';
import type {
  BoundColumn,
  BoundExpression,
  BoundFrom,
  BoundQuery,
  BoundRowid,
  BoundSource,
} from './bound';

/**
 * Every column that an expression reads, those of its subqueries that lie outside them included.
 */
export function* columnsRead(expression: BoundExpression): Generator<BoundColumn | BoundRowid> {
  if (expression.kind === 'column' || expression.kind === 'rowid') yield expression;
  const query = subqueryOf(expression);
  if (query) yield* query.outer;
  for (const child of childrenOf(expression)) yield* columnsRead(child);
}

export const sourcesRead = (expression: BoundExpression): Set<number> =>
  new Set([...columnsRead(expression)].map(({ source }) => source.id));

export function hasSubquery(expression: BoundExpression): boolean {
  return subqueryOf(expression) !== undefined || childrenOf(expression).some(hasSubquery);
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
