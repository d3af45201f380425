import { columnProfile } from '../../sqlite/profile/profile';
import { columnFields } from '../../design/column-fields';
import type { MqlDocument } from '../mql/mql';
import { overlaps, pathsReadByAll, stageName } from '../mql/pipeline-paths';
import { replaceStages, type Rule, type RuleContext } from './rule';
import { simpleJoin, type SimpleJoin } from './lookup-key';
import { REASONS } from './reasons';

/**
 * A join whose fields nobody reads only filters: to a parent that every key has, it keeps each row
 * once and drops those without a key.
 */
export const dropLookup: Rule = {
  name: 'drop-lookup',
  apply(pipeline, context) {
    for (let index = 0; index < pipeline.length; index++) {
      const unused = unusedLookup(pipeline, index);
      if (unused !== undefined)
        return {
          pipeline: replaceStages(pipeline, index, 1),
          reason: REASONS.dropUnreadLookup(unused),
        };
      const join = simpleJoin(pipeline, index);
      if (!join || isRead(pipeline.slice(index + 2), join.as)) continue;
      const found = totalReference(join, pipeline.slice(0, index), context);
      if (!found) continue;
      const guard: MqlDocument[] = found.nullable
        ? [{ $match: { [join.localField]: { $ne: null } } }]
        : [];
      return {
        pipeline: replaceStages(pipeline, index, 2, ...guard),
        reason: REASONS.dropLookup(join.as, join.localField, join.from, found.nullable),
      };
    }
    return undefined;
  },
};

function unusedLookup(pipeline: readonly MqlDocument[], at: number): string | undefined {
  const lookup = pipeline[at]?.['$lookup'] as { as?: unknown } | undefined;
  if (typeof lookup?.as !== 'string') return undefined;
  const next = pipeline[at + 1];
  if (next && stageName(next) === '$unwind') return undefined;
  return isRead(pipeline.slice(at + 1), lookup.as) ? undefined : lookup.as;
}

const isRead = (stages: readonly MqlDocument[], field: string): boolean =>
  [...pathsReadByAll(stages)].some((path) => path === '*' || overlaps(path, field));

/**
 * The local field is still the source's own, and refers to a unique key of the other collection
 * without orphans.
 */
function totalReference(
  join: SimpleJoin,
  before: readonly MqlDocument[],
  { collection, design, profile }: RuleContext,
): { nullable: boolean } | undefined {
  if (
    !before.every((stage) =>
      ['$match', '$unwind', '$lookup', '$sort', '$limit', '$skip'].includes(stageName(stage)),
    )
  )
    return undefined;
  const added = before.flatMap((stage) =>
    stageName(stage) === '$lookup' ? [String((stage['$lookup'] as { as: unknown }).as)] : [],
  );
  if (added.some((field) => overlaps(field, join.localField))) return undefined;
  const columns = columnFields(design);
  const local = columns.find(
    (field) => field.collection === collection && field.path === join.localField,
  );
  const foreign = columns.find(
    (field) => field.collection === join.from && field.path === join.foreignField,
  );
  if (!local || !foreign || foreign.arrays.length > 0) return undefined;
  const reference = profile.relationships.find(
    ({ childTable, childColumns, parentTable, parentColumns, parentIsKey, orphans, sameStorage }) =>
      childTable === local.table &&
      parentTable === foreign.table &&
      childColumns.length === 1 &&
      childColumns[0] === local.column &&
      parentColumns[0] === foreign.column &&
      parentIsKey &&
      orphans === 0 &&
      sameStorage,
  );
  if (!reference) return undefined;
  return { nullable: (columnProfile(profile, local.table, local.column)?.stored.null ?? 1) > 0 };
}
