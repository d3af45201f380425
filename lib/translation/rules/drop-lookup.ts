import { columnProfile } from '../../sqlite/profile/profile';
import { columnFields } from '../../design/model/column-fields';
import { overlaps, pathsReadByAll } from '../mql/pipeline-paths';
import { isOneOf, type Pipeline } from '../mql/stage';
import { isKeyJoin, type KeyJoin, type PlanNodes } from '../plan/plan';
import { readPlan } from '../plan/read-plan';
import { writePlan } from '../plan/write-plan';
import { replaceNode, type Rule, type RuleContext } from './rule';
import { REASONS } from './reasons';

/**
 * A join whose fields nobody reads only filters: to a parent that every key has, it keeps each row
 * once and drops those without a key.
 */
export const dropLookup: Rule = {
  name: 'drop-lookup',
  apply(pipeline, context) {
    const plan = readPlan(pipeline);
    for (const [index, join] of plan.entries()) {
      if (join.kind !== 'join' || isRead(writePlan(plan.slice(index + 1)), join.as)) continue;
      if (join.join === 'array')
        return {
          pipeline: replaceNode(plan, index),
          reason: REASONS.dropUnreadLookup(join.as),
        };
      const found =
        isKeyJoin(join) && totalReference(join, writePlan(plan.slice(0, index)), context);
      if (!found) continue;
      const { localField } = join.key;
      const guard: PlanNodes = found.nullable
        ? [{ kind: 'filter', where: { [localField]: { $ne: null } } }]
        : [];
      return {
        pipeline: replaceNode(plan, index, ...guard),
        reason: REASONS.dropLookup(join.as, localField, join.scan, found.nullable),
      };
    }
    return undefined;
  },
};

const isRead = (stages: Pipeline, field: string): boolean =>
  [...pathsReadByAll(stages)].some((path) => path === '*' || overlaps(path, field));

/**
 * The local field is still the source's own, and refers to a unique key of the other collection
 * without orphans.
 */
function totalReference(
  { scan, key }: KeyJoin,
  before: Pipeline,
  { collection, design, profile }: RuleContext,
): { nullable: boolean } | undefined {
  if (
    !before.every((stage) =>
      isOneOf(stage, ['$match', '$unwind', '$lookup', '$sort', '$limit', '$skip']),
    )
  )
    return undefined;
  const added = before.flatMap((stage) => ('$lookup' in stage ? [stage.$lookup.as] : []));
  if (added.some((field) => overlaps(field, key.localField))) return undefined;
  const columns = columnFields(design);
  const local = columns.find(
    (field) => field.collection === collection && field.path === key.localField,
  );
  const foreign = columns.find(
    (field) => field.collection === scan && field.path === key.foreignField,
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
