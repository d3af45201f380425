import { createHash } from 'node:crypto';
import { valueKey } from './equality';
import type { ResultSet } from './value';

/**
 * A digest over rows that does not depend on their order, unless order counts: only a fast path,
 * never a proof.
 */
export function resultDigest(result: ResultSet, ordered: boolean): string {
  const keys = result.rows.map((row) =>
    row
      .map(valueKey)
      .map((key) => `${key.length}:${key}`)
      .join(''),
  );
  const hash = createHash('sha256').update(`${result.columns.length}\n`);
  // Row by row: one text of all of them would take as much memory again.
  (ordered ? keys : keys.sort()).forEach((key, at) => hash.update(at > 0 ? `\n${key}` : key));
  return hash.digest('hex');
}
