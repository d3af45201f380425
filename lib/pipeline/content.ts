import { Double, EJSON, Int32, Long } from 'bson';
import { canonicalText } from '../results/hash';

/** Content as stored: canonical Extended JSON in UTF-8. */
export const encodeContent = (content: unknown): Buffer => Buffer.from(canonicalText(content));

/**
 * Stored content as a stage wrote it: numbers are JavaScript numbers again, so that what is read back from Postgres
 * equals what the command line keeps in memory. Only what JavaScript would write in another way keeps its BSON type
 * (a double with an integral value) or is a bigint (a small long, anything beyond 2^53), so that the content hash of
 * what is read is the one that was stored.
 */
export const decodeContent = <T>(bytes: Uint8Array): T => plainNumbers(EJSON.parse(Buffer.from(bytes).toString('utf8'), { relaxed: false })) as T;

/** For the wire: relaxed Extended JSON, key order kept, integers beyond 2^53 as `{"$numberLong": "…"}`. */
export const toWire = (content: unknown): unknown => EJSON.serialize({ content: largeIntegersNamed(content) } as object, { relaxed: true }).content;

export const fromWire = (content: unknown): unknown => plainNumbers(EJSON.parse(JSON.stringify(content), { relaxed: true, useBigInt64: true }));

function largeIntegersNamed(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : { $numberLong: value.toString() };
  if (Array.isArray(value)) return value.map(largeIntegersNamed);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, largeIntegersNamed(inner)]));
}

function plainNumbers(value: unknown): unknown {
  if (value instanceof Int32) return value.value;
  if (value instanceof Double) return Number.isInteger(value.value) && !Object.is(value.value, -0) ? value : value.value;
  if (value instanceof Long) return plainNumbers(value.toBigInt());
  if (typeof value === 'bigint') return !isInt32(value) && Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(plainNumbers);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  for (const [key, inner] of Object.entries(value)) {
    const plain = plainNumbers(inner);
    if (plain !== inner) Object.defineProperty(value, key, { value: plain, enumerable: true, configurable: true, writable: true });
  }
  return value;
}

const isInt32 = (value: bigint): boolean => BigInt.asIntN(32, value) === value;
