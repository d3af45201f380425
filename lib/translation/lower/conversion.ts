import { numberFormat } from '../../sqlite/profile/number-format';
import type { Transform } from '../../design/model/transform-kind';
import type { Lowered } from './environment';
import { clampedInteger, integerAsReal, integerOrReal, truncated } from './exact-integer';
import { and, cond, constant, type Mql, type Scalar } from '../mql/mql';
import { computedText, textOfNumber } from './number-text';
import { Untranslatable } from './untranslated';
import {
  INTEGER,
  mayBe,
  NUMBER,
  onlyKinds,
  REAL,
  TEXT,
  BLOB,
  typeOf,
  type ValueType,
} from './value-type';
import { bound, computed, IDENTITY, isPlain } from './computed-value';

export function literal(value: Scalar): Lowered {
  return {
    mql: constant(value),
    type: literalType(value),
    transform: IDENTITY,
    constant: { value },
  };
}

function literalType(value: Scalar): ValueType {
  if (value === null) return typeOf(0, true);
  if (typeof value === 'bigint')
    return { ...typeOf(INTEGER), min: Number(value), max: Number(value) };
  if (typeof value === 'number') return { ...typeOf(REAL), min: value, max: value };
  return typeOf(typeof value === 'string' ? TEXT : BLOB);
}

/** True when a value is neither null nor missing. */
export function isPresent({
  mql,
  type,
  presence,
}: Pick<Lowered, 'mql' | 'type' | 'presence'>): Mql {
  if (!type.nullable) return true;
  if (presence !== undefined) return { $gt: [`$${presence}`, null] };
  if (type.kinds === 0 && !type.missing && mql === null) return false;
  // Missing sorts below null: one comparison covers both, where `$ne` would let missing pass.
  return type.missing ? { $gt: [mql, null] } : { $ne: [mql, null] };
}

export const isAbsent = ({
  mql,
  type,
  presence,
}: Pick<Lowered, 'mql' | 'type' | 'presence'>): Mql => {
  if (!type.nullable) return false;
  if (mql === null) return true;
  if (presence !== undefined) return { $lte: [`$${presence}`, null] };
  return type.missing ? { $lte: [mql, null] } : { $eq: [mql, null] };
};

/** Null instead of missing. */
export const withNull = ({ mql, type }: Lowered): Mql =>
  type.missing ? { $ifNull: [mql, null] } : mql;

/** Applies an operation that does not pass null on by itself. */
export function overNull(value: Lowered, operation: (mql: Mql) => Mql): Mql {
  if (!value.type.nullable) return operation(value.mql);
  if (value.mql === null) return null;
  if (isPlain(value.mql)) return cond(isAbsent(value), null, operation(value.mql));
  return {
    $let: {
      vars: { value: value.mql },
      in: cond(isAbsent({ mql: '$$value', type: value.type }), null, operation('$$value')),
    },
  };
}

const MONGO_DATE_FORMAT = {
  'YYYY-MM-DD': '%Y-%m-%d',
  'YYYY-MM-DD HH:MM:SS': '%Y-%m-%d %H:%M:%S',
  'MM/DD/YYYY': '%m/%d/%Y',
} as const;

/** The source value of a retyped column. */
export function decode(value: Lowered): Lowered {
  const { transform, mql, type } = value;
  switch (transform.kind) {
    case 'identity':
    // No query reads these: the text beside them is what SQL sees.
    case 'bytes':
      return value;
    case 'bool': {
      const [yes, no] = [constant(transform.true), constant(transform.false)];
      const text = (flag: Mql): Mql => cond(flag, yes, no);
      return computed(type.nullable ? overNull(value, text) : text(mql), { ...type, kinds: TEXT });
    }
    case 'date':
      return computed(dateText(transform.format, mql), type);
    case 'number': {
      const format = numberFormat(transform.format);
      if (!format) throw new Error(`${transform.format} is no pattern of a number`);
      return computedText(
        value,
        overNull(value, (number) => textOfNumber(number, format)),
      );
    }
    case 'string':
      return computed({ $toLong: mql }, { ...type, kinds: INTEGER });
  }
}

function dateText(format: Extract<Transform, { kind: 'date' }>['format'], date: Mql): Mql {
  if (format !== 'M/D/YYYY') return { $dateToString: { date, format: MONGO_DATE_FORMAT[format] } };
  const part = (operator: string): Mql => ({ $toString: { [operator]: date } });
  return { $concat: [part('$month'), '/', part('$dayOfMonth'), '/', part('$year')] };
}

const WHOLE_NUMBER = '^\\s*[+-]?(\\d+(\\.\\d*)?|\\.\\d+)([eE][+-]?\\d+)?\\s*$';

const NUMBER_PREFIX = '^\\s*[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?';

const WHOLE_INTEGER = '^\\s*[+-]?\\d+\\s*$';

const INTEGER_PREFIX = '^\\s*[+-]?\\d+';

/**
 * NUMERIC affinity: text that is a number throughout becomes that number, everything else stays.
 */
export function withNumericAffinity(value: Lowered): Lowered {
  if (value.constant) {
    const { value: constantValue } = value.constant;
    return typeof constantValue === 'string' ? literal(numberOrText(constantValue)) : value;
  }
  if (value.number) return value.number;
  if (!mayBe(value.type, TEXT)) return value;
  const isNumber = allFormats(value.type, ['integer', 'decimal']);
  if (isNumber) return computed(convertNumber(value), numericType(value.type));
  const { type } = value;
  const convert = (mql: Mql): Mql =>
    cond(
      and(onlyKinds(type, TEXT) ? true : { $eq: [{ $type: mql }, 'string'] }, {
        $regexMatch: { input: mql, regex: WHOLE_NUMBER },
      }),
      { $toDouble: { $trim: { input: mql } } },
      mql,
    );
  return computed(
    overNull(value, (mql) => bound(mql, convert)),
    { kinds: type.kinds | NUMBER, nullable: type.nullable, missing: type.missing },
  );
}

/** TEXT affinity: numbers become text. */
export function withTextAffinity(value: Lowered): Lowered {
  if (value.constant) {
    const { value: constantValue } = value.constant;
    return typeof constantValue === 'bigint' || typeof constantValue === 'number'
      ? literal(numberText(constantValue))
      : value;
  }
  return mayBe(value.type, NUMBER) ? toText(value) : value;
}

/** SQLite's conversion of a text constant under NUMERIC affinity. */
export function numberOrText(text: string): Scalar {
  if (!new RegExp(WHOLE_NUMBER).test(text)) return text;
  const trimmed = text.trim();
  if (/^[+-]?\d+$/.test(trimmed)) {
    const integer = BigInt(trimmed);
    if (integer >= -(2n ** 63n) && integer < 2n ** 63n) return integer;
  }
  const number = Number(trimmed);
  return Number.isSafeInteger(number) ? BigInt(number) : number;
}

/** A number as SQLite prints it: 15 significant digits, a point in every real. */
export function numberText(value: bigint | number): string {
  if (typeof value === 'bigint') return value.toString();
  const digits = Number(value.toPrecision(15));
  const text = digits.toString();
  if (/^-?\d+$/.test(text)) return `${text}.0`;
  const exponent = /^(-?\d)(\.\d+)?e([+-])(\d+)$/.exec(text);
  if (!exponent) return text;
  return `${exponent[1] ?? ''}${exponent[2] ?? '.0'}e${exponent[3] ?? '+'}${(exponent[4] ?? '').padStart(2, '0')}`;
}

/** The value as arithmetic takes it: text counts by its numeric prefix, or as 0. */
export function toNumber(value: Lowered): Lowered {
  if (value.constant && typeof value.constant.value === 'string')
    return literal(prefixNumber(value.constant.value));
  const known = value.number ?? yearOfDate(value);
  if (known) return known;
  if (!mayBe(value.type, TEXT | BLOB)) return value;
  if (mayBe(value.type, BLOB)) throw new Untranslatable('types', 'arithmetic over blobs');
  if (allFormats(value.type, ['integer', 'decimal']))
    return computed(convertNumber(value), numericType(value.type));
  return computed(numberOrPrefix(value, 'number'), {
    kinds: NUMBER,
    nullable: value.type.nullable,
    missing: false,
  });
}

/** What the text of a date begins with, as arithmetic takes it: `datetime() - birthday`. */
function yearOfDate(value: Lowered): Lowered | undefined {
  if (value.constant || !allFormats(value.type, ['iso-date', 'iso-datetime'])) return undefined;
  const { nullable } = value.type;
  return computed(
    overNull(value, (text) => ({ $toInt: { $substrCP: [text, 0, 4] } })),
    { kinds: INTEGER, nullable, missing: false, min: 0, max: 9999 },
  );
}

export function castToInteger(value: Lowered): Lowered {
  const type: ValueType = {
    kinds: INTEGER,
    nullable: value.type.nullable,
    missing: value.type.missing,
  };
  if (value.constant) {
    const { value: known } = value.constant;
    if (typeof known === 'number') return literal(clampedInteger(integerPart(known)));
    if (typeof known === 'string')
      return literal(clampedInteger(BigInt(/^\s*[+-]?\d+/.exec(known)?.[0].trim() ?? '0')));
    return value;
  }
  const known = value.number ?? yearOfDate(value);
  if (known) return castToInteger(known);
  if (onlyKinds(value.type, INTEGER)) return value;
  if (onlyKinds(value.type, NUMBER)) return computed(truncated(value), bounds(value.type, type));
  if (mayBe(value.type, BLOB)) throw new Untranslatable('types', 'CAST of a blob');
  if (allFormats(value.type, ['integer']))
    return computed({ $toInt: value.mql }, bounds(value.type, type));
  return computed(numberOrPrefix(value, 'integer'), { ...type, missing: false });
}

export function castToReal(value: Lowered): Lowered {
  const type: ValueType = {
    kinds: REAL,
    nullable: value.type.nullable,
    missing: value.type.missing,
  };
  if (value.constant) {
    const { value: known } = value.constant;
    if (typeof known === 'bigint') return literal(Number(known));
    if (typeof known === 'string') return literal(Number(prefixNumber(known)));
    return value;
  }
  const number = value.number ?? yearOfDate(value);
  if (number) return castToReal(number);
  if (onlyKinds(value.type, NUMBER)) return integerAsReal(value);
  if (mayBe(value.type, BLOB)) throw new Untranslatable('types', 'CAST of a blob');
  if (allFormats(value.type, ['integer', 'decimal']))
    return computed({ $toDouble: value.mql }, type);
  return computed(numberOrPrefix(value, 'real'), { ...type, missing: false });
}

export function castToNumeric(value: Lowered): Lowered {
  if (value.constant && typeof value.constant.value === 'string') {
    const number = prefixNumber(value.constant.value);
    return literal(
      typeof number === 'number' && Number.isSafeInteger(number) ? BigInt(number) : number,
    );
  }
  if (onlyKinds(value.type, NUMBER)) return value;
  return toNumber(value);
}

const integerPart = (number: number): bigint =>
  Number.isFinite(number) ? BigInt(Math.trunc(number)) : (number > 0 ? 1n : -1n) << 64n;

const bounds = (from: ValueType, type: ValueType): ValueType => ({
  ...type,
  ...(from.min !== undefined && { min: from.min }),
  ...(from.max !== undefined && { max: from.max }),
});

/** Any value as text. */
export function toText(value: Lowered): Lowered {
  const { type } = value;
  if (value.constant) {
    const { value: known } = value.constant;
    return typeof known === 'bigint' || typeof known === 'number'
      ? literal(numberText(known))
      : value;
  }
  if (mayBe(type, BLOB)) throw new Untranslatable('types', 'text of a blob');
  if (onlyKinds(type, TEXT)) return value;
  const result: ValueType = { kinds: TEXT, nullable: type.nullable, missing: type.missing };
  if (onlyKinds(type, INTEGER | TEXT))
    return computed({ $toString: value.mql }, { ...result, missing: false });
  const text = (mql: Mql): Mql => {
    const real = realText(mql);
    if (onlyKinds(type, REAL)) return real;
    return cond({ $eq: [{ $type: mql }, 'double'] }, real, { $toString: mql });
  };
  return computed(
    overNull(value, (mql) => bound(mql, text)),
    { ...result, missing: false },
  );
}

// An integral real keeps its point. Others have 15 digits: as many as a decimal made of a double
// has, its zeros aside. (What $toString makes of a double depends on the server's version.)
function realText(mql: Mql): Mql {
  return cond(
    { $eq: [mql, { $trunc: mql }] },
    { $concat: [{ $toString: { $toLong: mql } }, '.0'] },
    { $rtrim: { input: { $toString: { $toDecimal: mql } }, chars: '0' } },
  );
}

/** Condition that a number is not zero; text counts by its numeric prefix. */
export function isTrue(value: Lowered): Mql {
  if (value.constant) {
    const { value: known } = value.constant;
    const number = typeof known === 'string' ? prefixNumber(known) : known;
    return number !== null && Number(number) !== 0;
  }
  const number = toNumber(value);
  return and(isPresent(number), { $ne: [number.mql, 0] });
}

export function isFalse(value: Lowered): Mql {
  if (value.constant) return value.constant.value !== null && !isTrue(value);
  return { $eq: [toNumber(value).mql, 0] };
}

/** Every value of a text column has one of these formats. */
export const allFormats = ({ kinds, formats }: ValueType, wanted: readonly string[]): boolean =>
  kinds === TEXT && (formats ?? []).some((format) => wanted.includes(format));

const numericType = (type: ValueType): ValueType =>
  bounds(type, {
    kinds: allFormats(type, ['integer']) ? INTEGER : NUMBER,
    nullable: type.nullable,
    missing: type.missing,
  });

const convertNumber = ({ mql, type }: Lowered): Mql =>
  allFormats(type, ['integer']) ? { $toLong: mql } : { $toDouble: mql };

export function prefixNumber(text: string): bigint | number {
  const prefix = new RegExp(NUMBER_PREFIX).exec(text)?.[0].trim();
  if (prefix === undefined) return 0n;
  return /^[+-]?\d+$/.test(prefix) ? integerOrReal(BigInt(prefix)) : Number(prefix);
}

/**
 * The value as SUM takes it: text that is an integer throughout counts as one, other text makes the
 * sum a real (https://www.sqlite.org/lang_aggfunc.html#sumunc).
 */
export function toSummand(value: Lowered): Lowered {
  if (value.number || !mayBe(value.type, TEXT) || value.constant) return toNumber(value);
  if (allFormats(value.type, ['integer'])) return toNumber(value);
  if (mayBe(value.type, BLOB)) throw new Untranslatable('types', 'the sum of blobs');
  return computed(numberOrPrefix(value, 'summand'), {
    kinds: NUMBER,
    nullable: value.type.nullable,
    missing: false,
  });
}

function numberOrPrefix(value: Lowered, wanted: 'integer' | 'real' | 'number' | 'summand'): Mql {
  const { type } = value;
  const fromText = (mql: Mql): Mql => {
    const regex = wanted === 'integer' ? INTEGER_PREFIX : NUMBER_PREFIX;
    const match = { $regexFind: { input: mql, regex } };
    const to = wanted === 'integer' ? 'long' : 'double';
    const converted = (type: string): Mql => ({
      $convert: { input: { $trim: { input: '$$found.match' } }, to: type, onError: 0, onNull: 0 },
    });
    // In arithmetic a prefix without point and exponent is an integer; in a sum only a whole text
    // is.
    const isInteger: Mql =
      wanted === 'summand'
        ? { $regexMatch: { input: mql, regex: WHOLE_INTEGER } }
        : { $not: [{ $regexMatch: { input: '$$found.match', regex: '[.eE]' } }] };
    const whole: Mql =
      wanted === 'number' || wanted === 'summand'
        ? cond(isInteger, converted('long'), converted('double'))
        : converted(to);
    return { $let: { vars: { found: match }, in: whole } };
  };
  return overNull(value, (outer) =>
    bound(outer, (mql) => {
      if (onlyKinds(type, TEXT)) return fromText(mql);
      const asNumber = wanted === 'integer' ? { $toLong: mql } : mql;
      return cond({ $isNumber: mql }, asNumber, fromText(mql));
    }),
  );
}
