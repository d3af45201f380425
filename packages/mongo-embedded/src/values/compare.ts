import type { Doc } from '../bson/doc';
import { Decimal } from '../bson/decimal';
import {
  type Binary,
  BsonType,
  type Code,
  type DateTime,
  type DbPointer,
  Double,
  type ObjectId,
  type Regex,
  Symbol_,
  type Timestamp,
  typeOf,
  type Numeric,
  type Value,
} from '../bson/value';

/** Where each type stands in BSON's order. Types of the same rank compare by value. */
const ranks = new Map<number, number>([
  [BsonType.minKey, 1],
  [BsonType.missing, 5],
  [BsonType.undefined, 5],
  [BsonType.null, 10],
  [BsonType.double, 15],
  [BsonType.int, 15],
  [BsonType.long, 15],
  [BsonType.decimal, 15],
  [BsonType.string, 20],
  [BsonType.symbol, 20],
  [BsonType.object, 25],
  [BsonType.array, 30],
  [BsonType.binData, 35],
  [BsonType.objectId, 40],
  [BsonType.bool, 45],
  [BsonType.date, 50],
  [BsonType.timestamp, 55],
  [BsonType.regex, 60],
  [BsonType.dbPointer, 65],
  [BsonType.javascript, 70],
  [BsonType.javascriptWithScope, 75],
  [BsonType.maxKey, 127],
]);
const rankTable = new Uint8Array(256);
for (const [type, rank] of ranks) rankTable[type & 255] = rank;

/** Position of a value's type in BSON's comparison order. */
export const rankOf = (value: Value): number => rankTable[typeOf(value) & 255] as number;

/** Orders two strings; the default is by UTF-8 bytes, a collation replaces it. */
export type StringOrder = (a: string, b: string) => number;

/** UTF-8 byte order: code units agree with it except between surrogates and U+E000…U+FFFF. */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) {
      const xs = x >= 0xd800 && x <= 0xdfff;
      const ys = y >= 0xd800 && y <= 0xdfff;
      if (xs && !ys && y >= 0xe000) return 1;
      if (ys && !xs && x >= 0xe000) return -1;
      return x < y ? -1 : 1;
    }
  }
  return a.length - b.length;
}

const sign = (n: number): number => compareDoubles(n, 0);

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

/** NaN is below every number and equal to itself. */
export function compareDoubles(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a === b) return 0;
  return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
}

const opposite = (c: number): number => (c === 0 ? 0 : -c);

/** Numeric order across types, exact also where a double cannot hold the integer. */
export function compareNumbers(a: Numeric, b: Numeric): number {
  if (a instanceof Double) a = a.value;
  if (b instanceof Double) b = b.value;
  if (typeof a === 'number') {
    if (typeof b === 'number') return compareDoubles(a, b);
    if (b instanceof Decimal) return opposite(b.compareDouble(a));
    // JavaScript compares a bigint with a number exactly; only NaN needs care.
    if (Number.isNaN(a) || a < b) return -1;
    return a > b ? 1 : 0;
  }
  if (typeof a === 'bigint') {
    if (typeof b === 'bigint') return Number(a > b) - Number(a < b);
    if (typeof b === 'number') return opposite(compareNumbers(b, a));
    return Decimal.fromBigInt(a).compare(b);
  }
  if (typeof b === 'number') return a.compareDouble(b);
  return a.compare(b instanceof Decimal ? b : Decimal.fromBigInt(b));
}

/**
 * BSON order of two values. A missing value is below null here; callers for which the two are one
 * (sorting, indexes) turn missing into null first.
 */
export function compareValues(a: Value, b: Value, order: StringOrder = compareUtf8): number {
  if (typeof a === 'number' && typeof b === 'number') return compareDoubles(a, b);
  if (typeof a === 'string' && typeof b === 'string') return sign(order(a, b));
  const rank = rankOf(a);
  const other = rankOf(b);
  if (rank !== other) return rank < other ? -1 : 1;
  switch (rank) {
    case 15:
      return compareNumbers(a as Numeric, b as Numeric);
    case 20:
      return sign(
        order(
          a instanceof Symbol_ ? a.value : (a as string),
          b instanceof Symbol_ ? b.value : (b as string),
        ),
      );
    case 25:
      return compareDocs(a as Doc, b as Doc, order);
    case 30:
      return compareArrays(a as Value[], b as Value[], order);
    case 35: {
      const x = a as Binary;
      const y = b as Binary;
      return sign(
        x.bytes.length - y.bytes.length || x.subtype - y.subtype || compareBytes(x.bytes, y.bytes),
      );
    }
    case 40:
      return compareBytes((a as ObjectId).bytes, (b as ObjectId).bytes);
    case 45:
      return Number(a as boolean) - Number(b as boolean);
    case 50:
      return sign((a as DateTime).ms - (b as DateTime).ms);
    case 55: {
      const x = a as Timestamp;
      const y = b as Timestamp;
      return sign(x.seconds - y.seconds || x.increment - y.increment);
    }
    case 60: {
      const x = a as Regex;
      const y = b as Regex;
      return sign(compareUtf8(x.pattern, y.pattern) || compareUtf8(x.options, y.options));
    }
    case 65: {
      const x = a as DbPointer;
      const y = b as DbPointer;
      return sign(
        x.namespace.length - y.namespace.length ||
          compareUtf8(x.namespace, y.namespace) ||
          compareBytes(x.id, y.id),
      );
    }
    case 70:
      return sign(compareUtf8((a as Code).code, (b as Code).code));
    case 75: {
      const x = a as Code;
      const y = b as Code;
      return (
        sign(compareUtf8(x.code, y.code)) || compareDocs(x.scope as Doc, y.scope as Doc, order)
      );
    }
    default:
      // Markers, null and missing carry no value; missing and undefined stand together but missing
      // first.
      return Number(b === undefined) - Number(a === undefined);
  }
}

/** Field by field: type, then name, then value; the shorter one first when it is a prefix. */
function compareDocs(a: Doc, b: Doc, order: StringOrder): number {
  const ak = a.keys;
  const bk = b.keys;
  const av = a.values;
  const bv = b.values;
  const n = Math.min(ak.length, bk.length);
  for (let i = 0; i < n; i++) {
    const rank = rankOf(av[i]) - rankOf(bv[i]);
    if (rank !== 0) return sign(rank);
    const name = compareUtf8(ak[i] as string, bk[i] as string);
    if (name !== 0) return sign(name);
    const value = compareValues(av[i], bv[i], order);
    if (value !== 0) return value;
  }
  return sign(ak.length - bk.length);
}

function compareArrays(a: Value[], b: Value[], order: StringOrder): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    const c = compareValues(a[i], b[i], order);
    if (c !== 0) return c;
  }
  return sign(a.length - b.length);
}

export const equalValues = (a: Value, b: Value, order?: StringOrder): boolean =>
  compareValues(a, b, order) === 0;
