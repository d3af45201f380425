import { sameName } from '../../sqlite/catalog';
import { columnProfile, type Profile, type Relationship } from '../../sqlite/profile/profile';
import { joinsOn, type BlockOrder, type QueryBlock } from '../../sqlite/select/query-blocks';
import type { ChoiceContext } from '../limits/choices';
import type { Choices } from '../model/document-design';
import { MAX_COPIED_BYTES, MAX_COPIED_COLUMNS } from '../limits/copies';
import type { SortColumn, SubsetChoice } from '../model/document-design';
import type { Workload } from '../model/workload';
import { legalFieldName } from '../model/names';

/**
 * Entries that a subset may have: enough for a page of results, few enough not to weigh on every
 * other query.
 */
export const MAX_SUBSET = 10;
/**
 * What is asked once, be it in the two wordings that Spider has for a query, does not pay for
 * copies in every parent.
 */
const MIN_QUERIES = 3;

/**
 * The first rows of a child table by some order, which a query asks for together with their parent.
 */
export interface TopRows {
  readonly orderBy: readonly SortColumn[];
  readonly limit: number;
  /** Columns of the child that the query reads, those of the join aside. */
  readonly columns: readonly string[];
}

/**
 * Subsets (guidebook, section 4.3): the first rows of a child table that at least three queries ask
 * for with a parent, by the same order, where a parent can have more of them than that and does not
 * hold all of them anyway. By relationship id.
 */
export function proposeSubsets(
  choices: Choices,
  { profile, workload }: Pick<ChoiceContext, 'profile' | 'workload'>,
): Map<string, SubsetChoice> {
  const known = wanted.get(workload) ?? new Map<Relationship, SubsetChoice | undefined>();
  wanted.set(workload, known);
  const out = new Map<string, SubsetChoice>();
  for (const relationship of profile.relationships) {
    const { id, parentIsKey, sameStorage, selfReference } = relationship;
    if (choices.get(id) === 'embed' || !parentIsKey || !sameStorage || selfReference) continue;
    if (!known.has(relationship))
      known.set(relationship, wantedSubset(relationship, profile, workload));
    const best = known.get(relationship);
    if (best) out.set(id, best);
  }
  return out;
}

/** What queries ask of a relationship, no choice changes. */
const wanted = new WeakMap<Workload, Map<Relationship, SubsetChoice | undefined>>();

function wantedSubset(
  relationship: Relationship,
  profile: Profile,
  workload: Workload,
): SubsetChoice | undefined {
  const byOrder = new Map<
    string,
    {
      readonly orderBy: readonly SortColumn[];
      readonly asked: { readonly rows: TopRows; readonly queries: number }[];
    }
  >();
  for (const { blocks, questionIds } of workload.patterns.flatMap(({ variants }) => variants)) {
    const [block, ...more] = blocks;
    const rows = block && more.length === 0 ? topRows(block, relationship) : undefined;
    if (!rows || !isCopied(rows.columns, relationship, profile)) continue;
    const key = JSON.stringify(rows.orderBy);
    const known = byOrder.get(key) ?? { orderBy: rows.orderBy, asked: [] };
    known.asked.push({ rows, queries: questionIds.length });
    byOrder.set(key, known);
  }
  const proposals = [...byOrder.values()].map(({ orderBy, asked }): SubsetChoice => {
    const columns = [
      ...new Set([
        ...orderBy.map(({ column }) => column),
        ...asked.flatMap(({ rows }) => rows.columns),
      ]),
    ];
    return {
      field: fieldName(relationship, orderBy),
      limit: Math.max(...asked.map(({ rows }) => rows.limit)),
      orderBy,
      columns,
      queries: asked.reduce((sum, { queries }) => sum + queries, 0),
    };
  });
  return proposals
    .filter(
      ({ limit, columns, queries = 0 }) =>
        queries >= MIN_QUERIES &&
        relationship.fanOut.max > limit &&
        columns.length <= MAX_COPIED_COLUMNS,
    )
    .sort((a, b) => b.queries! - a.queries! || (a.field < b.field ? -1 : 1))[0];
}

/**
 * What a block reads of a child table if it asks for nothing but its first rows, by an order of the
 * child's own, over some parents.
 */
export function topRows(
  block: QueryBlock,
  { childTable, childColumns, parentTable, parentColumns }: Relationship,
): TopRows | undefined {
  const { sources, limit, top } = block;
  if (
    sources.length !== 2 ||
    limit === null ||
    limit < 1 ||
    limit > MAX_SUBSET ||
    !top ||
    block.aggregates.length + block.grouped.length > 0
  )
    return undefined;
  const child = sources.findIndex(({ table }) => table === childTable);
  const parent = sources.findIndex(({ table }) => table === parentTable);
  if (child < 0 || parent < 0 || child === parent || block.joins.length !== childColumns.length)
    return undefined;
  if (
    !joinsOn(
      block,
      { source: child, columns: childColumns },
      { source: parent, columns: parentColumns },
    )
  )
    return undefined;
  const { equality, range, other, read } = sources[child]!;
  // Rows that a filter leaves out would have taken the places of those that it lets through.
  if (
    equality.length + range.length + other.length > 0 ||
    top.some(({ source }) => source !== child)
  )
    return undefined;
  return {
    orderBy: top.map(({ column, direction }: BlockOrder) => ({ column, direction })),
    limit,
    columns: read.filter((column) => !childColumns.some((key) => sameName(key, column))),
  };
}

/** Does a subset in this order answer a query for the first rows in that one? */
export const leadsWith = (subset: readonly SortColumn[], wanted: readonly SortColumn[]): boolean =>
  wanted.length <= subset.length &&
  wanted.every(
    ({ column, direction }, index) =>
      sameName(column, subset[index]!.column) && direction === subset[index]!.direction,
  );

const isCopied = (
  columns: readonly string[],
  { childTable }: Relationship,
  profile: Profile,
): boolean =>
  columns.every(
    (column) =>
      (columnProfile(profile, childTable, column)?.maxBytes ?? Infinity) <= MAX_COPIED_BYTES,
  );

const fieldName = ({ childTable }: Relationship, [first]: readonly SortColumn[]): string =>
  legalFieldName(`${childTable}_by_${first!.column}`);
