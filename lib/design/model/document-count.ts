import { columnProfile, rowCount, type Profile } from '../../sqlite/profile/profile';
import type { LogicalDesign } from './document-design';

/**
 * Documents of a collection, as far as the profile knows: its rows, or the buckets that they make.
 */
export const documentCount = (
  { rootTable, id }: Pick<LogicalDesign, 'rootTable' | 'id'>,
  profile: Profile,
): number =>
  id.kind === 'bucket'
    ? bucketCount(rootTable, id.columns, id.size, profile)
    : rowCount(profile, rootTable);

/**
 * Buckets that rows make, from what the profile knows of their keys: of each key the last bucket is
 * half full.
 */
export function bucketCount(
  table: string,
  columns: readonly string[],
  size: number,
  profile: Profile,
): number {
  const rows = rowCount(profile, table);
  const distinct = columns.map((column) => columnProfile(profile, table, column)?.distinct ?? 1);
  const groups = Math.min(
    rows,
    distinct.reduce((product, count) => product * Math.max(1, count), 1),
  );
  return Math.min(rows, Math.max(groups, Math.round(rows / size + groups / 2)));
}
