import type { OneRow, PlanNode, PlanNodes } from '../plan/plan';
import { readPlan } from '../plan/read-plan';
import { replaceNode, type Rule } from './rule';
import { REASONS } from './reasons';

/** Its name: gold that went through it carries the caveat `empty_aggregate`. */
export const PLAIN_AGGREGATE = 'plain-aggregate';

/**
 * An aggregate over no rows gives one row in SQL and no document in MongoDB; the `$facet` around it
 * makes up for that. On data that has such rows nobody would write it. That the data has some only
 * a run shows: whoever applies this rule compares the results, and undoes it where they differ.
 */
export const plainAggregate: Rule = {
  name: PLAIN_AGGREGATE,
  apply(pipeline) {
    const plan = readPlan(pipeline);
    for (const [index, node] of plan.entries()) {
      if (node.kind !== 'oneRow') continue;
      const nodes = withoutDefault(node);
      if (nodes)
        return {
          pipeline: replaceNode(plan, index, ...nodes),
          reason: REASONS.plainAggregate(),
        };
    }
    return undefined;
  },
};

/** The nodes that give the row with the same fields; undefined where that takes the default. */
function withoutDefault({ nodes, defaults }: OneRow): PlanNodes | undefined {
  if (nodes.length === 0) return undefined;
  if (defaults.of === 'row') return nodes;
  const { field, from } = defaults;
  if (!hasGroupId(nodes)) return field === from ? nodes : undefined;
  const fields = { _id: 0, [field]: field === from ? 1 : `$${from}` };
  return [...nodes, { kind: 'project', fields }];
}

/** The rows still have the `_id` of a `$group`: nothing behind it gives them another form. */
const hasGroupId = (nodes: PlanNodes): boolean =>
  nodes.findLast(({ kind }) => !FORM_KEEPING.has(kind))?.kind === 'aggregate';
const FORM_KEEPING = new Set<PlanNode['kind']>(['filter', 'sort', 'skip', 'limit', 'compute']);
