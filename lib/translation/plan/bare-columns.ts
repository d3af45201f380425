import { childrenOf } from '../../sqlite/select/bound-walk';
import type { BoundColumn, BoundExpression, BoundRowid } from '../../sqlite/select/bound';
import { subqueryOf } from '../../sqlite/select/bound-references';

/** Columns read beside the aggregates that are no group keys. */
export function bareColumns(
  expressions: readonly BoundExpression[],
  isKey: (expression: BoundExpression) => boolean,
): (BoundColumn | BoundRowid)[] {
  const found = new Map<string, BoundColumn | BoundRowid>();
  const visit = (expression: BoundExpression): void => {
    if (expression.kind === 'aggregate' || isKey(expression)) return;
    if (expression.kind === 'column' || expression.kind === 'rowid') {
      const name = expression.kind === 'column' ? String(expression.index) : 'rowid';
      found.set(`${String(expression.source.id)}.${name}`, expression);
      return;
    }
    for (const column of subqueryOf(expression)?.outer ?? []) visit(column);
    for (const child of childrenOf(expression)) visit(child);
  };
  for (const expression of expressions) visit(expression);
  return [...found.values()];
}
