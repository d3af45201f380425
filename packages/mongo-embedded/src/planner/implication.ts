import type { Expression } from '../expressions/expression';
import type { Comparison, Filter } from '../query/match';
import type { Collation } from '../values/collation';
import { compareValues, rankOf } from '../values/compare';
import { BsonType, isNullish, isNumeric, toDouble, type Value } from '../bson/value';

/**
 * Whether whatever passes a query's filter also passes a partial index's, so that the index holds
 * all that the query looks for. Conservative: no says nothing. Every condition here holds of a
 * document when it holds of some value at its path, so that it is enough to compare what they say
 * of one value.
 */
export function implies(
  query: Filter,
  partial: Filter,
  index: Collation,
  collation: Collation,
): boolean {
  if (partial.kind === 'and')
    return partial.parts.every((part) => implies(query, part, index, collation));
  if (partial.kind === 'or' && partial.parts.some((part) => implies(query, part, index, collation)))
    return true;
  if (query.kind === 'and')
    return query.parts.some((part) => implies(part, partial, index, collation));
  if (query.kind === 'or')
    return query.parts.every((part) => implies(part, partial, index, collation));
  const said = saidBy(query);
  return said !== null && leafImplies(said, partial, index, collation);
}

/** What a leaf says of a value at a path. */
interface Said {
  readonly path: string;
  /** Any of these, or one side of a range. */
  readonly equal?: readonly Value[];
  readonly bound?: { readonly operator: Comparison; readonly value: Value };
  readonly types?: ReadonlySet<number>;
  readonly exists?: true;
}

function saidBy(filter: Filter): Said | null {
  switch (filter.kind) {
    case 'compare':
      return filter.operator === '$eq'
        ? { path: filter.path, equal: [filter.value] }
        : { path: filter.path, bound: { operator: filter.operator, value: filter.value } };
    case 'in':
      return filter.values.length > 0 ? { path: filter.path, equal: filter.values } : null;
    case 'expression': {
      const equality = constantEquality(filter.operand);
      return equality && { path: equality.path, equal: [equality.value] };
    }
    case 'exists':
      return { path: filter.path, exists: true };
    case 'type':
      return { path: filter.path, types: filter.types };
    default:
      return null;
  }
}

const NUMBERS = [BsonType.double, BsonType.int, BsonType.long, BsonType.decimal];
/**
 * The stored types that can equal, or lie in a range of, a value of some rank. Null is left out,
 * which means missing as well, and so are arrays and documents, which are more than one value.
 */
const typesOfRank = new Map<number, readonly number[]>([
  [15, NUMBERS],
  [20, [BsonType.string, BsonType.symbol]],
  [40, [BsonType.objectId]],
  [45, [BsonType.bool]],
  [50, [BsonType.date]],
]);
const STRING = 20;

function leafImplies(said: Said, partial: Filter, index: Collation, collation: Collation): boolean {
  const values = said.equal ?? (said.bound ? [said.bound.value] : []);
  const comparable = values.every(
    (v) =>
      typesOfRank.has(rankOf(v)) &&
      !(isNumeric(v) && Number.isNaN(toDouble(v))) &&
      (rankOf(v) !== STRING || index.name === collation.name),
  );
  if (!comparable) return false;
  const possible =
    said.types ??
    (said.exists
      ? null
      : new Set(values.flatMap((v) => typesOfRank.get(rankOf(v)) as readonly number[])));
  switch (partial.kind) {
    case 'exists':
      return partial.path === said.path;
    case 'type':
      return (
        partial.path === said.path &&
        possible !== null &&
        [...possible].every((type) => partial.types.has(type))
      );
    case 'in':
      return (
        partial.path === said.path &&
        said.equal?.every((v) =>
          partial.values.some((p) => compareValues(v, p, index.order) === 0),
        ) === true
      );
    case 'compare': {
      if (partial.path !== said.path) return false;
      const { operator, value } = partial;
      if (said.equal) return said.equal.every((v) => satisfies(v, operator, value, index));
      return said.bound !== undefined && within(said.bound, operator, value, index);
    }
    default:
      return false;
  }
}

function satisfies(v: Value, operator: Comparison, value: Value, { order }: Collation): boolean {
  if (rankOf(v) !== rankOf(value)) return false;
  const c = compareValues(v, value, order);
  switch (operator) {
    case '$eq':
      return c === 0;
    case '$lt':
      return c < 0;
    case '$lte':
      return c <= 0;
    case '$gt':
      return c > 0;
    case '$gte':
      return c >= 0;
  }
}

/** Whether one bound implies another on the same side. */
function within(
  bound: { readonly operator: Comparison; readonly value: Value },
  operator: Comparison,
  value: Value,
  index: Collation,
): boolean {
  const below = (o: Comparison): boolean => o === '$lt' || o === '$lte';
  if (operator === '$eq' || below(bound.operator) !== below(operator)) return false;
  // What is open keeps out its own end, so that the other may be open at the same place.
  const open = bound.operator === '$lt' || bound.operator === '$gt';
  const closed = below(operator) ? '$lte' : '$gte';
  return satisfies(bound.value, open ? closed : operator, value, index);
}

/**
 * `$expr: {$eq: ["$path", scalar]}`. The whole value at the path decides there, which an index
 * holds for scalars; null is left alone because missing is another thing in an expression.
 */
export function constantEquality(e: Expression): { path: string; value: Value } | null {
  if (e.operator !== '$eq' || e.operands?.length !== 2) return null;
  const [a, b] = e.operands as [Expression, Expression];
  const [field, constant] = a.kind === 'field' ? [a, b] : [b, a];
  if (field.kind !== 'field' || !field.path || constant.kind !== 'constant') return null;
  if (isNullish(constant.value) || Array.isArray(constant.value)) return null;
  return { path: field.path.join('.'), value: constant.value };
}
