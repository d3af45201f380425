import type {
  BoundColumn,
  BoundExpression,
  BoundFrom,
  BoundOrder,
  BoundRowid,
  BoundSelect,
} from '../../sqlite/select/bound';
import { orderKeys } from '../../sqlite/select/bound-walk';
import { columnsRead, conjuncts } from '../../sqlite/select/bound-references';

/**
 * The columns that each expression of a SELECT reads; conditions of WHERE and ON are apart, as
 * `flattenFrom` gives them.
 */
export function columnsByExpression(
  body: BoundSelect,
  orderBy: readonly BoundOrder[],
): ReadonlyMap<BoundExpression, readonly (BoundColumn | BoundRowid)[]> {
  const expressions = [
    ...body.items.map(({ expression }) => expression),
    ...conjuncts(body.where),
    ...onConditions(body.from),
    ...body.groupBy,
    ...conjuncts(body.having),
    ...orderKeys(orderBy),
  ];
  return new Map(expressions.map((expression) => [expression, [...columnsRead(expression)]]));
}

const onConditions = (from: BoundFrom | undefined): readonly BoundExpression[] =>
  !from || from.kind === 'source'
    ? []
    : [...conjuncts(from.on), ...onConditions(from.left), ...onConditions(from.right)];
