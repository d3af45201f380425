import {
  isTotal,
  rowCount,
  type Profile,
  type Relationship,
  tableProfile,
} from '../../sqlite/profile/profile';
import { shortColumns } from './copies';
import { elementFraming, forecastRows, ROW_FRAMING, type PlacedRows } from './forecast';

export interface DesignLimits {
  readonly maxArrayP99: number;
  readonly maxArray: number;
}

/**
 * MongoDB's limit of a document, and the margin by which a forecast must stay below it (DESIGN §5).
 */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
export const DOCUMENT_MARGIN = 2;
/** Arrays in arrays in arrays: deeper nesting is hard to query and to update. */
const MAX_DEPTH = 3;

/**
 * What decides whether a relationship may be embedded. `embedded`: the choice so far, by child
 * table.
 */
export interface ObstacleInput {
  readonly profile: Profile;
  readonly limits: DesignLimits;
}

/**
 * Why embedding would lose data or break a limit; neither the engine nor a directive may pass this.
 */
export function hardObstacle(
  relationship: Relationship,
  input: ObstacleInput,
  embedded: ReadonlyMap<string, Relationship>,
): string | undefined {
  const { childTable, parentTable, fanOut } = relationship;
  if (relationship.selfReference)
    return `${childTable} refers to itself, and a document cannot contain itself`;
  if (!relationship.parentIsKey)
    return (
      `${relationship.parentColumns.join(', ')} of ${parentTable} is not unique, so a child ` +
      'could belong to several parents'
    );
  if (!isTotal(relationship)) return `${unplaceable(relationship)}: embedding would lose them`;
  if (fanOut.max > input.limits.maxArray)
    return (
      `one ${parentTable} has ${fanOut.max} rows of ${childTable}, beyond the limit of ` +
      `${input.limits.maxArray}`
    );
  const taken = embedded.get(childTable);
  if (taken && taken.id !== relationship.id)
    return `${childTable} is embedded in ${taken.parentTable} already`;
  let depth = 1 + heightBelow(childTable, embedded);
  for (
    let at: Relationship | undefined = embedded.get(parentTable);
    at;
    at = embedded.get(at.parentTable)
  ) {
    if (at.parentTable === childTable) return `${parentTable} is itself embedded in ${childTable}`;
    depth++;
  }
  if (depth > MAX_DEPTH) return `it would nest more than ${MAX_DEPTH} levels deep`;
  const bytes = forecastBytes(
    relationship,
    input.profile,
    new Map([...embedded, [childTable, relationship]]),
  );
  if (bytes * DOCUMENT_MARGIN > MAX_DOCUMENT_BYTES)
    return `the largest document would reach about ${Math.round(bytes / 1e6)} MB`;
  return undefined;
}

/** The rows that no parent would hold, in words. */
function unplaceable({ childTable, parentTable, orphans, nullKeys }: Relationship): string {
  const parts = [
    orphans > 0 ? `${orphans} point to no row of ${parentTable}` : '',
    nullKeys > 0 ? `${nullKeys} have no key` : '',
  ].filter((part) => part !== '');
  return `of the rows of ${childTable}, ${parts.join(' and ')}`;
}

/** Levels of tables that are embedded below this one. */
function heightBelow(table: string, embedded: ReadonlyMap<string, Relationship>): number {
  const children = [...embedded.values()].filter(
    (relationship) => relationship.parentTable === table,
  );
  return children.reduce(
    (height, child) => Math.max(height, 1 + heightBelow(child.childTable, embedded)),
    0,
  );
}

/**
 * Why embedding would make a poor document, although it would lose nothing; a directive may pass
 * this (guidebook, section 3).
 */
export function softObstacle(
  relationship: Relationship,
  { profile, limits }: ObstacleInput,
  embedded: ReadonlyMap<string, Relationship>,
): string | undefined {
  const { childTable, parentTable, fanOut } = relationship;
  if (fanOut.p99 > limits.maxArrayP99)
    return (
      `at least 1 % of the ${parentTable} rows have more than ${limits.maxArrayP99} rows of ` +
      `${childTable} (mean ${fanOut.mean.toFixed(1)}, p99 ${fanOut.p99})`
    );
  if (rowCount(profile, childTable) === 0)
    return `${childTable} is empty, so nothing shows how large its arrays would become`;
  return referredTo(childTable, profile, embedded);
}

/** Rows that other rows refer to, which are not embedded in them, are asked for one by one. */
export function referredTo(
  table: string,
  profile: Profile,
  embedded: ReadonlyMap<string, Relationship>,
): string | undefined {
  const referrers = profile.relationships.filter(
    (other) =>
      other.parentTable === table &&
      !other.selfReference &&
      embedded.get(other.childTable)?.id !== other.id,
  );
  const independent = referrers.filter((other) => rowCount(profile, other.childTable) > 0);
  return independent.length > 0
    ? `${table} is referred to by ${independent.map((other) => other.childTable).join(', ')}, ` +
        'which need it as documents of its own'
    : undefined;
}

/** Why the parent's columns cannot be repeated beside a reference. */
export function copyObstacle(
  { parentIsKey, parentTable, parentColumns, ...relationship }: Relationship,
  profile: Profile,
): string | undefined {
  if (!parentIsKey)
    return (
      `${parentColumns.join(', ')} of ${parentTable} is not unique, so that a reference has ` +
      'no one row to copy from'
    );
  if (relationship.fanOut.max === 0)
    return (
      `no row of ${relationship.childTable} leads to one of ${parentTable}, so that there ` +
      'is nothing to copy'
    );
  if (
    shortColumns({ ...relationship, parentIsKey, parentTable, parentColumns }, profile).length === 0
  )
    return `${parentTable} has no column besides its key that is short enough to copy`;
  return undefined;
}

/**
 * Bytes of the largest document of the collection that holds the relationship, all that is embedded
 * in it included.
 */
export function forecastBytes(
  relationship: Relationship,
  profile: Profile,
  embedded: ReadonlyMap<string, Relationship>,
): number {
  let root = relationship.parentTable;
  for (let steps = 0; embedded.has(root) && steps <= MAX_DEPTH; steps++)
    root = embedded.get(root)!.parentTable;
  const rowsOf = (table: string, depth: number): PlacedRows => ({
    table,
    framing: (tableProfile(profile, table)?.columns ?? []).reduce(
      (sum, column) => sum + elementFraming(column.column, column),
      ROW_FRAMING,
    ),
    below:
      depth > MAX_DEPTH
        ? []
        : [...embedded.values()]
            .filter(({ parentTable }) => parentTable === table)
            .map(({ childTable, fanOut }) => ({
              ...rowsOf(childTable, depth + 1),
              longest: fanOut.max,
            })),
  });
  return forecastRows(rowsOf(root, 0), profile).largest;
}
