import { createHash } from 'node:crypto';
import { canonicalText } from './extended-json';

/**
 * Hash of an artefact's content: hex SHA-256 over a version prefix and canonical Extended JSON with
 * key order kept (`{a: 1, b: -1}` is another sort than `{b: -1, a: 1}`). Keys whose value is
 * undefined do not count, and neither does a document `timing` at the top: how long something took
 * differs from run to run.
 */
export function contentHash(content: unknown): string {
  return sha256(`aptmql:1\n${canonicalText(withoutTiming(content))}`);
}

function withoutTiming(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || !('timing' in content)) return content;
  const { timing, ...rest } = content;
  return typeof timing === 'object' && timing !== null && !Array.isArray(timing) ? rest : content;
}

export const sha256 = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex');
