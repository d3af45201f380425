import { Binary, BSON, Double, Int32, Long } from 'mongodb';

/**
 * Canonical Extended JSON: integers beyond 2^53, dates, decimals and bytes survive the round trip.
 */
export function canonicalText(content: unknown): string {
  return BSON.EJSON.stringify(withBsonTypes(content), { relaxed: false });
}

/**
 * The content as it was before `canonicalText`, so that the content hash of what is read is the one
 * of what was written, and a pipeline that is read does what it did: a JavaScript number is what
 * the driver makes of it (an int where it is integral and has 32 bits, else a double), a bigint is
 * a long. A double with an integral value of 32 bits keeps its BSON type.
 */
export function parseCanonical<T>(text: string): T {
  return plainNumbers(BSON.EJSON.parse(text, { relaxed: false })) as T;
}

/**
 * For the wire and for files that people read: relaxed Extended JSON, key order kept, with a
 * wrapper only where a plain number would lose something: longs beyond 32 bits, and doubles with an
 * integral value.
 */
export const relaxedJson = (content: unknown): unknown => {
  const named = largeIntegersNamed(content);
  return BSON.EJSON.serialize({ content: named } as object, { relaxed: true }).content;
};

/** The inverse of `relaxedJson`. */
export const parseRelaxed = (content: unknown): unknown =>
  parseCanonical(JSON.stringify(doublesNamed(content)));

/** EJSON reads a plain number beyond 32 bits as a long; here it was a double. */
function doublesNamed(value: unknown): unknown {
  if (typeof value === 'number' && isLargeInteger(value)) return { $numberDouble: String(value) };
  if (Array.isArray(value)) return value.map(doublesNamed);
  return isPlainObject(value) ? mapped(value, doublesNamed) : value;
}

function largeIntegersNamed(value: unknown): unknown {
  if (typeof value === 'bigint') {
    return isInt32(value) ? Number(value) : { $numberLong: value.toString() };
  }
  if (value instanceof Double) {
    return Number.isInteger(value.value) ? { $numberDouble: doubleText(value.value) } : value;
  }
  if (value instanceof Uint8Array) return new Binary(value);
  if (Array.isArray(value)) return value.map(largeIntegersNamed);
  if (!isPlainObject(value)) return value;
  return mapped(value, largeIntegersNamed);
}

const doubleText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));

/**
 * EJSON writes an array of bytes as an object with a key for each byte, and a JavaScript number
 * beyond 32 bits as a long, which it is not for the driver.
 */
function withBsonTypes(value: unknown): unknown {
  if (typeof value === 'number') return isLargeInteger(value) ? new Double(value) : value;
  if (value instanceof Uint8Array) return new Binary(value);
  if (Array.isArray(value)) {
    const items = value.map(withBsonTypes);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isPlainObject(value)) return value;
  const typed = mapped(value, withBsonTypes);
  return Object.keys(value).some((key) => typed[key] !== value[key]) ? typed : value;
}

const isLargeInteger = (value: number): boolean => Number.isInteger(value) && (value | 0) !== value;

/** Extended JSON's numbers as in `parseCanonical`; changes documents in place. */
export function plainNumbers(value: unknown): unknown {
  if (value instanceof Int32) return value.value;
  if (value instanceof Double) return keepsItsType(value.value) ? value : value.value;
  if (value instanceof Long) return value.toBigInt();
  if (Array.isArray(value)) return value.map(plainNumbers);
  if (!isPlainObject(value)) return value;
  for (const [key, inner] of Object.entries(value)) {
    const plain = plainNumbers(inner);
    if (plain !== inner) define(value, key, plain);
  }
  return value;
}

const keepsItsType = (double: number): boolean => (double | 0) === double && !Object.is(double, -0);

const isInt32 = (value: bigint): boolean => BigInt.asIntN(32, value) === value;

/** No instance of a class, such as a BSON type or a date. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function mapped(
  value: Record<string, unknown>,
  change: (inner: unknown) => unknown,
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) define(out, key, change(inner));
  return out;
}

/** Sets an own property even where the name is `__proto__`. */
const define = (target: object, key: string, value: unknown): void => {
  Object.defineProperty(target, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
};
