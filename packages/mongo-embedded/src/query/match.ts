import { Doc, type FieldName } from '../bson/doc';
import { badValue, failedToParse, ServerError, unsupported } from '../errors';
import { parseExpression, RANDOM, type Scope } from '../expressions/expression';
import { compareDoubles, compareValues, rankOf } from '../values/compare';
import { parseTypes, typeCondition } from './type-condition';
import type { Collation } from '../values/collation';
import { fieldName } from '../values/path';
import { ValueSet } from '../values/value-map';
import {
  Binary,
  bsonUndefined,
  isNullish,
  isNumeric,
  isTruthy,
  maxKey,
  minKey,
  Regex,
  toDouble,
  type Value,
} from '../bson/value';
import { compileJsonSchema } from './json-schema';
import { compileRegex, testRegex } from '../values/regex';

export type Test = (doc: Doc) => boolean;

/**
 * A parsed filter. The planner reads what it knows of (`compare`, `in`, `and`); `test` decides for
 * all.
 */
export type Filter =
  | { readonly kind: 'and'; readonly parts: readonly Filter[]; readonly test: Test }
  | { readonly kind: 'or'; readonly parts: readonly Filter[]; readonly test: Test }
  | {
      readonly kind: 'compare';
      readonly path: string;
      readonly operator: Comparison;
      readonly value: Value;
      readonly test: Test;
    }
  | {
      readonly kind: 'in';
      readonly path: string;
      readonly values: readonly Value[];
      readonly test: Test;
    }
  /** Of what is there at all, and of what has one of some types. */
  | { readonly kind: 'exists'; readonly path: string; readonly test: Test }
  | {
      readonly kind: 'type';
      readonly path: string;
      readonly types: ReadonlySet<number>;
      readonly test: Test;
    }
  | {
      readonly kind: 'expression';
      readonly operand: ReturnType<typeof parseExpression>;
      readonly test: Test;
    }
  /** `inner`: what the fields of one element satisfy together, where it is asked of its fields. */
  | {
      readonly kind: 'elemMatch';
      readonly path: string;
      readonly inner: Filter | null;
      readonly test: Test;
    }
  /** With a path when it is a condition on one. */
  | { readonly kind: 'other'; readonly path?: string; readonly test: Test };
export type Comparison = '$eq' | '$lt' | '$lte' | '$gt' | '$gte';

/**
 * Whether a value found at the path satisfies a condition; `undefined` stands for a missing one.
 */
type Condition = (value: Value) => boolean;

export function parseFilter(spec: Value, scope: Scope): Filter {
  if (!(spec instanceof Doc))
    throw new ServerError(15959, 'the match filter must be an expression in an object');
  return conjunction(
    spec.keys.map((key, i) => parseClause(key, spec.values[i], scope)).filter((f) => f !== null),
  );
}

function conjunction(parts: Filter[]): Filter {
  if (parts.length === 1) return parts[0] as Filter;
  const tests = parts.map((p) => p.test);
  return { kind: 'and', parts, test: (doc) => tests.every((test) => test(doc)) };
}

type ClauseBuilder = (value: Value, scope: Scope) => Filter | null;

/** Operators that stand in the place of a path. */
const clauses: Readonly<Record<string, ClauseBuilder>> = {
  $and: (value, scope) => conjunction(clauseList('$and', value).map((c) => parseFilter(c, scope))),
  $or: (value, scope) => {
    const parts = clauseList('$or', value).map((c) => parseFilter(c, scope));
    return { kind: 'or', parts, test: (doc) => parts.some((p) => p.test(doc)) };
  },
  $nor: (value, scope) => {
    const parts = clauseList('$nor', value).map((c) => parseFilter(c, scope));
    return { kind: 'other', test: (doc) => !parts.some((p) => p.test(doc)) };
  },
  $expr: (value, scope) => {
    const operand = parseExpression(value, scope);
    return { kind: 'expression', operand, test: (doc) => isTruthy(operand.evaluate(doc)) };
  },
  $comment: () => null,
  $jsonSchema: (value) => ({ kind: 'other', test: compileJsonSchema(value) }),
  $alwaysTrue: () => ({ kind: 'other', test: () => true }),
  $alwaysFalse: () => ({ kind: 'other', test: () => false }),
  $sampleRate: (value, scope) => {
    if (!isNumeric(value)) throw badValue('argument to $sampleRate must be a numeric type');
    const rate = toDouble(value);
    if (!(rate >= 0 && rate <= 1))
      throw badValue('numeric argument to $sampleRate must be in [0, 1]');
    scope.environment.touch(RANDOM);
    return { kind: 'other', test: () => Math.random() < rate };
  },
};
const refusedClauses: Readonly<Record<string, number>> = { $where: 238, $text: 27 };

function parseClause(key: string, value: Value, scope: Scope): Filter | null {
  if (!key.startsWith('$')) return parsePath(key, value, scope);
  const build = Object.hasOwn(clauses, key) ? clauses[key] : undefined;
  if (build) return build(value, scope);
  if (Object.hasOwn(refusedClauses, key))
    throw unsupported(`query operator ${key}`, refusedClauses[key]);
  throw unsupported(`unknown top level operator: ${key}. It`, 2);
}

function clauseList(key: string, value: Value): Value[] {
  if (!Array.isArray(value)) throw badValue(`${key} must be an array`);
  if (value.length === 0) throw badValue('$and/$or/$nor must be a nonempty array');
  for (const item of value)
    if (!(item instanceof Doc)) throw badValue('$or/$and/$nor entries need to be full objects');
  return value;
}

const isOperatorObject = (value: Value): boolean =>
  value instanceof Doc && value.keys[0]?.startsWith('$') === true && !isDbRef(value);
const isDbRef = (doc: Doc): boolean => doc.keys[0] === '$ref' || doc.keys[0] === '$id';

function parsePath(path: string, value: Value, scope: Scope): Filter {
  if (isOperatorObject(value)) return parseOperators(path, value as Doc, scope);
  if (value instanceof Regex)
    return onPath(path, regexCondition(value.pattern, value.options, value));
  return comparison(path, '$eq', value, scope.environment.collation);
}

function parseOperators(path: string, spec: Doc, scope: Scope): Filter {
  const parts: Filter[] = [];
  spec.keys.forEach((operator, i) => {
    const build = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
    if (!build) throw unsupported(`unknown operator: ${operator}. It`, 2);
    const filter = build(spec.values[i], { path, scope, name: operator, spec });
    if (filter) parts.push(filter);
  });
  return conjunction(parts);
}

const negate = (filter: Filter): Filter => ({ kind: 'other', test: (doc) => !filter.test(doc) });

interface OperatorContext {
  readonly path: string;
  readonly scope: Scope;
  readonly name: string;
  /** All operators on the path: `$regex` and `$options` belong together. */
  readonly spec: Doc;
}
type OperatorBuilder = (value: Value, context: OperatorContext) => Filter | null;

const ordering =
  (operator: Comparison): OperatorBuilder =>
  (value, { path, scope }) => {
    if (value instanceof Regex && operator !== '$eq')
      throw badValue(`Can't have RegEx as arg to predicate over field '${path}'.`);
    return comparison(path, operator, value, scope.environment.collation);
  };
const bits: OperatorBuilder = (value, { path, name }) => onPath(path, bitsCondition(name, value));

/** Operators on the values at a path. */
const operators: Readonly<Record<string, OperatorBuilder>> = {
  $eq: ordering('$eq'),
  $lt: ordering('$lt'),
  $lte: ordering('$lte'),
  $gt: ordering('$gt'),
  $gte: ordering('$gte'),
  $ne: (value, { path, scope }) => {
    if (value instanceof Regex) throw badValue("Can't have regex as arg to $ne.");
    return negate(comparison(path, '$eq', value, scope.environment.collation));
  },
  $in: (value, { path, scope }) => membership(path, value, scope.environment.collation),
  $nin: (value, { path, scope }) =>
    negate(membership(path, value, scope.environment.collation, '$nin')),
  $not: (value, { path, scope }) => negate(parseNot(path, value, scope)),
  $exists: (value, { path }) => {
    const { test } = wholePath(path, (v) => v !== undefined);
    const exists: Filter = { kind: 'exists', path, test };
    return isTruthy(value) ? exists : negate(exists);
  },
  $type: (value, { path }) => ({
    kind: 'type',
    path,
    types: parseTypes(value),
    test: onPath(path, typeCondition(value)).test,
  }),
  $size: (value, { path }) => wholePath(path, sizeCondition(value)),
  $mod: (value, { path }) => onPath(path, modCondition(value)),
  $regex: (value, { path, spec }) =>
    onPath(path, regexOperator(value, spec.get('$options'), spec.has('$options'))),
  $options: (_value, { spec }) => {
    if (!spec.has('$regex')) throw badValue('$options needs a $regex');
    return null;
  },
  $all: (value, { path, scope }) => parseAll(path, value, scope),
  $elemMatch: (value, { path, scope }) => parseElemMatch(path, value, scope),
  $bitsAllSet: bits,
  $bitsAllClear: bits,
  $bitsAnySet: bits,
  $bitsAnyClear: bits,
  $comment: () => null,
};
export const queryOperatorNames = [
  ...new Set([...Object.keys(clauses), ...Object.keys(operators)]),
];

function parseNot(path: string, value: Value, scope: Scope): Filter {
  if (value instanceof Regex)
    return onPath(path, regexCondition(value.pattern, value.options, value));
  if (!(value instanceof Doc)) throw badValue('$not needs a regex or a document');
  if (value.size === 0) throw badValue('$not cannot be empty');
  if (!isOperatorObject(value))
    throw badValue(`$not needs an operator, found ${value.keys[0] ?? ''}`);
  return parseOperators(path, value, scope);
}

// ---- walking a path

/** Calls `visit` with what a filter's path leads to, until it says yes. */
type Walk = (doc: Doc, visit: Condition) => boolean;

/**
 * Every value that an equality filter on the path would see, once each; a missing one as
 * `undefined`.
 */
export function valuesAt(path: string): (doc: Doc) => Value[] {
  const walk = walker(path, true);
  return (doc) => {
    const out: Value[] = [];
    walk(doc, (v) => {
      out.push(v);
      return false;
    });
    return out;
  };
}

/**
 * The values at a path: through arrays on the way; at its end an array's elements, then the array
 * itself.
 */
function walker(path: string, elements: boolean): Walk {
  if (path.includes('\0')) throw badValue('a path must not contain a null byte');
  const fields = path.split('.').map(fieldName);
  const indexes = fields.map((f) => (/^(?:0|[1-9]\d*)$/.test(f.name) ? Number(f.name) : -1));
  const last = fields.length - 1;

  const leaf = (value: Value, visit: Condition): boolean => {
    if (elements && Array.isArray(value)) for (const item of value) if (visit(item)) return true;
    return visit(value);
  };
  const inArray = (items: Value[], i: number, visit: Condition): boolean => {
    for (const item of items) if (item instanceof Doc && inDoc(item, i, visit)) return true;
    const index = indexes[i] as number;
    if (index < 0 || index >= items.length) return false;
    const item = items[index];
    if (i === last) return leaf(item, visit);
    if (item instanceof Doc) return inDoc(item, i + 1, visit);
    return Array.isArray(item) && inArray(item, i + 1, visit);
  };
  const inDoc = (doc: Doc, i: number, visit: Condition): boolean => {
    const value = doc.read(fields[i] as FieldName);
    if (i === last) return leaf(value, visit);
    if (value instanceof Doc) return inDoc(value, i + 1, visit);
    if (Array.isArray(value)) return inArray(value, i + 1, visit);
    return visit(undefined);
  };
  return (doc, visit) => inDoc(doc, 0, visit);
}

/**
 * Not a path (no path may contain it): the element that `$elemMatch` is looking at, itself, even if
 * it is an array.
 */
const ELEMENT = '\0';

function onPath(path: string, condition: Condition): Filter {
  return { kind: 'other', path, test: pathTest(path, condition) };
}
function wholePath(path: string, condition: Condition): Filter {
  if (path === ELEMENT) return { kind: 'other', test: pathTest(path, condition) };
  const walk = walker(path, false);
  return { kind: 'other', path, test: (doc) => walk(doc, condition) };
}
function pathTest(path: string, condition: Condition): Test {
  if (path === ELEMENT) {
    const field = fieldName(ELEMENT);
    return (doc) => condition(doc.read(field));
  }
  if (!path.includes('.')) {
    const field = fieldName(path);
    return (doc) => {
      const value = doc.read(field);
      if (Array.isArray(value)) for (const item of value) if (condition(item)) return true;
      return condition(value);
    };
  }
  const walk = walker(path, true);
  return (doc) => walk(doc, condition);
}

// ---- conditions

function comparison(
  path: string,
  operator: Comparison,
  value: Value,
  collation: Collation,
): Filter {
  return {
    kind: 'compare',
    path,
    operator,
    value,
    test: pathTest(path, compareCondition(operator, value, collation)),
  };
}

const isNaNValue = (v: Value): boolean => isNumeric(v) && Number.isNaN(toDouble(v));

/** Whether an operator holds of values whose comparison gives this. */
const holdsFor: Readonly<Record<Comparison, (c: number) => boolean>> = {
  $eq: (c) => c === 0,
  $lt: (c) => c < 0,
  $lte: (c) => c <= 0,
  $gt: (c) => c > 0,
  $gte: (c) => c >= 0,
};

function compareCondition(operator: Comparison, wanted: Value, collation: Collation): Condition {
  if (wanted === bsonUndefined) throw badValue('cannot compare to undefined');
  if (wanted === null) {
    // Only "equal" can hold of null, and missing counts as null.
    return operator === '$eq' || operator === '$lte' || operator === '$gte'
      ? isNullish
      : () => false;
  }
  if (wanted === minKey || wanted === maxKey) return extremeCondition(operator, wanted);
  const { order } = collation;
  if (isNaNValue(wanted))
    return operator === '$lt' || operator === '$gt' ? () => false : isNaNValue;
  if (operator === '$eq') {
    if (typeof wanted === 'string' && collation.simple)
      return (v) =>
        v === wanted ||
        (typeof v === 'object' && rankOf(v) === 20 && compareValues(v, wanted) === 0);
    return (v) => compareValues(v, wanted, order) === 0;
  }
  const rank = rankOf(wanted);
  const holds = holdsFor[operator];
  const fast = typeof wanted === 'number';
  return (v) => {
    if (fast && typeof v === 'number') return v === v && holds(compareDoubles(v, wanted));
    // Values of other types are never less or greater: comparison is bracketed by type.
    return rankOf(v) === rank && !isNaNValue(v) && holds(compareValues(v, wanted, order));
  };
}

function extremeCondition(operator: Comparison, wanted: Value): Condition {
  const holds = holdsFor[operator];
  return (v) => holds(compareValues(v ?? null, wanted));
}

function membership(path: string, list: Value, collation: Collation, name = '$in'): Filter {
  if (!Array.isArray(list)) throw badValue(`${name} needs an array`);
  const plain: Value[] = [];
  const regexes: Condition[] = [];
  for (const item of list) {
    if (isOperatorObject(item)) throw badValue(`cannot nest $ under ${name}`);
    if (item === bsonUndefined) throw badValue('InMatchExpression equality cannot be undefined');
    if (item instanceof Regex) regexes.push(regexCondition(item.pattern, item.options, item));
    else plain.push(item);
  }
  const set = new ValueSet(collation, plain);
  const hasNull = plain.some((v) => v === null);
  const condition: Condition = (v) =>
    (isNullish(v) ? hasNull : set.has(v)) || regexes.some((r) => r(v));
  const test = pathTest(path, condition);
  return regexes.length > 0
    ? { kind: 'other', path, test }
    : { kind: 'in', path, values: plain, test };
}

function regexCondition(pattern: string, options: string, self?: Regex): Condition {
  const regex = compileRegex(pattern, options);
  return (v) => {
    if (typeof v === 'string') return testRegex(regex, v);
    return (
      self !== undefined &&
      v instanceof Regex &&
      v.pattern === self.pattern &&
      v.options === self.options
    );
  };
}

function regexOperator(value: Value, options: Value, given: boolean): Condition {
  if (given && typeof options !== 'string') throw badValue('$options has to be a string');
  const flags = given ? (options as string) : '';
  if (typeof value === 'string') return regexCondition(value, flags, new Regex(value, flags));
  if (!(value instanceof Regex)) throw badValue('$regex has to be a string');
  if (given && value.options !== '')
    throw new ServerError(51075, 'options set in both $regex and $options');
  const effective = given ? flags : value.options;
  return regexCondition(value.pattern, effective, new Regex(value.pattern, effective));
}

function sizeCondition(value: Value): Condition {
  if (!isNumeric(value) || !Number.isInteger(toDouble(value)))
    throw failedToParse(`Failed to parse $size. Expected an integer`);
  const n = toDouble(value);
  if (n < 0) throw badValue(`Failed to parse $size. Expected a non-negative number, found: ${n}`);
  return (v) => Array.isArray(v) && v.length === n;
}

function modCondition(value: Value): Condition {
  if (!Array.isArray(value)) throw badValue('malformed mod, needs to be an array');
  if (value.length < 2) throw badValue('malformed mod, not enough elements');
  if (value.length > 2) throw badValue('malformed mod, too many elements');
  const [divisor, remainder] = value.map((v) => {
    if (!isNumeric(v) || !Number.isFinite(toDouble(v)))
      throw badValue('malformed mod, divisor and remainder must be numbers');
    return BigInt(Math.trunc(toDouble(v)));
  }) as [bigint, bigint];
  if (divisor === 0n) throw badValue('divisor cannot be 0');
  return (v) => {
    if (!isNumeric(v)) return false;
    if (typeof v === 'bigint') return v % divisor === remainder;
    const d = toDouble(v);
    return (
      Number.isFinite(d) && Math.abs(d) < 9.3e18 && BigInt(Math.trunc(d)) % divisor === remainder
    );
  };
}

function bitsCondition(operator: string, value: Value): Condition {
  const mask = bitMask(operator, value);
  return (v) => {
    const bits = bitsOf(v, mask);
    if (bits === null) return false;
    const common = bits & mask;
    switch (operator) {
      case '$bitsAllSet':
        return common === mask;
      case '$bitsAllClear':
        return common === 0n;
      case '$bitsAnySet':
        return common !== 0n;
      default:
        return common !== mask;
    }
  };
}
function bitMask(operator: string, value: Value): bigint {
  if (Array.isArray(value)) {
    let mask = 0n;
    for (const bit of value) {
      if (!isNumeric(bit) || !Number.isInteger(toDouble(bit)) || toDouble(bit) < 0)
        throw badValue('bit positions must be integers >= 0');
      if (toDouble(bit) > 1_000_000) throw unsupported('a bit position above 1,000,000');
      mask |= 1n << BigInt(toDouble(bit));
    }
    return mask;
  }
  if (value instanceof Binary) return littleEndian(value.bytes);
  if (isNumeric(value) && Number.isInteger(toDouble(value)) && toDouble(value) >= 0)
    return typeof value === 'bigint' ? value : BigInt(toDouble(value));
  throw badValue(`${operator} takes an Array, a number, or a BinData`);
}
const littleEndian = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((n, byte) => (n << 8n) | BigInt(byte), 0n);
function bitsOf(v: Value, mask: bigint): bigint | null {
  if (v instanceof Binary) return littleEndian(v.bytes);
  if (typeof v === 'bigint') return extend(v, mask);
  if (!isNumeric(v)) return null;
  const d = toDouble(v);
  return Number.isInteger(d) && d >= -(2 ** 63) && d < 2 ** 63 ? extend(BigInt(d), mask) : null;
}
// Numbers are two's complement, sign-extended as far as the mask reaches.
const extend = (n: bigint, mask: bigint): bigint =>
  n < 0n ? BigInt.asUintN(Math.max(64, mask.toString(2).length), n) : n;

function parseAll(path: string, value: Value, scope: Scope): Filter {
  if (!Array.isArray(value)) throw badValue('$all needs an array');
  if (value.length === 0) return { kind: 'other', test: () => false };
  const elemMatch = value[0] instanceof Doc && value[0].keys[0] === '$elemMatch';
  return conjunction(
    value.map((item) => {
      if (elemMatch) {
        if (!(item instanceof Doc) || item.keys[0] !== '$elemMatch')
          throw badValue('$all/$elemMatch has to be consistent');
        return parseElemMatch(path, item.values[0], scope);
      }
      if (item instanceof Regex)
        return onPath(path, regexCondition(item.pattern, item.options, item));
      if (isOperatorObject(item)) throw badValue('no $ expressions in $all');
      return comparison(path, '$eq', item, scope.environment.collation);
    }),
  );
}

function parseElemMatch(path: string, value: Value, scope: Scope): Filter {
  if (!(value instanceof Doc)) throw badValue('$elemMatch needs an Object');
  const { inner, condition } = elementCondition(value, scope);
  return { kind: 'elemMatch', path, inner, test: wholePath(path, condition).test };
}

const logical = new Set(['$and', '$or', '$nor', '$expr', '$where', '$jsonSchema']);

const wholeDocument = new Set(['$expr', '$jsonSchema', '$where', '$text']);

/** Refuses conditions on whole documents where a filter is about a part of one. */
export function refuseWholeDocument(spec: Doc, refuse: (operator: string) => ServerError): void {
  spec.keys.forEach((key, i) => {
    if (wholeDocument.has(key)) throw refuse(key);
    const value = spec.values[i];
    if (key.startsWith('$') && Array.isArray(value))
      for (const part of value) if (part instanceof Doc) refuseWholeDocument(part, refuse);
  });
}

/** Whether an array has an element that satisfies all of the conditions at once. */
function elementCondition(spec: Doc, scope: Scope): { inner: Filter | null; condition: Condition } {
  refuseWholeDocument(spec, (operator) =>
    badValue(`${operator} can only be applied to the top-level document`),
  );
  const first = spec.keys[0];
  if (first?.startsWith('$') && !logical.has(first)) {
    // Conditions on the element itself: it is wrapped, so that the same code can test it.
    const filter = parseOperators(ELEMENT, spec, scope);
    return {
      inner: null,
      condition: (v) =>
        Array.isArray(v) && v.some((item) => filter.test(new Doc([ELEMENT], [item]))),
    };
  }
  const filter = parseFilter(spec, scope);
  return {
    inner: filter,
    condition: (v) =>
      Array.isArray(v) &&
      v.some((item) =>
        item instanceof Doc
          ? filter.test(item)
          : Array.isArray(item) && filter.test(arrayAsDoc(item)),
      ),
  };
}
const arrayAsDoc = (items: Value[]): Doc =>
  new Doc(
    items.map((_, i) => String(i)),
    items,
  );
