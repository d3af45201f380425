import { randomBytes } from 'node:crypto';
import type { Doc } from './doc';
import { Decimal } from './decimal';

/**
 * A BSON value in memory.
 *
 * `undefined` is *missing*. A plain number is an int32 when it is one (`(n | 0) === n`), else a
 * double; a double whose value an int32 could hold is a `Double`. So most numbers need no object,
 * and no type is ever lost. A `bigint` is a long.
 */
export type Value =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | Double
  | Decimal
  | ObjectId
  | DateTime
  | Binary
  | Regex
  | Timestamp
  | Marker
  | Code
  | Symbol_
  | DbPointer
  | Doc
  | Value[];

export class Double {
  constructor(readonly value: number) {}
}

/** Makes a double of any JavaScript number. */
export const double = (n: number): number | Double => ((n | 0) === n ? new Double(n) : n);

export class ObjectId {
  private hexText: string | undefined;
  constructor(readonly bytes: Uint8Array) {}
  get hex(): string {
    return (this.hexText ??= Buffer.from(this.bytes).toString('hex'));
  }
  static fromHex(hex: string): ObjectId {
    return new ObjectId(Buffer.from(hex, 'hex'));
  }
  static generate(): ObjectId {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt32BE(Math.floor(Date.now() / 1000), 0);
    processPart.copy(bytes, 4);
    bytes.writeUIntBE((counter = (counter + 1) & 0xffffff), 9, 3);
    return new ObjectId(bytes);
  }
}
const processPart = randomBytes(5);
let counter = randomBytes(3).readUIntBE(0, 3);

/** Milliseconds since 1970, UTC. */
export class DateTime {
  constructor(readonly ms: number) {}
}
export class Binary {
  constructor(
    readonly subtype: number,
    readonly bytes: Uint8Array,
  ) {}
}
export class Regex {
  constructor(
    readonly pattern: string,
    readonly options: string,
  ) {}
}
export class Timestamp {
  constructor(
    readonly seconds: number,
    readonly increment: number,
  ) {}
}
/** The values that have a type and nothing else. */
export class Marker {
  constructor(readonly name: 'minKey' | 'maxKey' | 'undefined') {}
}
export const minKey = new Marker('minKey');
export const maxKey = new Marker('maxKey');
export const bsonUndefined = new Marker('undefined');
export class Code {
  constructor(
    readonly code: string,
    readonly scope?: Doc,
  ) {}
}
export class Symbol_ {
  constructor(readonly value: string) {}
}
export class DbPointer {
  constructor(
    readonly namespace: string,
    readonly id: Uint8Array,
  ) {}
}

export const BsonType = {
  missing: 0,
  double: 1,
  string: 2,
  object: 3,
  array: 4,
  binData: 5,
  undefined: 6,
  objectId: 7,
  bool: 8,
  date: 9,
  null: 10,
  regex: 11,
  dbPointer: 12,
  javascript: 13,
  symbol: 14,
  javascriptWithScope: 15,
  int: 16,
  timestamp: 17,
  long: 18,
  decimal: 19,
  minKey: -1,
  maxKey: 127,
} as const;

const typeNames = new Map<number, string>(
  Object.entries(BsonType).map(([name, code]) => [code, name]),
);

/** The BSON type number of a value; 0 when it is missing. */
export function typeOf(value: Value): number {
  switch (typeof value) {
    case 'undefined':
      return BsonType.missing;
    case 'boolean':
      return BsonType.bool;
    case 'number':
      return (value | 0) === value ? BsonType.int : BsonType.double;
    case 'bigint':
      return BsonType.long;
    case 'string':
      return BsonType.string;
    default:
      return objectType(value);
  }
}

function objectType(value: Exclude<Value, undefined | boolean | number | bigint | string>): number {
  if (value === null) return BsonType.null;
  if (Array.isArray(value)) return BsonType.array;
  if (value instanceof Double) return BsonType.double;
  if (value instanceof DateTime) return BsonType.date;
  if (value instanceof ObjectId) return BsonType.objectId;
  if (value instanceof Decimal) return BsonType.decimal;
  if (value instanceof Binary) return BsonType.binData;
  if (value instanceof Regex) return BsonType.regex;
  if (value instanceof Timestamp) return BsonType.timestamp;
  if (value instanceof Marker) return BsonType[value.name];
  if (value instanceof Code)
    return value.scope ? BsonType.javascriptWithScope : BsonType.javascript;
  if (value instanceof Symbol_) return BsonType.symbol;
  if (value instanceof DbPointer) return BsonType.dbPointer;
  return BsonType.object;
}

/** The name that `$type` and error messages use. */
export const typeName = (value: Value): string => typeNames.get(typeOf(value)) ?? 'unknown';

export const isNullish = (value: Value): value is null | undefined =>
  value === null || value === undefined || value === bsonUndefined;

export type Numeric = number | bigint | Double | Decimal;
export const isNumeric = (value: Value): value is Numeric =>
  typeof value === 'number' ||
  typeof value === 'bigint' ||
  value instanceof Double ||
  value instanceof Decimal;

/** Nearest double of a numeric value. */
export function toDouble(value: Numeric): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return value instanceof Double ? value.value : value.toNumber();
}

/** Whether a number is whole, of whatever type. */
export const isIntegral = (v: Value): v is number | bigint =>
  isNumeric(v) && Number.isInteger(toDouble(v));

/** MongoDB's truth: everything but false, null, missing and zero. */
export function isTruthy(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'undefined':
      return false;
    case 'number':
      return value !== 0;
    case 'bigint':
      return value !== 0n;
    case 'string':
      return true;
    default:
      if (value === null || value === bsonUndefined) return false;
      if (value instanceof Double) return value.value !== 0;
      if (value instanceof Decimal) return !value.isZero;
      return true;
  }
}
