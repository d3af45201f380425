import { BSON, type Document } from 'mongodb';
import { sha256 } from '../../results/hash';

/** More documents than this are not told apart one by one. */
export const MOST_DIGESTED = 20_000;

/**
 * Equal for results of the same documents, BSON types included; in the same order where the order
 * counts.
 */
export function documentsDigest(documents: readonly Document[], ordered: boolean): string {
  const rows = documents.map((document) => BSON.EJSON.stringify(document, { relaxed: false }));
  return sha256((ordered ? rows : rows.sort()).join('\n'));
}
