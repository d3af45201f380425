import { Binary, Decimal128, Double, Int32, Long, ObjectId } from 'mongodb';

/**
 * A canonical value: what a cell of a result set is, wherever it came from.
 *
 * Integers of any width (SQLite INTEGER, BSON int and long) are `bigint`; floating-point numbers
 * (REAL, double) are `number`, also where they are integral, because only they are compared with a
 * tolerance. A missing field is `null`; text never equals a number. Documents keep their key order.
 */
export type Value =
  null | boolean | bigint | number | string | Date | Uint8Array | Value[] | ValueDocument;
export interface ValueDocument {
  readonly [key: string]: Value;
}

/** What better-sqlite3 returns with `safeIntegers`. */
export type SqliteValue = null | bigint | number | string | Uint8Array;

/** Named columns and their rows, in the order in which the engine returned them. */
export interface ResultSet {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

export const isValueDocument = (value: Value): value is ValueDocument =>
  value !== null &&
  typeof value === 'object' &&
  !Array.isArray(value) &&
  !(value instanceof Date) &&
  !(value instanceof Uint8Array);

/**
 * A BSON value in canonical form. A JavaScript number has lost its BSON type: integral ones count
 * as integers, so read with `promoteValues: false` where integers and doubles must be
 * distinguished.
 */
export function fromBson(value: unknown): Value {
  if (value === null || value === undefined) return null;
  switch (typeof value) {
    case 'boolean':
    case 'string':
    case 'bigint':
      return value;
    case 'number':
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value;
    case 'object':
      break;
    default:
      throw new TypeError(`no canonical form for a ${typeof value}`);
  }
  if (value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(fromBson);
  if (value instanceof Int32) return BigInt(value.value);
  if (value instanceof Long) return value.toBigInt();
  if (value instanceof Double) return value.value;
  if (value instanceof Binary) return new Uint8Array(value.value());
  if (value instanceof Uint8Array) return value;
  if (value instanceof ObjectId) return value.toHexString();
  if (value instanceof Decimal128) return fromDecimal(value.toString());
  const out: Record<string, Value> = {};
  for (const [key, inner] of Object.entries(value)) defineKey(out, key, fromBson(inner));
  return out;
}

// Decimals compare numerically with the other numbers: as integers when they are integral, else as
// doubles.
function fromDecimal(text: string): Value {
  if (/^-?\d+$/.test(text)) return BigInt(text);
  return Number(text);
}

const INT32 = { min: -(2n ** 31n), max: 2n ** 31n - 1n };
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/**
 * The inverse of `fromBson`, as a BSON value with an explicit type, so that Extended JSON keeps it:
 * INTEGER → int, long where it does not fit (decimal beyond 64 bits), REAL → double, BLOB → binary.
 */
export function toBsonValue(value: Value): unknown {
  if (typeof value === 'bigint') return integerToBson(value);
  if (typeof value === 'number') return new Double(value);
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  if (value instanceof Uint8Array) return new Binary(value);
  if (Array.isArray(value)) return value.map(toBsonValue);
  const out: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) defineKey(out, key, toBsonValue(inner));
  return out;
}

function integerToBson(value: bigint): Int32 | Long | Decimal128 {
  if (value >= INT32.min && value <= INT32.max) return new Int32(Number(value));
  const fitsLong = value >= INT64.min && value <= INT64.max;
  return fitsLong ? Long.fromBigInt(value) : Decimal128.fromString(value.toString());
}

/** Sets an own property even where the name is `__proto__`. */
export function defineKey(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else target[key] = value;
}
