import { isUnder } from '../mql/pipeline-paths';
import type { Pipeline } from '../mql/stage';
import { isKeyJoin } from '../plan/plan';
import { readPlan } from '../plan/read-plan';
import { writePlan } from '../plan/write-plan';
import type { Rule } from './rule';
import { dropLookup } from './drop-lookup';
import { REASONS } from './reasons';

/**
 * `$sort` and `$limit` in front of a join that keeps every row exactly once: only the rows that
 * stay are joined.
 */
export const sortLimitEarly: Rule = {
  name: 'sort-limit-early',
  apply(pipeline, context) {
    const plan = readPlan(pipeline);
    for (const [index, join] of plan.entries()) {
      const [sort, limit] = plan.slice(index + 1, index + 3);
      if (!isKeyJoin(join) || sort?.kind !== 'sort' || limit?.kind !== 'limit') continue;
      if (Object.keys(sort.keys).some((path) => isUnder(path, join.as))) continue;
      const before = plan.slice(0, index);
      if (!keepsEveryRow(writePlan([...before, join]), context)) continue;
      return {
        pipeline: writePlan([...before, sort, limit, join, ...plan.slice(index + 3)]),
        reason: REASONS.sortLimitEarly(join.scan),
      };
    }
    return undefined;
  },
};

// The join could be dropped without a guard if nobody read it: then it neither adds nor removes
// rows.
function keepsEveryRow(
  upToJoin: Pipeline,
  context: Parameters<typeof dropLookup.apply>[1],
): boolean {
  const dropped = dropLookup.apply([...upToJoin, { $count: 'rows' }], context);
  return dropped !== undefined && dropped.pipeline.length === upToJoin.length - 1;
}
