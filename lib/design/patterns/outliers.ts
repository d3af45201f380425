import { sameName } from '../../sqlite/catalog';
import {
  columnProfile,
  type Profile,
  type Relationship,
  tableProfile,
} from '../../sqlite/profile/profile';
import { joinsOn, type QueryBlock } from '../../sqlite/select/query-blocks';
import { bucketsBy } from '../limits/buckets';
import { embeddedBy } from '../limits/choices';
import { type Choices } from '../model/document-design';
import { MAX_COPIED_BYTES, MAX_COPIED_COLUMNS } from '../limits/copies';
import type { OutlierChoice } from '../model/document-design';
import { legalFieldName } from '../model/names';
import type { DesignLimits } from '../limits/obstacles';
import type { Workload } from '../model/workload';

/**
 * What is asked once, be it in the two wordings that Spider has for a query, does not pay for
 * copies in every parent.
 */
const MIN_QUERIES = 3;

/**
 * Nearly all parents have few children, and some have too many to be embedded: the data calls for
 * the pattern (guidebook, section 4.8).
 */
export const hasOutliers = (
  { parentIsKey, selfReference, fanOut }: Relationship,
  limits: DesignLimits,
): boolean =>
  parentIsKey && !selfReference && fanOut.max > limits.maxArray && fanOut.p99 <= limits.maxArrayP99;

/**
 * Why an array and a flag together would not find the children of every parent; whatever the
 * workload asks.
 */
export function outlierObstacle(
  { childTable, childColumns, parentTable, nullKeys, sameStorage }: Relationship,
  choices: Choices,
  profile: Profile,
): string | undefined {
  if (childColumns.length > 1)
    return `the key has ${childColumns.length} columns, and a flag holds one`;
  if (nullKeys > 0)
    return (
      `${nullKeys} rows of ${childTable} have no key, and a parent without a flag would ` +
      'find them'
    );
  if (!sameStorage)
    return (
      `${childColumns[0]!} is stored otherwise than its parent’s key, so a flag would not ` +
      'find the children'
    );
  const [embedded, buckets] = [embeddedBy(choices, profile), bucketsBy(choices, profile)];
  for (const table of [childTable, parentTable]) {
    if (embedded.has(table)) return `${table} is embedded in ${embedded.get(table)!.parentTable}`;
    if (buckets.has(table)) return `${table} lies in buckets`;
  }
  return undefined;
}

/**
 * The columns that most of the queries need which join the two tables by the relationship, and what
 * the array is called; or why it is not worth keeping. `looksUp`: whether a block has to fetch
 * anything from another collection as it is.
 */
export function proposeOutlier(
  relationship: Relationship,
  limits: DesignLimits,
  profile: Profile,
  workload: Workload,
  looksUp: (block: QueryBlock) => boolean,
): OutlierChoice | string {
  const { childTable, parentTable } = relationship;
  const joining = workload.patterns
    .flatMap(({ variants }) => variants)
    .flatMap(({ blocks, questionIds }) => {
      const columns = blocks.filter(looksUp).flatMap((block) => blockReads(block, relationship));
      return columns.length > 0
        ? [{ columns: [...new Set(columns.flat())], queries: questionIds.length }]
        : [];
    });
  const isShort = (column: string): boolean =>
    (columnProfile(profile, childTable, column)?.maxBytes ?? Infinity) <= MAX_COPIED_BYTES;
  const needs = joining
    .filter(({ columns }) => columns.every(isShort))
    .sort((a, b) => b.queries - a.queries || a.columns.length - b.columns.length);
  const chosen = new Set<string>();
  for (const { columns } of needs) {
    const together = new Set([...chosen, ...columns]);
    if (together.size <= MAX_COPIED_COLUMNS) for (const column of columns) chosen.add(column);
  }
  const queries = needs
    .filter(({ columns }) => columns.every((column) => chosen.has(column)))
    .reduce((sum, { queries: times }) => sum + times, 0);
  if (queries < MIN_QUERIES || chosen.size === 0)
    return (
      `fewer than ${MIN_QUERIES} queries look up the rows of ${childTable} for those of ` +
      `${parentTable} and read only a few short columns of them`
    );
  const columns = tableProfile(profile, childTable)!
    .columns.map(({ column }) => column)
    .filter((column) => chosen.has(column));
  return {
    field: legalFieldName(childTable),
    flag: legalFieldName(`${childTable}_elsewhere`),
    limit: limits.maxArrayP99,
    columns,
    queries,
  };
}

/**
 * What a block reads of the children, once for every pair of sources that it joins by the
 * relationship.
 */
function blockReads(block: QueryBlock, relationship: Relationship): string[][] {
  const pairs = block.sources.flatMap((_, child) =>
    block.sources.map((__, parent) => [child, parent] as const),
  );
  return pairs.flatMap(([child, parent]) => {
    const columns = childReads(block, relationship, child, parent);
    return columns ? [columns] : [];
  });
}

/**
 * What a block reads of the children of a relationship, its join aside; undefined where these two
 * of its sources are not joined by it.
 */
export function childReads(
  block: QueryBlock,
  { childTable, childColumns, parentTable, parentColumns }: Relationship,
  child: number,
  parent: number,
): string[] | undefined {
  const [own, other] = [block.sources[child], block.sources[parent]];
  // Subqueries are translated for themselves, and do not look into the parents' arrays.
  if (
    !own ||
    !other ||
    own.nested ||
    other.nested ||
    child === parent ||
    own.table !== childTable ||
    other.table !== parentTable
  )
    return undefined;
  if (
    !joinsOn(
      block,
      { source: child, columns: childColumns },
      { source: parent, columns: parentColumns },
    )
  )
    return undefined;
  const joined = block.joins.flatMap(({ left, right }) => {
    const [mine, theirs] = left.source === child ? [left, right] : [right, left];
    const isOwn =
      theirs.source === parent &&
      childColumns.some(
        (column, index) =>
          sameName(column, mine.column) && sameName(parentColumns[index]!, theirs.column),
      );
    return mine.source === child && !isOwn ? [mine.column] : [];
  });
  return [...new Set([...own.read, ...own.equality, ...own.range, ...own.other, ...joined])];
}
