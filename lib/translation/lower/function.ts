import type { BoundCall, BoundExpression } from '../../sqlite/select/bound';
import { removalOf } from '../../sqlite/select/text-removal';
import type { ExpressionLowering, Lowered } from './environment';
import { integerAsReal } from './exact-integer';
import { lowerDateCall } from './date';
import { lowerPrintf } from './printf';
import {
  allFormats,
  castToInteger,
  castToReal,
  isAbsent,
  isPresent,
  literal,
  overNull,
  toNumber,
  toText,
  withNull,
} from './conversion';
import { bound, computed } from './computed-value';
import { compareLowered } from './comparison';
import { oneOf, withoutText } from './number-text';
import { cond, constant, or, type Mql } from '../mql/mql';
import { Untranslatable } from './untranslated';
import {
  INTEGER,
  isNeverNegative,
  mayBe,
  NUMBER,
  onlyKinds,
  REAL,
  TEXT,
  typeOf,
  unionType,
  type ValueType,
} from './value-type';

const DATE_FUNCTIONS = new Set(['strftime', 'date', 'time', 'datetime', 'julianday', 'unixepoch']);

/** Scalar functions of https://www.sqlite.org/lang_corefunc.html and lang_datefunc.html. */
export function lowerCall(call: BoundCall, lowering: ExpressionLowering): Lowered {
  const { name, args } = call;
  const value = (at: number): Lowered => lowering.value(argument(call, at));
  if (DATE_FUNCTIONS.has(name)) return lowerDateCall(call, lowering);
  switch (name) {
    case 'coalesce':
    case 'ifnull':
      return coalesce(args.map((arg) => lowering.value(arg)));
    case 'nullif':
      return nullIf(call, lowering);
    case 'iif':
    case 'if':
      return lowering.caseValue(
        [{ when: argument(call, 0), then: argument(call, 1) }],
        args[2] ?? { kind: 'literal', value: null },
      );
    case 'likely':
    case 'unlikely':
      return value(0);
    case 'length':
      return overText(value(0), INTEGER, (text) => ({ $strLenCP: text }));
    case 'upper':
      return overText(value(0), TEXT, (text) => ({ $toUpper: text }));
    case 'lower':
      return overText(value(0), TEXT, (text) => ({ $toLower: text }));
    case 'trim':
    case 'ltrim':
    case 'rtrim':
      return (
        shortened(call, lowering) ?? trim(`$${name}`, value(0), args[1] && lowering.value(args[1]))
      );
    case 'replace':
      return shortened(call, lowering) ?? replace(value(0), value(1), value(2));
    case 'instr':
      return instr(value(0), value(1));
    case 'substr':
    case 'substring':
      return (
        shortened(call, lowering) ??
        substring(value(0), value(1), args[2] && lowering.value(args[2]))
      );
    case 'min':
    case 'max':
      return extreme(
        name,
        args.map((arg) => lowering.value(arg)),
      );
    case 'typeof':
      return typeName(value(0));
    case 'concat':
      return computed(
        { $concat: args.map((arg) => emptyIfNull(toText(lowering.value(arg)))) },
        typeOf(TEXT),
      );
    case 'printf':
    case 'format':
      return lowerPrintf(
        value(0),
        args.slice(1).map((arg) => lowering.value(arg)),
        (number, digits) => round(number, literal(BigInt(digits))),
      );
    case 'random':
    case 'randomblob':
      throw new Untranslatable('random', `${name}()`);
    default:
      return lowerNumberCall(call, lowering);
  }
}

/** https://www.sqlite.org/lang_mathfunc.html, and what lang_corefunc.html has of numbers. */
function lowerNumberCall(call: BoundCall, lowering: ExpressionLowering): Lowered {
  const { name, args } = call;
  const first = (): Lowered => lowering.value(argument(call, 0));
  switch (name) {
    case 'abs':
      return absolute(first());
    case 'round':
      return round(first(), args[1] && lowering.value(args[1]));
    case 'ceil':
    case 'ceiling':
      return wholeNumber('$ceil', first());
    case 'floor':
      return wholeNumber('$floor', first());
    case 'sign':
      return signOf(first());
    case 'sqrt':
    case 'pow':
    case 'power':
    case 'mod':
      return mathematics(
        name,
        args.map((arg) => toNumber(lowering.value(arg))),
      );
    default:
      throw new Untranslatable('function', `${name}()`);
  }
}

/** A text that is stored as a number, and stays one without its signs or commas. */
function shortened(call: BoundCall, lowering: ExpressionLowering): Lowered | undefined {
  const removal = removalOf(call);
  return removal && withoutText(lowering.stored(argument(call, 0)), removal);
}

/** -1, 0 or 1; null for what is no number throughout. */
function signOf(value: Lowered): Lowered {
  if (mayBe(value.type, TEXT) && !value.number)
    throw new Untranslatable('function', 'sign() of texts');
  const number = value.number ?? value;
  const sign = (mql: Mql): Mql => ({ $cmp: [mql, 0] });
  return computed(overNull(number, sign), {
    ...typeOf(INTEGER, number.type.nullable),
    min: -1,
    max: 1,
  });
}

function wholeNumber(operator: '$ceil' | '$floor', value: Lowered): Lowered {
  const number = toNumber(value);
  return computed(
    { [operator]: number.mql },
    { kinds: number.type.kinds, nullable: number.type.nullable, missing: false },
  );
}

function argument({ name, args }: BoundCall, at: number): BoundExpression {
  const found = args[at];
  if (!found)
    throw new Untranslatable('function', `${name}() with ${String(args.length)} arguments`);
  return found;
}

function coalesce(values: readonly Lowered[]): Lowered {
  const until = values.findIndex(({ type }) => !type.nullable);
  const used = until < 0 ? values : values.slice(0, until + 1);
  const [first, ...rest] = used;
  if (!first) return literal(null);
  if (rest.length === 0) return first;
  const type = rest.reduce((sum, value) => unionType(sum, value.type), first.type);
  return oneOf(used, (values) => ({ $ifNull: [...values] }), {
    kinds: type.kinds,
    nullable: until < 0,
    missing: used.at(-1)?.type.missing ?? false,
  });
}

const emptyIfNull = ({ mql, type }: Lowered): Mql => (type.nullable ? { $ifNull: [mql, ''] } : mql);

function nullIf(call: BoundCall, lowering: ExpressionLowering): Lowered {
  const operands = lowering.operands(argument(call, 0), argument(call, 1), undefined, 'BINARY');
  const value = lowering.value(argument(call, 0));
  return computed(cond(compareLowered(operands.left, '=', operands.right), null, value.mql), {
    kinds: value.type.kinds,
    nullable: true,
    missing: value.type.missing,
  });
}

function absolute(value: Lowered): Lowered {
  // Text gives a real even where it looks like an integer.
  const number = mayBe(value.type, TEXT)
    ? {
        ...castToReal(value),
        type: {
          kinds: value.type.kinds === TEXT ? REAL : NUMBER,
          nullable: value.type.nullable,
          missing: false,
        },
      }
    : toNumber(value);
  if (isNeverNegative(number.type)) return number;
  return computed(
    { $abs: number.mql },
    { ...number.type, missing: false, ...absoluteBounds(number.type) },
  );
}

function absoluteBounds({ min, max }: ValueType): Pick<ValueType, 'min' | 'max'> {
  if (min === undefined || max === undefined) return { min: 0 };
  return { min: 0, max: Math.max(Math.abs(min), Math.abs(max)) };
}

/**
 * Rounds half away from zero, as SQLite does, where `$round` goes to the even neighbour. Both look
 * at the exact value of the double, so they differ at exact halves alone: values that a small power
 * of two makes whole.
 */
function round(value: Lowered, digits: Lowered | undefined): Lowered {
  const number = toNumber(value);
  const places = digits ? digits.constant?.value : 0n;
  if (places === null) return literal(null);
  if (typeof places !== 'bigint' && typeof places !== 'number')
    throw new Untranslatable('function', 'round() to a computed number of digits');
  const type = { kinds: REAL, nullable: number.type.nullable, missing: false };
  if (onlyKinds(number.type, INTEGER)) return integerAsReal(number);
  const digitCount = Math.max(0, Math.min(20, Math.trunc(Number(places))));
  const factor = 10 ** digitCount;
  const half = (mql: Mql): Mql =>
    isNeverNegative(number.type) ? 0.5 : cond({ $lt: [mql, 0] }, -0.5, 0.5);
  const away = (mql: Mql): Mql => ({
    $trunc: { $add: [factor === 1 ? mql : { $multiply: [mql, factor] }, half(mql)] },
  });
  const mayBeHalf = (mql: Mql): Mql => ({
    $eq: [{ $mod: [{ $multiply: [mql, 2 ** (digitCount + 1)] }, 1] }, 0],
  });
  const rounded = (mql: Mql): Mql =>
    factor === 1
      ? away(mql)
      : cond(mayBeHalf(mql), { $divide: [away(mql), factor] }, { $round: [mql, digitCount] });
  return computed(bound(number.mql, rounded), type);
}

// String operators of MongoDB make an empty string of null, or refuse it.
function overText(value: Lowered, kinds: number, operation: (text: Mql) => Mql): Lowered {
  const text = toText(value);
  return computed(overNull(text, operation), typeOf(kinds, text.type.nullable));
}

function trim(operator: string, value: Lowered, characters: Lowered | undefined): Lowered {
  const chars = characters ? characters.constant?.value : ' ';
  if (typeof chars !== 'string')
    throw new Untranslatable('function', 'trim() of computed characters');
  const text = toText(value);
  if (chars === '') return text;
  return computed(
    { [operator]: { input: text.mql, chars: constant(chars) } },
    typeOf(TEXT, text.type.nullable),
  );
}

function replace(input: Lowered, find: Lowered, replacement: Lowered): Lowered {
  const parts = [input, find, replacement].map(toText);
  const [text, pattern, other] = parts;
  if (!text || !pattern || !other) return literal(null);
  if (pattern.constant?.value === '') return text;
  return computed(
    { $replaceAll: { input: text.mql, find: pattern.mql, replacement: other.mql } },
    typeOf(
      TEXT,
      parts.some(({ type }) => type.nullable),
    ),
  );
}

function instr(input: Lowered, find: Lowered): Lowered {
  const text = toText(input);
  const part = toText(find);
  const nullable = text.type.nullable || part.type.nullable;
  const position = (mql: Mql): Mql => ({ $add: [{ $indexOfCP: [mql, part.mql] }, 1] });
  if (part.type.nullable)
    return computed(cond(isAbsent(part), null, overNull(text, position)), {
      ...typeOf(INTEGER, nullable),
      min: 0,
    });
  return computed(overNull(text, position), { ...typeOf(INTEGER, nullable), min: 0 });
}

/**
 * Positions count from 1, negative ones from the end; position 0 lies before the first character.
 */
function substring(input: Lowered, start: Lowered, count: Lowered | undefined): Lowered {
  const text = toText(input);
  const from = start.constant?.value;
  const length = count ? count.constant?.value : undefined;
  if (from === null || length === null) return literal(null);
  if (typeof from === 'bigint' && from < 0n) {
    const back = -Number(from);
    if (count && typeof length !== 'bigint') return computedSubstring(text, start, count);
    if (typeof length === 'bigint' && length < 0n) return computedSubstring(text, start, count);
    return overText(text, TEXT, (mql) =>
      fromEnd(mql, back, length === undefined ? undefined : Number(length)),
    );
  }
  if (typeof from === 'bigint' && (typeof length === 'bigint' || !count)) {
    const begin = Math.max(0, Number(from) - 1);
    if (typeof length === 'bigint' && length < 0n) return computedSubstring(text, start, count);
    const size: Mql | undefined =
      typeof length === 'bigint' ? Math.max(0, Number(length) - (from === 0n ? 1 : 0)) : undefined;
    const part = overText(text, TEXT, (mql) => ({
      $substrCP: [mql, begin, size ?? { $strLenCP: mql }],
    }));
    return begin === 0 ? { ...part, type: { ...part.type, ...startOfDate(text, size) } } : part;
  }
  return computedSubstring(text, start, count);
}

/** The year or the day at the start of a date's text. */
function startOfDate({ type }: Lowered, size: Mql | undefined): Pick<ValueType, 'formats'> {
  if (!allFormats(type, ['iso-date', 'iso-datetime'])) return {};
  if (size === 10) return { formats: ['iso-date'] };
  return size === 4 ? { formats: ['integer'], ...YEARS } : {};
}

const YEARS = { min: 0, max: 9999 };

function fromEnd(text: Mql, back: number, length: number | undefined): Mql {
  const size: Mql = { $strLenCP: text };
  const begin: Mql = { $max: [0, { $subtract: [size, back] }] };
  if (length === undefined) return { $substrCP: [text, begin, size] };
  // A start before the first character uses up part of the length.
  const rest: Mql = {
    $max: [0, { $min: [length, { $add: [length, { $subtract: [size, back] }] }] }],
  };
  return { $substrCP: [text, begin, rest] };
}

function computedSubstring(text: Lowered, start: Lowered, count: Lowered | undefined): Lowered {
  const from = castToInteger(toNumber(start));
  const length = count && castToInteger(toNumber(count));
  const nullableParts = [from, ...(length ? [length] : [])].filter(({ type }) => type.nullable);
  const mql = overNull(text, (inner) => bound(inner, (string) => slice(string, from, length)));
  return computed(
    nullableParts.length === 0 ? mql : cond(or(...nullableParts.map(isAbsent)), null, mql),
    typeOf(TEXT, text.type.nullable || nullableParts.length > 0),
  );
}

function slice(text: Mql, from: Lowered, length: Lowered | undefined): Mql {
  const size: Mql = { $strLenCP: text };
  const atLeastOne =
    from.constant?.value === 1n || (from.type.min !== undefined && from.type.min >= 1);
  if (!atLeastOne) return sliceAnywhere(text, size, from.mql, length?.mql ?? size);
  const begin: Mql = from.constant?.value === 1n ? 0 : { $subtract: [from.mql, 1] };
  if (!length) return { $substrCP: [text, begin, size] };
  if (isNeverNegative(length.type)) return { $substrCP: [text, begin, length.mql] };
  if (begin === 0) return { $substrCP: [text, 0, { $max: [0, length.mql] }] };
  return { $let: { vars: { begin, count: length.mql }, in: forwardsOrBack(text) } };
}

// A negative length takes the characters in front of the start.
const forwardsOrBack = (text: Mql): Mql =>
  cond(
    { $gte: ['$$count', 0] },
    { $substrCP: [text, '$$begin', '$$count'] },
    {
      $substrCP: [
        text,
        { $max: [0, { $add: ['$$begin', '$$count'] }] },
        { $min: ['$$begin', { $multiply: ['$$count', -1] }] },
      ],
    },
  );

/**
 * Every case of https://www.sqlite.org/lang_corefunc.html#substr: from the end, before the start,
 * backwards.
 */
function sliceAnywhere(text: Mql, size: Mql, start: Mql, length: Mql): Mql {
  const begin: Mql = {
    $switch: {
      branches: [
        { case: { $gt: ['$$start', 0] }, then: { $subtract: ['$$start', 1] } },
        { case: { $lt: ['$$start', 0] }, then: { $max: [0, { $add: ['$$start', '$$size'] }] } },
      ],
      default: 0,
    },
  };
  // What lies before the first character uses up part of the length.
  const before: Mql = { $max: [0, { $add: ['$$length', { $add: ['$$start', '$$size'] }] }] };
  const count: Mql = {
    $switch: {
      branches: [
        { case: { $lt: [{ $add: ['$$start', '$$size'] }, 0] }, then: before },
        {
          case: { $and: [{ $eq: ['$$start', 0] }, { $gt: ['$$length', 0] }] },
          then: { $subtract: ['$$length', 1] },
        },
      ],
      default: '$$length',
    },
  };
  return {
    $let: {
      vars: { start, length, size },
      in: { $let: { vars: { begin, count }, in: forwardsOrBack(text) } },
    },
  };
}

/** With several arguments: null as soon as one is null. */
function extreme(name: 'min' | 'max', values: readonly Lowered[]): Lowered {
  const type = values.map((value) => value.type).reduce(unionType);
  const mql: Mql = { [`$${name}`]: values.map((value) => value.mql) };
  const nullable = values.filter((value) => value.type.nullable);
  return computed(nullable.length === 0 ? mql : cond(or(...nullable.map(isAbsent)), null, mql), {
    kinds: type.kinds,
    nullable: type.nullable,
    missing: false,
  });
}

function typeName(value: Lowered): Lowered {
  const type = typeOf(TEXT);
  const { kinds, nullable } = value.type;
  const only = { [INTEGER]: 'integer', [REAL]: 'real', [TEXT]: 'text' }[kinds];
  if (only !== undefined && !nullable) return literal(only);
  if (only !== undefined) return computed(cond(isPresent(value), only, 'null'), type);
  if (kinds === 0) return literal('null');
  const name: Mql = {
    $switch: {
      branches: [
        { case: { $in: [{ $type: '$$value' }, ['int', 'long']] }, then: 'integer' },
        { case: { $eq: [{ $type: '$$value' }, 'double'] }, then: 'real' },
        { case: { $eq: [{ $type: '$$value' }, 'string'] }, then: 'text' },
        { case: { $eq: [{ $type: '$$value' }, 'binData'] }, then: 'blob' },
      ],
      default: 'null',
    },
  };
  return computed({ $let: { vars: { value: withNull(value) }, in: name } }, type);
}

function mathematics(name: string, values: readonly Lowered[]): Lowered {
  const [a, b] = values;
  if (!a) throw new Untranslatable('function', `${name}() without arguments`);
  if (name === 'sqrt') {
    const root: Mql = { $sqrt: a.mql };
    const type = { kinds: REAL, nullable: true, missing: false };
    return isNeverNegative(a.type)
      ? computed(root, { ...type, nullable: a.type.nullable })
      : computed(cond({ $gte: [a.mql, 0] }, root, null), type);
  }
  if (!b || mayBe(a.type, TEXT) || !onlyKinds(b.type, NUMBER))
    throw new Untranslatable('function', `${name}() of these arguments`);
  return computed(
    { [name === 'mod' ? '$mod' : '$pow']: [a.mql, b.mql] },
    { kinds: REAL, nullable: a.type.nullable || b.type.nullable, missing: false },
  );
}
