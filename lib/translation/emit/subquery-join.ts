import type { PlanNode } from '../plan/plan';
import type { EmittedQuery } from './emitted-query';
import type { OuterScope } from './outer-scope';

/** The rows of a compiled subquery for each row outside, as an array in the field `as`. */
export function subqueryJoin(
  { plan, key }: Pick<EmittedQuery, 'plan' | 'key'>,
  scope: OuterScope,
  as: string,
): PlanNode {
  const { variables } = scope;
  return { kind: 'join', join: 'array', ...plan, ...(key && { key }), variables, as };
}

export const ONE_ROW = { kind: 'limit', rows: 1 } as const;

export const firstRow = (query: EmittedQuery): EmittedQuery => ({
  ...query,
  plan: { ...query.plan, nodes: [...query.plan.nodes, ONE_ROW] },
});
