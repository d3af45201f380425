import { affinityOf, type Affinity } from '../catalog';
import { columnOf, type BoundExpression, type BoundOutput, type ComparisonAffinity } from './bound';

/** Affinity of an expression, undefined for none: https://www.sqlite.org/datatype3.html §3.2. */
export function affinityOfExpression(expression: BoundExpression): Affinity | undefined {
  switch (expression.kind) {
    case 'column':
      return columnOf(expression).affinity;
    case 'rowid':
      return 'INTEGER';
    case 'cast':
      return expression.to;
    case 'collate':
      return affinityOfExpression(expression.operand);
    case 'subquery':
      return expression.query.columns[0]?.affinity;
    default:
      return undefined;
  }
}

/** CAST uses the rules of declared types, except that an empty name means NUMERIC. */
export const castAffinity = (type: string): Affinity =>
  type.trim() === '' ? 'NUMERIC' : affinityOf(type);

const isNumeric = (affinity: Affinity | undefined): boolean =>
  affinity === 'NUMERIC' || affinity === 'INTEGER' || affinity === 'REAL';

/** §4.2: what a comparison of two operands applies to both of them. */
export function comparisonAffinity(
  left: Affinity | undefined,
  right: Affinity | undefined,
): ComparisonAffinity {
  if (left !== undefined && right !== undefined)
    return isNumeric(left) || isNumeric(right) ? 'NUMERIC' : undefined;
  const only = left ?? right;
  if (isNumeric(only)) return 'NUMERIC';
  return only === 'TEXT' ? 'TEXT' : undefined;
}

interface Collating {
  readonly collation: string;
  readonly explicit: boolean;
}

function collating(expression: BoundExpression): Collating | undefined {
  switch (expression.kind) {
    case 'collate':
      return { collation: expression.collation.toUpperCase(), explicit: true };
    case 'column':
      return { collation: columnOf(expression).collation, explicit: false };
    case 'cast':
      return collating(expression.operand);
    case 'negate':
      return expression.operator === '+' ? collating(expression.operand) : undefined;
    default: {
      const explicit = operandsOf(expression)
        .map(collating)
        .find((found) => found?.explicit);
      return explicit;
    }
  }
}

// COLLATE anywhere below an operator counts as explicit, but not across a subquery or a function's
// result.
function operandsOf(expression: BoundExpression): readonly BoundExpression[] {
  switch (expression.kind) {
    case 'concat':
    case 'arithmetic':
      return [expression.left, expression.right];
    default:
      return [];
  }
}

export const collationOfExpression = (expression: BoundExpression): string =>
  collating(expression)?.collation ?? 'BINARY';

/**
 * §7.1: an explicit COLLATE wins, the left one first; then the left column's, then the right
 * column's.
 */
export function comparisonCollation(left: BoundExpression, right: BoundExpression): string {
  const sides = [collating(left), collating(right)];
  return (
    (sides.find((side) => side?.explicit) ?? sides.find((side) => side))?.collation ?? 'BINARY'
  );
}

export const outputOf = (name: string, expression: BoundExpression): BoundOutput => ({
  name,
  affinity: affinityOfExpression(expression),
  collation: collationOfExpression(expression),
});
