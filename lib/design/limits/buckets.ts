import {
  columnProfile,
  rowCount,
  type Profile,
  type Relationship,
  tableProfile,
} from '../../sqlite/profile/profile';
import type { Choices } from '../model/document-design';
import { DOCUMENT_MARGIN, MAX_DOCUMENT_BYTES, referredTo, type DesignLimits } from './obstacles';
import type { Workload } from '../model/workload';

/** Fewer rows of a parent on average are no series worth a document of their own. */
const MIN_ROWS = 10;

/** What is asked less often does not pay for keeping rows in another shape than they came in. */
const MIN_QUERIES = 3;

/**
 * The relationships by whose keys rows are kept in buckets, by child table: a table has one place.
 */
export const bucketsBy = (choices: Choices, profile: Profile): Map<string, Relationship> =>
  new Map(
    profile.relationships
      .filter(({ id }) => choices.get(id) === 'bucket')
      .map((relationship) => [relationship.childTable, relationship]),
  );

/**
 * Why rows that would be embedded cannot be, because buckets hold them, or would hold what they lie
 * in.
 */
export function embedIntoBuckets(
  { childTable, parentTable }: Relationship,
  choices: Choices,
  profile: Profile,
): string | undefined {
  const buckets = bucketsBy(choices, profile);
  if (buckets.has(childTable)) return `${childTable} lies in buckets, and a table has one place`;
  return buckets.has(parentTable)
    ? `${parentTable} lies in buckets, and arrays in arrays are hard to query`
    : undefined;
}

/**
 * Rows that a bucket may hold: a full array as often as not, so what 99 % of arrays keep to, and
 * never near 16 MB.
 */
export function bucketSize(
  { childTable }: Relationship,
  profile: Profile,
  limits: DesignLimits,
): number {
  const widest = tableProfile(profile, childTable)?.maxRowBytes ?? 0;
  return Math.min(
    limits.maxArrayP99,
    limits.maxArray,
    Math.floor(MAX_DOCUMENT_BYTES / DOCUMENT_MARGIN / (widest + ENTRY_BYTES)),
  );
}

/** Framing of an entry: names and types of its fields, generously. */
const ENTRY_BYTES = 1024;

/**
 * What speaks against buckets, although they would lose nothing; a directive may pass this
 * (guidebook, section 4.7).
 */
export function bucketAdvice(
  relationship: Relationship,
  { profile, workload }: { readonly profile: Profile; readonly workload: Workload },
): string | undefined {
  const { childTable, childColumns } = relationship;
  const referrers = referredTo(childTable, profile, new Map());
  if (referrers) return referrers;
  const rows = rowCount(profile, childTable);
  const groups = Math.max(
    1,
    ...childColumns.map((column) => columnProfile(profile, childTable, column)?.distinct ?? 1),
  );
  if (rows / groups < MIN_ROWS)
    return (
      `${(rows / groups).toFixed(1)} rows of ${childTable} on average share a key, which ` +
      'makes no series'
    );
  const queries = workload.assumed ? 0 : queriesByKey(relationship, workload);
  if (queries >= MIN_QUERIES) return undefined;
  const finders = ['no query finds', 'one query finds', 'two queries find'][queries];
  return `${finders} rows of ${childTable} by ${childColumns.join(', ')}`;
}

/**
 * Queries that find rows by what buckets would keep them by: of a parent, or with a value that they
 * name.
 */
const queriesByKey = (
  { id, childTable, childColumns }: Relationship,
  { patterns }: Workload,
): number =>
  patterns
    .filter(
      ({ relationships, filtered, grouped }) =>
        relationships.includes(id) ||
        childColumns.every((column) =>
          [...filtered, ...grouped].some(
            (use) => use.table === childTable && use.column === column,
          ),
        ),
    )
    .reduce((sum, { frequency }) => sum + frequency, 0);

/**
 * Why the rows cannot be kept in buckets by this key; neither the engine nor a directive may pass
 * this.
 */
export function bucketObstacle(
  relationship: Relationship,
  { profile, limits }: { readonly profile: Profile; readonly limits: DesignLimits },
  choices: Choices,
): string | undefined {
  const { childTable, childColumns } = relationship;
  const keyProblem = keyObstacle(childTable, childColumns, profile);
  if (keyProblem) return keyProblem;
  if ((tableProfile(profile, childTable)?.columns.length ?? 0) <= childColumns.length)
    return (
      `${childTable} has no column besides ${childColumns.join(', ')}, so that entries ` +
      'would be empty'
    );
  if (bucketSize(relationship, profile, limits) < 2)
    return `rows of ${childTable} are too wide for two of them to share a document`;
  const inside = profile.relationships.find(
    ({ id, parentTable }) => parentTable === childTable && choices.get(id) === 'embed',
  );
  return inside
    ? `${inside.childTable} is embedded in ${childTable}, and would lie in arrays in arrays`
    : undefined;
}

/**
 * Why rows cannot be told apart by these columns as their buckets are: values that are none, or
 * that SQLite takes for equal.
 */
export function keyObstacle(
  table: string,
  columns: readonly string[],
  profile: Profile,
): string | undefined {
  for (const column of columns) {
    const found = columnProfile(profile, table, column);
    if (!found) return `${table} has no column ${column}`;
    const { null: nulls, integer, real, text, blob } = found.stored;
    if (nulls > 0)
      return (
        `${nulls === 1 ? `1 row of ${table} has` : `${nulls} rows of ${table} have`} no ` +
        `${column} to be kept by`
      );
    if (real + blob > 0 || (integer > 0 && text > 0))
      return `${column} of ${table} does not hold integers alone, nor texts alone`;
    if (found.invalidUtf8 > 0) return `${column} of ${table} holds bytes that are no text`;
  }
  return undefined;
}
