import { tableProfile, type Profile, type Relationship } from '../../sqlite/profile/profile';
import type { AccessPattern, Workload } from '../model/workload';

/**
 * A copy is for a few short values that are read with the reference; more would double the parent
 * in every child.
 */
export const MAX_COPIED_COLUMNS = 6;
export const MAX_COPIED_BYTES = 256;

/**
 * The parent's columns to repeat beside a reference, and how many of the queries that join them
 * need no more.
 */
export interface CopyProposal {
  readonly columns: readonly string[];
  readonly served: number;
  readonly joined: number;
}

/**
 * The columns that serve most queries: the most frequent access patterns come first, each with
 * everything that it reads of the parent or not at all, since a query that misses one column has to
 * fetch the parent anyway.
 */
export function proposeCopy(
  relationship: Relationship,
  profile: Profile,
  workload: Workload,
): CopyProposal | undefined {
  const known = proposals.get(workload) ?? new Map<Relationship, CopyProposal | undefined>();
  proposals.set(workload, known);
  if (!known.has(relationship)) known.set(relationship, findCopy(relationship, profile, workload));
  return known.get(relationship);
}

/** No choice changes them: a search asks for each again and again. */
const proposals = new WeakMap<Workload, Map<Relationship, CopyProposal | undefined>>();

function findCopy(
  relationship: Relationship,
  profile: Profile,
  workload: Workload,
): CopyProposal | undefined {
  // Where no row leads to a parent, a copy would hold nothing.
  if (relationship.fanOut.max === 0) return undefined;
  const joining = workload.patterns.filter((pattern) =>
    pattern.relationships.includes(relationship.id),
  );
  const short = shortColumns(relationship, profile);
  const needs = joining
    .map((pattern) => ({
      frequency: pattern.frequency,
      columns: columnsRead(pattern, relationship, profile),
    }))
    .filter(
      ({ columns }) => columns.length > 0 && columns.every((column) => short.includes(column)),
    )
    .sort((a, b) => b.frequency - a.frequency || a.columns.length - b.columns.length);
  const chosen = new Set<string>();
  for (const { columns } of needs) {
    const together = new Set([...chosen, ...columns]);
    if (together.size <= MAX_COPIED_COLUMNS) for (const column of columns) chosen.add(column);
  }
  if (chosen.size === 0) return undefined;
  const served = needs.filter(({ columns }) => columns.every((column) => chosen.has(column)));
  return {
    columns: short.filter((column) => chosen.has(column)),
    served: total(served),
    joined: total(joining),
  };
}

/** Columns short enough to copy, the key aside, in the order of the source. */
export function shortColumns(
  { parentTable, parentColumns }: Relationship,
  profile: Profile,
): string[] {
  const columns = tableProfile(profile, parentTable)?.columns ?? [];
  return columns
    .filter(
      ({ column, maxBytes }) => !parentColumns.includes(column) && maxBytes <= MAX_COPIED_BYTES,
    )
    .map(({ column }) => column);
}

/**
 * What a query of the pattern reads of the parent; the keys by which it goes on from there are part
 * of that.
 */
function columnsRead(
  pattern: AccessPattern,
  { id: own, parentTable, parentColumns }: Relationship,
  profile: Profile,
): string[] {
  const uses = [...pattern.filtered, ...pattern.grouped, ...pattern.sorted, ...pattern.projected]
    .filter(({ table }) => table === parentTable)
    .map(({ column }) => column);
  const onwards = profile.relationships
    .filter(
      ({ id, childTable }) =>
        childTable === parentTable && id !== own && pattern.relationships.includes(id),
    )
    .flatMap(({ childColumns }) => childColumns);
  return [...new Set([...uses, ...onwards])].filter((column) => !parentColumns.includes(column));
}

const total = (list: readonly { readonly frequency: number }[]): number =>
  list.reduce((sum, { frequency }) => sum + frequency, 0);
