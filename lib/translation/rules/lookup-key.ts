import { renamePath } from '../mql/map-paths';
import { makesNewDocuments, overlaps, pathsReadByAll, pathsWrittenBy } from '../mql/pipeline-paths';
import { isOneOf, type Pipeline } from '../mql/stage';
import { isKeyJoin, type KeyJoin } from '../plan/plan';
import { readPlan } from '../plan/read-plan';
import { writePlan } from '../plan/write-plan';
import { columnProfile } from '../../sqlite/profile/profile';
import { columnFields } from '../../design/model/column-fields';
import { columnType, INTEGER, REAL, TEXT } from '../lower/value-type';
import type { Rule, RuleContext } from './rule';
import { REASONS } from './reasons';

/**
 * Behind `$lookup` and `$unwind` the foreign key field equals the local one: reading the local
 * field instead can make the join unnecessary.
 */
export const lookupKey: Rule = {
  name: 'lookup-key',
  apply(pipeline, context) {
    const plan = readPlan(pipeline);
    for (const [index, join] of plan.entries()) {
      const before = writePlan(plan.slice(0, index));
      if (!isKeyJoin(join) || !isSameKind(join, before, context)) continue;
      const { localField, foreignField } = join.key;
      const foreign = `${join.as}.${foreignField}`;
      const behind = writePlan(plan.slice(index + 1));
      const end = reach(behind, [foreign, localField]);
      const scope = behind.slice(0, end);
      if (!scope.some((stage) => pathsReadByAll([stage]).has(foreign))) continue;
      const replaced = scope.map((stage) => renamePath(stage, foreign, localField));
      return {
        pipeline: [...before, ...writePlan([join]), ...replaced, ...behind.slice(end)],
        reason: REASONS.lookupKey(foreign, localField),
      };
    }
    return undefined;
  },
};

/** Of how many stages from the first on these paths have the same values as before it. */
function reach(stages: Pipeline, paths: readonly string[]): number {
  for (const [index, stage] of stages.entries()) {
    const written = pathsWrittenBy(stage) ?? [];
    if (written.some((path) => paths.some((other) => overlaps(path, other)))) return index;
    if (makesNewDocuments(stage)) return index + 1;
  }
  return stages.length;
}

/**
 * Equal values of one storage class are the same value in every expression, and an expression that
 * moves in front of the join meets nothing there that it could fail on.
 */
function isSameKind(
  { scan, key: { localField, foreignField } }: KeyJoin,
  before: Pipeline,
  { collection, design, profile }: RuleContext,
): boolean {
  if (
    !before.every((stage) =>
      isOneOf(stage, ['$match', '$unwind', '$lookup', '$sort', '$limit', '$skip', '$set']),
    )
  )
    return false;
  const joined = new Map(
    before.flatMap((stage) =>
      '$lookup' in stage ? [[stage.$lookup.as, stage.$lookup.from] as const] : [],
    ),
  );
  const [first = '', ...rest] = localField.split('.');
  const owner = joined.get(first);
  const kinds = (of: string, path: string): number => {
    const field = columnFields(design).find(
      (candidate) => candidate.collection === of && candidate.path === path,
    );
    return field?.transform.kind === 'identity'
      ? columnType(columnProfile(profile, field.table, field.column)).kinds
      : 0;
  };
  const local = owner === undefined ? kinds(collection, localField) : kinds(owner, rest.join('.'));
  return local === kinds(scan, foreignField) && [INTEGER, REAL, TEXT].includes(local);
}
