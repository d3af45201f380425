import { isUnder } from '../mql/pipeline-paths';
import type { Join, PlanNode } from '../plan/plan';
import { readPlan } from '../plan/read-plan';
import { writePlan } from '../plan/write-plan';
import { REASONS } from './reasons';
import type { Rule } from './rule';

/**
 * A subquery that reads nothing of the row, looked up in front of the arrays that are unwound: once
 * for a document instead of once for each of its entries.
 */
export const lookupOnce: Rule = {
  name: 'lookup-once',
  apply(pipeline) {
    const plan = readPlan(pipeline);
    for (const [index, join] of plan.entries()) {
      if (join.kind !== 'join' || !isIndependent(join)) continue;
      let start = index;
      while (start > 0 && isPassed(plan[start - 1]!, join)) start--;
      // Filters in front of the arrays stay there: an index may serve them.
      const unwind = plan.slice(start, index).findIndex(({ kind }) => kind === 'unwind');
      if (unwind < 0) continue;
      const to = start + unwind;
      return {
        pipeline: writePlan([
          ...plan.slice(0, to),
          join,
          ...plan.slice(to, index),
          ...plan.slice(index + 1),
        ]),
        reason: REASONS.lookupOnce(join.as),
      };
    }
    return undefined;
  },
};

const isIndependent = ({ join, key, variables }: Join): boolean =>
  join === 'array' && !key && Object.keys(variables).length === 0;

/** Stages that do not care whether the field is there. */
const isPassed = (node: PlanNode, { as }: Join): boolean =>
  (node.kind === 'unwind' && !isUnder(node.path, as) && !isUnder(as, node.path)) ||
  (node.kind === 'filter' && !('$expr' in node.where));
