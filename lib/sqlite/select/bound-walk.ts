import type { BoundExpression, BoundOrder } from './bound';

/**
 * Walking bound trees: `childrenOf` gives an expression's operands, `expressionsIn` folds over an
 * expression, `walkBound` visits a whole query, `replaceIn` maps one. Trees are immutable and share
 * their sources; each object is met once.
 */

/** The operands of an expression, subqueries left out. */
export function childrenOf(expression: BoundExpression): readonly BoundExpression[] {
  switch (expression.kind) {
    case 'literal':
    case 'column':
    case 'rowid':
    case 'clock':
    case 'exists':
    case 'subquery':
      return [];
    case 'not':
    case 'negate':
    case 'nullTest':
    case 'cast':
    case 'collate':
      return [expression.operand];
    case 'logic':
      return expression.operands;
    case 'compare':
    case 'arithmetic':
    case 'concat':
      return [expression.left, expression.right];
    case 'pattern':
      return expression.escape
        ? [expression.operand, expression.pattern, expression.escape]
        : [expression.operand, expression.pattern];
    case 'inList':
      return [expression.operand, ...expression.items];
    case 'inQuery':
      return expression.operands;
    case 'case':
      return [
        ...expression.branches.flatMap(({ when, then }) => [when, then]),
        expression.otherwise,
      ];
    case 'call':
      return expression.args;
    case 'aggregate':
      return [
        ...expression.args,
        ...(expression.filter ? [expression.filter] : []),
        ...orderKeys(expression.orderBy),
      ];
    case 'window':
      return [
        ...expression.args,
        ...(expression.filter ? [expression.filter] : []),
        ...expression.partitionBy,
        ...orderKeys(expression.orderBy),
      ];
  }
}

/** The expressions of ORDER BY terms; positions of result columns have none. */
export const orderKeys = (terms: readonly BoundOrder[]): BoundExpression[] =>
  terms.flatMap(({ key }) => (key.kind === 'expression' ? [key.expression] : []));

/**
 * The expression and everything in it, parents before children; subqueries left out, and the
 * operands of what `stop` holds for.
 */
export function* expressionsIn(
  expression: BoundExpression,
  stop: (expression: BoundExpression) => boolean = () => false,
): Generator<BoundExpression> {
  yield expression;
  if (stop(expression)) return;
  for (const child of childrenOf(expression)) yield* expressionsIn(child, stop);
}

/**
 * The tree with some of its nodes replaced; what does not change keeps its identity. Replacements
 * are not looked into.
 */
export function replaceIn<T>(tree: T, replacements: ReadonlyMap<object, unknown>): T {
  const known = new Map<object, unknown>(replacements);
  const walk = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
    if (known.has(value)) return known.get(value);
    const before = Array.isArray(value) ? (value as unknown[]) : Object.values(value);
    const after = before.map(walk);
    const result = withParts(value, before, after);
    known.set(value, result);
    return result;
  };
  return walk(tree) as T;
}

/**
 * Visits every object of a tree, parents before children, but none at or below `skip`, and none
 * below where `visit` says false.
 */
export function walkBound(
  tree: unknown,
  visit: (node: object) => boolean | void,
  skip: ReadonlySet<object> = new Set(),
): void {
  const seen = new Set<object>(skip);
  const walk = (value: unknown): void => {
    if (
      typeof value !== 'object' ||
      value === null ||
      value instanceof Uint8Array ||
      seen.has(value)
    )
      return;
    seen.add(value);
    if (!Array.isArray(value) && visit(value) === false) return;
    for (const inner of Object.values(value)) walk(inner);
  };
  walk(tree);
}

/** The same list or node with other parts; itself where none has changed. */
function withParts(value: object, before: readonly unknown[], after: readonly unknown[]): unknown {
  if (after.every((inner, index) => inner === before[index])) return value;
  if (Array.isArray(value)) return after;
  return Object.fromEntries(Object.keys(value).map((key, index) => [key, after[index]]));
}
