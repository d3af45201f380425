import { BSON } from 'mongodb';
import { canonicalText, parseCanonical, plainNumbers } from '../results/hash';

/** Content as stored: canonical Extended JSON in UTF-8. */
export const encodeContent = (content: unknown): Buffer => Buffer.from(canonicalText(content));

export const decodeContent = <T>(bytes: Uint8Array): T => parseCanonical<T>(Buffer.from(bytes).toString('utf8'));

/** For the wire: relaxed Extended JSON, key order kept, integers beyond 2^53 as `{"$numberLong": "…"}`. */
export const toWire = (content: unknown): unknown => BSON.EJSON.serialize({ content: largeIntegersNamed(content) } as object, { relaxed: true }).content;

export const fromWire = (content: unknown): unknown => plainNumbers(BSON.EJSON.parse(JSON.stringify(content), { relaxed: true, useBigInt64: true }));

function largeIntegersNamed(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : { $numberLong: value.toString() };
  if (Array.isArray(value)) return value.map(largeIntegersNamed);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, largeIntegersNamed(inner)]));
}
