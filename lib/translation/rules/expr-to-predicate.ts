import { conjoin } from '../lower/predicate';
import { isDocument, type Mql, type MqlDocument } from '../mql/mql';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

const COMPARISONS: Readonly<Record<string, string>> = { $eq: '$eq', $in: '$in' };

/** `$expr` that compares a field with a constant → a plain predicate, which an index can serve. */
export const exprToPredicate: Rule = {
  name: 'expr-to-predicate',
  apply(pipeline) {
    for (const [index, stage] of pipeline.entries()) {
      const match = '$match' in stage ? stage.$match : {};
      const expression = match['$expr'];
      if (expression === undefined) continue;
      const parts =
        isDocument(expression) && Array.isArray(expression['$and'])
          ? (expression['$and'] as readonly Mql[])
          : [expression];
      const plain = parts.map(predicate);
      if (!plain.some((part) => part !== undefined)) continue;
      const rest = parts.filter((_, part) => plain[part] === undefined);
      const { $expr: _, ...others } = match;
      const remaining: MqlDocument[] =
        rest.length === 0
          ? []
          : [{ $expr: rest.length === 1 ? (rest[0] ?? true) : { $and: rest } }];
      const merged = conjoin([others, ...plain.filter((part) => part !== undefined), ...remaining]);
      return {
        pipeline: replaceStages(pipeline, index, 1, { $match: merged }),
        reason: REASONS.exprToPredicate(),
      };
    }
    return undefined;
  },
};

// Only equality: for `$lt` and its kin predicates stay within one type, expressions do not.
function predicate(expression: Mql): MqlDocument | undefined {
  if (!isDocument(expression)) return undefined;
  const [[operator, operands] = ['', null], ...more] = Object.entries(expression);
  if (more.length === 0 && operator === '$or' && Array.isArray(operands)) {
    const parts = (operands as readonly Mql[]).map(predicate);
    return parts.every((part) => part !== undefined) ? { $or: parts } : undefined;
  }
  if (
    more.length > 0 ||
    !Object.hasOwn(COMPARISONS, operator) ||
    !Array.isArray(operands) ||
    operands.length !== 2
  )
    return undefined;
  const [first, second] = operands as readonly Mql[];
  if (operator === '$in') {
    return isPath(first) && Array.isArray(second) && second.every(isConstant)
      ? { [first.slice(1)]: { $in: second as Mql[] } }
      : undefined;
  }
  if (isPath(first) && second !== undefined && isConstant(second))
    return { [first.slice(1)]: second };
  return isPath(second) && first !== undefined && isConstant(first)
    ? { [second.slice(1)]: first }
    : undefined;
}

const isPath = (value: Mql | undefined): value is string =>
  typeof value === 'string' && /^\$[^$]/.test(value);
const isConstant = (value: Mql): boolean =>
  value !== null &&
  !Array.isArray(value) &&
  (typeof value === 'string' ? !value.startsWith('$') : !isDocument(value));
