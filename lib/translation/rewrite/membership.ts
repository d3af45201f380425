import type { Affinity } from '../../sqlite/catalog';
import type {
  BoundBody,
  BoundExpression,
  BoundInQuery,
  BoundQuery,
  BoundSelect,
} from '../../sqlite/select/bound';
import { columnsRead, conjuncts } from '../../sqlite/select/bound-references';
import { affinityOfExpression, collationOfExpression } from '../../sqlite/select/expression-type';

/** `(x, y) IN (VALUES (1, 2), (3, 4))`: one comparison a row. */
export function asComparisons({
  operands,
  query,
  affinities,
  collations,
}: BoundInQuery): BoundExpression | undefined {
  const { body } = query;
  if (body.kind !== 'values' || query.limit || query.offset) return undefined;
  const rows = body.rows.map((row) =>
    whole(
      operands.map((left, index): BoundExpression => ({
        kind: 'compare',
        operator: '=',
        left,
        right: row[index] ?? { kind: 'literal', value: null },
        affinity: affinities[index],
        collation: collations[index] ?? 'BINARY',
        nullSafe: false,
      })),
    ),
  );
  const [only] = rows;
  return rows.length === 1 && only ? only : { kind: 'logic', operator: 'OR', operands: rows };
}

/** `x IN (a UNION b)`: in one or in the other, for each of which one partner is enough. */
export function inEither(node: BoundInQuery): BoundExpression | undefined {
  const { query } = node;
  const { body } = query;
  if (body.kind !== 'compound' || !body.operator.startsWith('UNION') || query.limit || query.offset)
    return undefined;
  const sides = [body.left, body.right].map((side): BoundInQuery => ({
    ...node,
    negated: false,
    query: { ...query, body: side, orderBy: [] },
  }));
  // Columns of several affinities have one by SQLite's choice.
  const alike = simpleSelects(body).every(({ items }) =>
    items.every(
      ({ expression }, index) =>
        comparesLike(affinityOfExpression(expression)) ===
        comparesLike(query.columns[index]?.affinity),
    ),
  );
  return alike && sides.every((side) => correlate(side) ?? inEither(side))
    ? { kind: 'logic', operator: 'OR', operands: sides }
    : undefined;
}

const comparesLike = (affinity: Affinity | undefined): Affinity | undefined =>
  affinity === 'INTEGER' || affinity === 'REAL' ? 'NUMERIC' : affinity;

const simpleSelects = (body: BoundBody): readonly BoundSelect[] => {
  if (body.kind === 'compound') return [body.left, body.right].flatMap(simpleSelects);
  return body.kind === 'select' ? [body] : [];
};

/** `x IN (SELECT c …)` as `EXISTS (SELECT 1 … AND c = x)`, where the subquery is a plain one. */
export function correlate({
  operands,
  query,
  affinities,
  collations,
}: BoundInQuery): BoundQuery | undefined {
  const { body } = query;
  if (body.kind !== 'select' || body.aggregated || query.limit || query.offset) return undefined;
  if (
    operands.some((operand) => operand.kind !== 'column' && operand.kind !== 'literal') ||
    body.items.some(({ expression }) => expression.kind !== 'column')
  )
    return undefined;
  const equalities = operands.map((operand, index): BoundExpression => {
    const right = body.items[index]?.expression ?? { kind: 'literal', value: null };
    const collation = collations[index] ?? collationOfExpression(operand);
    return {
      kind: 'compare',
      operator: '=',
      left: right,
      right: operand,
      affinity: affinities[index],
      collation,
      nullSafe: false,
    };
  });
  const where: BoundExpression = {
    kind: 'logic',
    operator: 'AND',
    operands: [...conjuncts(body.where), ...equalities],
  };
  const outer = [
    ...query.outer,
    ...operands.flatMap((operand) =>
      [...columnsRead(operand)].filter((column) => column.kind === 'column'),
    ),
  ];
  return { ...query, body: { ...body, where, distinct: false }, orderBy: [], outer };
}

/** All of the conditions as one. */
export const whole = (conditions: readonly BoundExpression[]): BoundExpression => {
  const [only] = conditions;
  return conditions.length === 1 && only
    ? only
    : { kind: 'logic', operator: 'AND', operands: conditions };
};
