import { createHash } from 'node:crypto';
import { BSON, Double, Int32, Long } from 'mongodb';

/**
 * Hash of an artefact's content: hex SHA-256 over a version prefix and canonical Extended JSON with key order kept
 * (`{a: 1, b: -1}` is another sort than `{b: -1, a: 1}`). Keys whose value is undefined do not count, and neither does a
 * document `timing` at the top: how long something took differs from run to run.
 */
export function contentHash(content: unknown): string {
  return sha256(`aptmql:1\n${canonicalText(withoutTiming(content))}`);
}

function withoutTiming(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || !('timing' in content)) return content;
  const { timing, ...rest } = content;
  return typeof timing === 'object' && timing !== null && !Array.isArray(timing) ? rest : content;
}

/** Canonical Extended JSON: integers beyond 2^53, dates, decimals and binaries survive the round trip. */
export function canonicalText(content: unknown): string {
  return BSON.EJSON.stringify(content, { relaxed: false });
}

/**
 * The content as it was before `canonicalText`: numbers are JavaScript numbers. Only what JavaScript would write in
 * another way keeps its BSON type (a double with an integral value) or is a bigint (a small long, anything beyond
 * 2^53), so that the content hash of what is read is the one of what was written.
 */
export function parseCanonical<T>(text: string): T {
  return plainNumbers(BSON.EJSON.parse(text, { relaxed: false })) as T;
}

/** Extended JSON's numbers as in `parseCanonical`; changes documents in place. */
export function plainNumbers(value: unknown): unknown {
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

export const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
