import { sameName } from '../../sqlite/catalog';
import { columnProfile, type Profile, type Relationship } from '../../sqlite/profile/profile';
import { joinsOn, type BlockColumn, type QueryBlock } from '../../sqlite/select/query-blocks';
import type { ChoiceContext } from '../limits/choices';
import type { Choices } from '../model/document-design';
import type { ComputedChoice } from '../model/document-design';
import type { Workload } from '../model/workload';
import { legalFieldName, NameSet } from '../model/names';

/** An aggregate that fewer queries ask for is cheaper to compute than to keep. */
const MIN_QUERIES = 2;
const STORED = ['count', 'sum', 'avg', 'min', 'max'] as const;
type Stored = (typeof STORED)[number];

/**
 * Computed fields (guidebook, section 4): aggregates over all children of a row, by parent, that at
 * least two queries ask for and that the parent's document does not hold as an array anyway. By
 * relationship id.
 */
export function proposeComputed(
  choices: Choices,
  { profile, workload }: Pick<ChoiceContext, 'profile' | 'workload'>,
): Map<string, readonly ComputedChoice[]> {
  const known = wanted.get(workload) ?? new Map<Relationship, readonly ComputedChoice[]>();
  wanted.set(workload, known);
  const out = new Map<string, readonly ComputedChoice[]>();
  for (const relationship of profile.relationships) {
    const { id, parentIsKey, selfReference } = relationship;
    if (choices.get(id) === 'embed' || !parentIsKey || selfReference) continue;
    const found = known.get(relationship) ?? wantedComputed(relationship, profile, workload);
    known.set(relationship, found);
    if (found.length > 0) out.set(id, found);
  }
  return out;
}

/** What queries ask of a relationship, no choice changes. */
const wanted = new WeakMap<Workload, Map<Relationship, readonly ComputedChoice[]>>();

function wantedComputed(
  relationship: Relationship,
  profile: Profile,
  workload: Workload,
): readonly ComputedChoice[] {
  const asked = new Map<
    string,
    { aggregate: Stored; column: string | undefined; queries: number }
  >();
  for (const { blocks, questionIds } of workload.patterns.flatMap(({ variants }) => variants)) {
    for (const { aggregate, column } of blocks.flatMap((block) =>
      aggregatesByParent(block, relationship),
    )) {
      const key = `${aggregate} ${column ?? ''}`;
      const queries = (asked.get(key)?.queries ?? 0) + questionIds.length;
      asked.set(key, { aggregate, column, queries });
    }
  }
  const names = new NameSet();
  return [...asked.values()]
    .filter(
      ({ aggregate, column, queries }) =>
        queries >= MIN_QUERIES &&
        (aggregate === 'count' || isNumeric(profile, relationship.childTable, column)),
    )
    .map(({ aggregate, column, queries }) => ({
      field: names.take(fieldName(relationship, aggregate, column)),
      aggregate,
      ...(column === undefined ? {} : { column }),
      queries,
    }));
}

/** Text adds up by rules of SQLite's own, and orders by a collation: only numbers are kept. */
function isNumeric(profile: Profile, table: string, column: string | undefined): boolean {
  const stored = column === undefined ? undefined : columnProfile(profile, table, column)?.stored;
  return stored !== undefined && stored.text + stored.blob === 0;
}

const fieldName = (
  { childTable }: Relationship,
  aggregate: Stored,
  column: string | undefined,
): string =>
  legalFieldName(
    column === undefined ? `${childTable}_count` : `${childTable}_${aggregate}_${column}`,
  );

/**
 * The aggregates of a block that a field of the parent could hold: all over the children of one
 * relationship, unfiltered, grouped by the parent's key.
 */
export function aggregatesByParent(
  block: QueryBlock,
  { childTable, childColumns, parentTable, parentColumns }: Relationship,
): { aggregate: Stored; column: string | undefined }[] {
  if (block.sources.length !== 2 || block.aggregates.length === 0) return [];
  const child = block.sources.findIndex(({ table }) => table === childTable);
  const parent = block.sources.findIndex(({ table }) => table === parentTable);
  if (child < 0 || parent < 0) return [];
  const source = block.sources[child]!;
  if (source.equality.length + source.range.length + source.other.length > 0) return [];
  const is = (side: BlockColumn, at: number, column: string): boolean =>
    side.source === at && sameName(side.column, column);
  const joined = joinsOn(
    block,
    { source: child, columns: childColumns },
    { source: parent, columns: parentColumns },
  );
  const byKey = parentColumns.every((column, index) =>
    block.grouped.some((key) => is(key, parent, column) || is(key, child, childColumns[index]!)),
  );
  if (!joined || !byKey) return [];
  const found = block.aggregates.map(({ name, distinct, of, star }) => {
    const aggregate = STORED.find((known) => known === name);
    if (!aggregate || distinct || !(star ? aggregate === 'count' : of?.source === child))
      return undefined;
    return { aggregate, column: star ? undefined : of?.column };
  });
  // One aggregate that the parent cannot hold makes the query read the children after all.
  if (found.some((entry) => entry === undefined)) return [];
  const columns = found.map((entry) => entry?.column);
  if (
    source.read.some(
      (column) => !columns.includes(column) && !childColumns.some((key) => sameName(key, column)),
    )
  )
    return [];
  return found.filter((entry) => entry !== undefined);
}
