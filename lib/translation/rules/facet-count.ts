import { readPlan } from '../plan/read-plan';
import { writePlan } from '../plan/write-plan';
import { replaceNode, type Rule } from './rule';
import { countedField } from './count-stage';
import { REASONS } from './reasons';

/** A row that only counts, and of which a default reads one field: its `$group` is a `$count`. */
export const facetCount: Rule = {
  name: 'facet-count',
  apply(pipeline) {
    const plan = readPlan(pipeline);
    for (const [index, node] of plan.entries()) {
      if (node.kind !== 'oneRow' || node.defaults.of !== 'field') continue;
      const stages = writePlan(node.nodes);
      const last = stages.at(-1);
      const counted = last && countedField(last);
      if (counted === undefined || node.defaults.from !== counted) continue;
      const nodes = readPlan([...stages.slice(0, -1), { $count: counted }]);
      return {
        pipeline: replaceNode(plan, index, { ...node, nodes }),
        reason: REASONS.countStage(),
      };
    }
    return undefined;
  },
};
