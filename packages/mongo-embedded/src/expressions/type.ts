import { Doc } from '../bson/doc';
import { encodedSize } from '../bson/encode';
import { badValue, failedToParse, ServerError, unsupported } from '../errors';
import { toDecimal } from '../values/arithmetic';
import { parseDate } from '../values/date-text';
import { formatDate, utc } from '../values/dates';
import { Decimal } from '../bson/decimal';
import {
  Binary,
  BsonType,
  DateTime,
  Double,
  double,
  isNullish,
  isNumeric,
  isTruthy,
  ObjectId,
  Timestamp,
  toDouble,
  typeName,
  type Numeric,
  type Value,
} from '../bson/value';
import { coerceToString } from './string';
import {
  checkVariableName,
  constant,
  namedArguments,
  parseExpression,
  RANDOM,
  unary,
  type Expression,
  type Family,
  type OperatorBuilder,
} from './expression';
import {
  binaryToText,
  parseFormat,
  subtypeOf,
  textToBinary,
  UUID_SUBTYPE,
  type BinaryOptions,
} from './binary-text';

const YEAR_OUT_OF_RANGE = 18537;
const failure = (message: string): ServerError => new ServerError(241, message);
const cannot = (v: Value, to: string): ServerError =>
  failure(`Unsupported conversion from ${typeName(v)} to ${to} in $convert with no onError value`);

function parseInteger(text: string, to: string, low: bigint, high: bigint): bigint {
  if (!/^[+-]?\d+$/.test(text))
    throw failure(
      `Failed to parse number '${text}' in $convert with no onError value: Did not consume ` +
        'whole string.',
    );
  const n = BigInt(text.replace(/^\+/, ''));
  if (n < low || n > high)
    throw failure(
      `Failed to parse number '${text}' in $convert with no onError value: Overflow (to ${to})`,
    );
  return n;
}

/** A number as an integer of the given range; fractions are cut off. */
function toInteger(v: Numeric, low: bigint, high: bigint): bigint {
  if (typeof v === 'bigint') return inRange(v, v, low, high);
  if (v instanceof Decimal) {
    if (!v.isFinite)
      throw failure(
        `Attempt to convert ${v.isNaN ? 'NaN' : 'infinity'} value to integer type in $convert ` +
          'with no onError value',
      );
    return inRange(v.toBigInt(), v, low, high);
  }
  const d = toDouble(v);
  if (Number.isNaN(d))
    throw failure('Attempt to convert NaN value to integer type in $convert with no onError value');
  if (!Number.isFinite(d))
    throw failure(
      'Attempt to convert infinity value to integer type in $convert with no onError value',
    );
  return inRange(BigInt(Math.trunc(d)), v, low, high);
}
function inRange(n: bigint, v: Numeric, low: bigint, high: bigint): bigint {
  if (n < low || n > high)
    throw failure(
      'Conversion would overflow target type in $convert with no onError value: ' +
        `${String(v instanceof Double ? v.value : v)}`,
    );
  return n;
}

const INT = [-2147483648n, 2147483647n] as const;
const LONG = [-(2n ** 63n), 2n ** 63n - 1n] as const;

type Convert = (v: Value, how: BinaryOptions) => Value;
const conversions: Record<string, Convert> = {
  double: (v) => {
    if (isNumeric(v)) {
      const d = toDouble(v);
      if (!Number.isFinite(d) && v instanceof Decimal && v.isFinite)
        throw failure('Conversion would overflow target type in $convert with no onError value');
      return double(d);
    }
    if (typeof v === 'boolean') return double(v ? 1 : 0);
    if (v instanceof DateTime) return double(v.ms);
    if (typeof v === 'string') return double(parseDouble(v));
    throw cannot(v, 'double');
  },
  decimal: (v) => {
    if (isNumeric(v)) return toDecimal(v);
    if (typeof v === 'boolean') return v ? Decimal.one : Decimal.zero;
    if (v instanceof DateTime) return Decimal.fromBigInt(BigInt(v.ms));
    if (typeof v === 'string') {
      const decimal = Decimal.parse(v);
      if (!decimal)
        throw failure(
          `Failed to parse number '${v}' in $convert with no onError value: Failed to parse ` +
            'string to decimal',
        );
      return decimal;
    }
    throw cannot(v, 'decimal');
  },
  int: (v) => {
    if (isNumeric(v)) return Number(toInteger(v, ...INT));
    if (typeof v === 'boolean') return v ? 1 : 0;
    if (typeof v === 'string') return Number(parseInteger(v, 'int', ...INT));
    throw cannot(v, 'int');
  },
  long: (v) => {
    if (isNumeric(v)) return toInteger(v, ...LONG);
    if (typeof v === 'boolean') return v ? 1n : 0n;
    if (v instanceof DateTime) return BigInt(v.ms);
    if (typeof v === 'string') return parseInteger(v, 'long', ...LONG);
    throw cannot(v, 'long');
  },
  bool: (v) => isTruthy(v),
  string: (v, { format }) => {
    if (typeof v === 'boolean') return v ? 'true' : 'false';
    if (v instanceof ObjectId) return v.hex;
    if (v instanceof Binary) return binaryToText(v, format);
    if (v instanceof DateTime) return formatDate(v.ms, '%Y-%m-%dT%H:%M:%S.%LZ', utc);
    if (isNumeric(v) || typeof v === 'string') return coerceToString(v, '$convert');
    throw cannot(v, 'string');
  },
  date: (v) => {
    if (v instanceof DateTime) return v;
    if (typeof v === 'bigint') return new DateTime(Number(v));
    if (v instanceof Decimal || v instanceof Double || (typeof v === 'number' && (v | 0) !== v))
      return new DateTime(Number(toInteger(v, ...LONG)));
    if (v instanceof ObjectId) return new DateTime(Buffer.from(v.bytes).readUInt32BE(0) * 1000);
    if (v instanceof Timestamp) return new DateTime(v.seconds * 1000);
    if (typeof v === 'string') return new DateTime(parseDate(v, undefined));
    throw cannot(v, 'date');
  },
  binData: (v, { subtype, format }) => {
    if (typeof v === 'string') return textToBinary(v, subtype, format);
    if (!(v instanceof Binary)) throw cannot(v, 'binData');
    if (v.subtype !== subtype)
      throw failure(
        'Conversions between different binary subtypes are not supported in $convert with no ' +
          'onError value',
      );
    return v;
  },
  objectId: (v) => {
    if (v instanceof ObjectId) return v;
    if (typeof v === 'string') {
      if (!/^[0-9a-f]{24}$/i.test(v))
        throw failure(
          `Failed to parse objectId '${v}' in $convert with no onError value: Invalid string ` +
            `length for parsing to OID, expected 24 but found ${v.length}`,
        );
      return ObjectId.fromHex(v);
    }
    throw cannot(v, 'objectId');
  },
};

/**
 * Reads a whole text as a number. Hexadecimal as the server does: with a small x only after a sign.
 */
function parseDouble(text: string): number {
  const failed = (why: string): ServerError =>
    failure(`Failed to parse number '${text}' in $convert with no onError value: ${why}`);
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) {
    const d = Number(text);
    // What is so small that it lost digits counts as out of range, too.
    if (
      !Number.isFinite(d) ||
      (Math.abs(d) < 2 ** -1022 && /[1-9]/.test(text.replace(/e.*$/i, '')))
    )
      throw failed('Out of range');
    return d;
  }
  const word = /^([+-]?)(?:inf(?:inity)?|(nan))$/i.exec(text);
  if (word?.[2]) return NaN;
  if (word) return word[1] === '-' ? -Infinity : Infinity;
  const hex = text.startsWith('0x')
    ? null
    : /^([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?\d+))?$/i.exec(text);
  const digits = `${hex?.[2] ?? ''}${hex?.[3] ?? ''}`;
  if (!hex || digits === '') throw failed('Did not consume whole string.');
  const magnitude =
    Number(BigInt(`0x${digits}`)) * 2 ** (Number(hex[4] ?? 0) - 4 * (hex[3] ?? '').length);
  return hex[1] === '-' ? -magnitude : magnitude;
}

const codeNames = new Map<number, string>([
  [1, 'double'],
  [2, 'string'],
  [5, 'binData'],
  [7, 'objectId'],
  [8, 'bool'],
  [9, 'date'],
  [16, 'int'],
  [18, 'long'],
  [19, 'decimal'],
]);

interface Target {
  readonly convert: Convert;
  readonly subtype: number;
}
function targetOf(to: Value): Target | null {
  if (isNullish(to)) return null;
  const type = to instanceof Doc ? to.get('type') : to;
  if (isNullish(type)) return null;
  let name: string;
  if (typeof type === 'string') name = type;
  else if (isNumeric(type) && Number.isInteger(toDouble(type))) {
    const code = toDouble(type);
    const known = codeNames.get(code) ?? Object.entries(BsonType).find(([, n]) => n === code)?.[0];
    if (known === undefined)
      throw failedToParse(
        `In $convert, numeric value for 'to' does not correspond to a BSON type: ${code}`,
      );
    name = known;
  } else throw failedToParse("$convert's 'to' argument must be a string or number");
  const convert = Object.hasOwn(conversions, name) ? conversions[name] : undefined;
  if (convert)
    return {
      convert,
      subtype: to instanceof Doc && name === 'binData' ? subtypeOf(to.get('subtype')) : 0,
    };
  // A type that exists but is no target fails when a value is converted to it, so that `onError`
  // can catch it.
  if (name in BsonType)
    return {
      convert: (v) => {
        throw cannot(v, name);
      },
      subtype: 0,
    };
  throw badValue(`Unknown type name: ${name}`);
}

const convertOperator: OperatorBuilder = (operand, scope, name) => {
  const args = namedArguments(
    operand,
    name,
    ['input', 'to'],
    ['onError', 'onNull', 'format', 'byteOrder'],
  );
  if (args.has('byteOrder')) throw unsupported("$convert's 'byteOrder'");
  const read = (key: string): Expression | undefined =>
    args.has(key) ? parseExpression(args.get(key), scope) : undefined;
  const input = read('input') as Expression;
  const to = read('to') as Expression;
  const [onError, onNull, format] = [read('onError'), read('onNull'), read('format')];
  return {
    operands: [input, to, onError, onNull, format].filter((o) => o !== undefined),
    evaluate: (doc) => {
      const v = input.evaluate(doc);
      const target = targetOf(to.evaluate(doc));
      const how = { subtype: target?.subtype ?? 0, format: parseFormat(format?.evaluate(doc)) };
      if (isNullish(v)) return onNull ? onNull.evaluate(doc) : null;
      if (!target) return null;
      try {
        return target.convert(v, how);
      } catch (error) {
        if (
          onError &&
          error instanceof ServerError &&
          (error.code === 241 || error.code === YEAR_OUT_OF_RANGE)
        )
          return onError.evaluate(doc);
        throw error;
      }
    },
  };
};

const to = (type: string, how: BinaryOptions = { subtype: 0, format: 'auto' }) => {
  const convert = conversions[type] as Convert;
  const build = unary((v) => (isNullish(v) ? null : convert(v, how)));
  const checked: OperatorBuilder = (operand, scope, name) => {
    if (Array.isArray(operand) && operand.length !== 1)
      throw new ServerError(50723, `${name} requires a single argument, got ${operand.length}`);
    return build(operand, scope, name);
  };
  return checked;
};

export const type: Family = {
  $convert: convertOperator,
  $isNumber: unary((v) => isNumeric(v)),
  $toBool: to('bool'),
  $toDate: to('date'),
  $toDecimal: to('decimal'),
  $toDouble: to('double'),
  $toInt: to('int'),
  $toLong: to('long'),
  $toObjectId: to('objectId'),
  $toString: to('string'),
  $toUUID: to('binData', { subtype: UUID_SUBTYPE, format: 'uuid' }),
  $type: unary((v) => typeName(v)),
};

const letOperator: OperatorBuilder = (operand, scope, name) => {
  const args = namedArguments(operand, name, ['vars', 'in']);
  const vars = args.get('vars');
  if (!(vars instanceof Doc))
    throw new ServerError(10065, 'invalid parameter: expected an object (vars)');
  let inner = scope;
  const bindings = vars.keys.map((key, i) => {
    if (key !== 'CURRENT') checkVariableName(key);
    else throw unsupported('$let that redefines CURRENT');
    const bound = inner.with(key);
    inner = bound.scope;
    // All are evaluated outside: they do not see each other.
    return { slot: bound.slot, expression: parseExpression(vars.values[i], scope) };
  });
  const body = parseExpression(args.get('in'), inner);
  const { frame } = scope.environment;
  return {
    evaluate: (doc) => {
      const values = bindings.map((b) => b.expression.evaluate(doc));
      const saved = bindings.map((b) => frame[b.slot]);
      bindings.forEach((b, i) => (frame[b.slot] = values[i]));
      const result = body.evaluate(doc);
      bindings.forEach((b, i) => (frame[b.slot] = saved[i]));
      return result;
    },
  };
};

const timestampPart = (read: (t: Timestamp) => number) =>
  unary((v, name) => {
    if (isNullish(v)) return null;
    if (!(v instanceof Timestamp))
      throw new ServerError(
        5687301,
        `Argument to ${name} must be a timestamp, but is ${typeName(v)}`,
      );
    return BigInt(read(v));
  });

export const miscellaneous: Family = {
  $literal: (operand) => ({ operands: [constant(operand)], evaluate: () => operand }),
  $const: (operand) => ({ operands: [constant(operand)], evaluate: () => operand }),
  $expr: (operand, scope) => {
    const inner = parseExpression(operand, scope);
    return { operands: [inner], evaluate: inner.evaluate };
  },
  $let: letOperator,
  $rand: (operand, scope) => {
    if (
      !(operand instanceof Doc && operand.size === 0) &&
      !(Array.isArray(operand) && operand.length === 0)
    )
      throw new ServerError(3040501, '$rand does not currently accept arguments');
    scope.environment.touch(RANDOM);
    return { evaluate: () => double(Math.random()) };
  },
  $tsSecond: timestampPart((t) => t.seconds),
  $tsIncrement: timestampPart((t) => t.increment),
  $binarySize: unary((v, name) => {
    if (isNullish(v)) return null;
    if (typeof v === 'string') return Buffer.byteLength(v, 'utf8');
    if (v instanceof Binary) return v.bytes.length;
    throw new ServerError(
      51276,
      `${name} requires a string or BinData argument, found: ${typeName(v)}`,
    );
  }),
  $bsonSize: unary((v, name) => {
    if (isNullish(v)) return null;
    if (!(v instanceof Doc))
      throw new ServerError(31393, `${name} requires a document input, found: ${typeName(v)}`);
    return encodedSize(v);
  }),
};
