import { createHash } from 'node:crypto';
import { EJSON } from 'bson';

/**
 * Hash of an artefact's content: hex SHA-256 over a version prefix and canonical Extended JSON with key order kept
 * (`{a: 1, b: -1}` is another sort than `{b: -1, a: 1}`). Keys whose value is undefined do not count.
 */
export function contentHash(content: unknown): string {
  return sha256(`aptmql:1\n${canonicalText(content)}`);
}

/** Canonical Extended JSON: integers beyond 2^53, dates, decimals and binaries survive the round trip. */
export function canonicalText(content: unknown): string {
  return EJSON.stringify(content, { relaxed: false });
}

export function parseCanonical<T>(text: string): T {
  return EJSON.parse(text, { relaxed: false }) as T;
}

export const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
