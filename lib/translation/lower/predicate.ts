import { MIRRORED, NEGATED } from '../../sqlite/select/compare-operators';
import type { BoundComparison, BoundExpression, BoundInList } from '../../sqlite/select/bound';
import type { Lowered } from './environment';
import { type Lowering } from './expression';
import { encode } from './comparison';
import { numberText } from './conversion';
import { periodLike, periodPredicate } from './period-predicate';
import { prefixPredicate } from './prefix-predicate';
import { and, bson, isDocument, type Mql, type MqlDocument, type Scalar } from '../mql/mql';
import { sameMql } from '../mql/same-mql';
import { INTEGER, NUMBER, onlyKinds, TEXT } from './value-type';

const OPERATOR = { '<': '$lt', '<=': '$lte', '>': '$gt', '>=': '$gte' } as const;

/**
 * The query of a `$match` stage for a condition. Predicates over paths, which indexes serve and
 * which never see null where SQL would not; `$expr` only for what they cannot say.
 */
export function toMatch(expressions: readonly BoundExpression[], lowering: Lowering): MqlDocument {
  const parts = expressions.flatMap((expression) =>
    expression.kind === 'logic' && expression.operator === 'AND'
      ? expression.operands
      : [expression],
  );
  const plain: MqlDocument[] = [];
  const rest: Mql[] = [];
  for (const part of parts) {
    const predicate = toPredicate(part, true, lowering);
    if (predicate) plain.push(predicate);
    else rest.push(lowering.truth(part));
  }
  const remaining = and(...rest);
  return conjoin(remaining === true ? plain : [...plain, { $expr: remaining }]);
}

/** A condition as predicates alone, or undefined when it needs `$expr`. */
export function toPredicate(
  expression: BoundExpression,
  polarity: boolean,
  lowering: Lowering,
): MqlDocument | undefined {
  if (lowering.env.computed(expression)) return truthOfPath(lowering.stored(expression), polarity);
  switch (expression.kind) {
    case 'not':
      return toPredicate(expression.operand, !polarity, lowering);
    case 'logic': {
      const parts: MqlDocument[] = [];
      for (const operand of expression.operands) {
        const part = toPredicate(operand, polarity, lowering);
        if (!part) return undefined;
        parts.push(part);
      }
      return (expression.operator === 'AND') === polarity ? conjoin(parts) : disjoin(parts);
    }
    case 'compare':
      return (
        periodPredicate(expression, polarity, lowering) ??
        prefixPredicate(expression, polarity, lowering) ??
        comparison(expression, polarity, lowering)
      );
    case 'nullTest': {
      const { path: own, presence, type } = lowering.stored(expression.operand);
      const path = own ?? presence;
      if (path === undefined) return undefined;
      const isNull = expression.negated !== polarity;
      if (!type.nullable) return isNull ? never(path) : {};
      return isNull ? { [path]: null } : { [path]: { $ne: null } };
    }
    case 'pattern':
      return (
        (expression.operator === 'LIKE'
          ? periodLike(
              expression.operand,
              expression.pattern,
              expression.negated === polarity,
              lowering,
            )
          : undefined) ?? like(expression, expression.negated === polarity, lowering)
      );
    case 'inList':
      return inList(expression, expression.negated === polarity, lowering);
    case 'inQuery':
      return lowering.env.condition(expression).predicate(polarity !== expression.negated);
    case 'exists':
      return lowering.env.condition(expression).predicate(polarity);
    case 'column':
      return truthOfPath(lowering.value(expression), polarity);
    default:
      return undefined;
  }
}

const never = (path: string): MqlDocument => ({ [path]: { $in: [] } });

function truthOfPath({ path, type }: Lowered, polarity: boolean): MqlDocument | undefined {
  if (path === undefined || !onlyKinds(type, NUMBER)) return undefined;
  if (!polarity) return { [path]: 0 };
  return { [path]: type.nullable ? { $nin: [0, null] } : { $ne: 0 } };
}

const RETYPED_TEXT = new Set(['bool', 'date', 'number']);

const textOf = (value: Scalar): Scalar =>
  typeof value === 'bigint' || typeof value === 'number' ? numberText(value) : value;

/** Equality of a retyped column with one of its texts, whatever the order of what is stored. */
function retypedEquality(
  { left, right, operator, collation, nullSafe, affinity }: BoundComparison,
  polarity: boolean,
  lowering: Lowering,
): MqlDocument | undefined {
  if ((operator !== '=' && operator !== '<>') || nullSafe || collation !== 'BINARY')
    return undefined;
  const [column, literal] = left.kind === 'literal' ? [right, left] : [left, right];
  if ((column.kind !== 'column' && column.kind !== 'call') || literal.kind !== 'literal')
    return undefined;
  const text = affinity === 'TEXT' ? textOf(literal.value) : literal.value;
  const { path, transform, type } = lowering.stored(column);
  if (path === undefined || typeof text !== 'string' || !RETYPED_TEXT.has(transform.kind))
    return undefined;
  const value = encode(transform, text);
  const isEqual = (operator === '=') === polarity;
  if (value === undefined) {
    if (isEqual) return never(path);
    return type.nullable ? { [path]: { $ne: null } } : {};
  }
  if (isEqual) return { [path]: bson(value) };
  // The other of two flags is a value too.
  if (typeof value === 'boolean') return { [path]: !value };
  return { [path]: type.nullable ? { $nin: [bson(value), null] } : { $ne: bson(value) } };
}

function comparison(
  expression: BoundComparison,
  polarity: boolean,
  lowering: Lowering,
): MqlDocument | undefined {
  const retyped = retypedEquality(expression, polarity, lowering);
  if (retyped) return retyped;
  const { left, right } = lowering.operands(
    expression.left,
    expression.right,
    expression.affinity,
    expression.collation,
    expression.operator === '=' || expression.operator === '<>',
  );
  const wanted = polarity ? expression.operator : NEGATED[expression.operator];
  const swapped = left.constant !== undefined;
  const [column, other, operator] = swapped
    ? [right, left, MIRRORED[wanted]]
    : [left, right, wanted];
  if (column.path === undefined || !other.constant) return undefined;
  const { value } = other.constant;
  if (expression.nullSafe)
    return operator === '='
      ? { [column.path]: bson(value) }
      : { [column.path]: { $ne: bson(value) } };
  if (value === null) return never(column.path);
  // At most its least value is its least value: a count of at most 0.
  const isLeast =
    operator === '<=' &&
    typeof value === 'bigint' &&
    !column.type.nullable &&
    column.type.min === Number(value) &&
    onlyKinds(column.type, INTEGER);
  if (operator === '=' || isLeast) return { [column.path]: bson(value) };
  if (operator === '<>')
    return {
      [column.path]: column.type.nullable ? { $nin: [bson(value), null] } : { $ne: bson(value) },
    };
  return sameClass(column, value)
    ? { [column.path]: { [OPERATOR[operator]]: bson(value) } }
    : undefined;
}

// Query operators compare within one BSON type, SQL across storage classes.
const sameClass = ({ type, transform }: Lowered, value: Scalar): boolean =>
  typeof value === 'bigint' || typeof value === 'number'
    ? onlyKinds(type, NUMBER) || transform.kind === 'number'
    : (typeof value === 'string' || value instanceof Date || typeof value === 'boolean') &&
      onlyKinds(type, TEXT);

function inList(
  expression: BoundInList,
  negated: boolean,
  lowering: Lowering,
): MqlDocument | undefined {
  const pairs = expression.items.map((item) =>
    lowering.operands(expression.operand, item, expression.affinity, expression.collation, true),
  );
  const [first] = pairs;
  const path = first?.left.path;
  if (!first || path === undefined) return undefined;
  const values: Mql[] = [];
  let hasNull = false;
  for (const { left, right } of pairs) {
    if (left.path !== path || !right.constant) return undefined;
    if (right.constant.value === null) hasNull = true;
    else values.push(bson(right.constant.value));
  }
  if (!negated)
    return values.length === 1 ? { [path]: values[0] ?? null } : { [path]: { $in: values } };
  if (hasNull) return never(path);
  return { [path]: { $nin: first.left.type.nullable ? [...values, null] : values } };
}

const MAX_WILDCARDS = 4;
const MAX_FLAG_TEXT = 200;

/** A pattern over a flag: which of its two texts match. */
function likeFlag(
  { path, type, transform }: Lowered,
  { regex, options }: { readonly regex: string; readonly options?: string },
  negated: boolean,
): MqlDocument | undefined {
  if (path === undefined || transform.kind !== 'bool') return undefined;
  // Matching takes a time that grows with each wildcard: beyond these, MongoDB does it, under its
  // own limit of time.
  const wildcards = regex.split('.*').length - 1;
  const longest = Math.max(transform.true.length, transform.false.length);
  if (wildcards > MAX_WILDCARDS || longest > MAX_FLAG_TEXT) return undefined;
  // PCRE's end of the text is written otherwise here.
  const test = new RegExp(regex.replaceAll('\\z', '$'), options ?? '');
  const values = [true, false].filter(
    (value) => test.test(value ? transform.true : transform.false) !== negated,
  );
  if (values.length === 0) return never(path);
  if (values.length === 1) return { [path]: values[0] ?? null };
  return type.nullable ? { [path]: { $ne: null } } : {};
}

function like(
  expression: Extract<BoundExpression, { kind: 'pattern' }>,
  negated: boolean,
  lowering: Lowering,
): MqlDocument | undefined {
  const found = lowering.patternParts(expression);
  if (!found) return undefined;
  const { text, regex, plain } = found;
  const flag = likeFlag(lowering.stored(expression.operand), regex, negated);
  if (flag) return flag;
  if (!plain || text.path === undefined || !onlyKinds(text.type, TEXT)) return undefined;
  const test: MqlDocument = {
    $regex: regex.regex,
    ...(regex.options && { $options: regex.options }),
  };
  if (!negated) return { [text.path]: test };
  return { [text.path]: { $not: test, ...(text.type.nullable && { $ne: null }) } };
}

/** All of the predicates, in one document where their keys allow it. */
export function conjoin(parts: readonly MqlDocument[]): MqlDocument {
  const merged: Record<string, Mql> = {};
  const apart: MqlDocument[] = [];
  for (const part of parts) {
    for (const [key, value] of Object.entries(part)) {
      if (!Object.hasOwn(merged, key)) {
        merged[key] = value;
        continue;
      }
      if (sameMql(merged[key], value)) continue;
      const both = mergeOperators(merged[key] ?? null, value);
      if (key === '$and') merged[key] = [...(merged[key] as Mql[]), ...(value as Mql[])];
      else if (key === '$expr') merged[key] = and(merged[key] ?? true, value);
      else if (both && !key.startsWith('$')) merged[key] = both;
      else apart.push({ [key]: value });
    }
  }
  if (apart.length === 0) return merged;
  const { $and = [], ...others } = merged;
  return { ...others, $and: [...($and as Mql[]), ...apart] };
}

function mergeOperators(a: Mql, b: Mql): MqlDocument | undefined {
  if (!isDocument(a) || !isDocument(b)) return undefined;
  const keys = [...Object.keys(a), ...Object.keys(b)];
  if (!keys.every((key) => key.startsWith('$')) || new Set(keys).size !== keys.length)
    return undefined;
  // $options belongs to the one $regex beside it.
  return keys.filter((key) => key === '$regex').length > 1 ? undefined : { ...a, ...b };
}

/** Any of the predicates; equalities of one path become `$in`. */
function disjoin(parts: readonly MqlDocument[]): MqlDocument {
  if (parts.some((part) => Object.keys(part).length === 0)) return {};
  const equal = parts.map(equality);
  const [first] = equal;
  if (first && equal.every((entry) => entry?.path === first.path))
    return { [first.path]: { $in: equal.flatMap((entry) => entry?.values ?? []) } };
  return parts.length === 1
    ? (parts[0] ?? {})
    : {
        $or: parts.flatMap((part) =>
          '$or' in part && Object.keys(part).length === 1 ? (part['$or'] as Mql[]) : [part],
        ),
      };
}

function equality(part: MqlDocument): { path: string; values: readonly Mql[] } | undefined {
  const [[path, value] = ['', null], ...others] = Object.entries(part);
  if (others.length > 0 || path.startsWith('$')) return undefined;
  if (!isDocument(value)) return value instanceof RegExp ? undefined : { path, values: [value] };
  const members = value['$in'];
  return Array.isArray(members) && Object.keys(value).length === 1
    ? { path, values: members as Mql[] }
    : undefined;
}
