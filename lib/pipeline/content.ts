import { canonicalText, parseCanonical } from '../results/extended-json';

/** Content as stored: canonical Extended JSON in UTF-8. */
export const encodeContent = (content: unknown): Buffer => Buffer.from(canonicalText(content));

export const decodeContent = <T>(bytes: Uint8Array): T =>
  parseCanonical<T>(Buffer.from(bytes).toString('utf8'));
