import { isDocument } from '../mql/mql';
import type { Stage } from '../mql/stage';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

/**
 * `$group` over everything that only counts, with the `$project` that hides its `_id` → `$count`.
 */
export const countStage: Rule = {
  name: 'count-stage',
  apply(pipeline) {
    for (const [index, stage] of pipeline.entries()) {
      const name = countedField(stage);
      if (name === undefined) continue;
      const next = pipeline[index + 1];
      const renamed = next && projectedOnly(next, name);
      // Without a $project the `_id` would come out; only a reader of one field does not see it.
      if (renamed === undefined) continue;
      return {
        pipeline: replaceStages(pipeline, index, 2, { $count: renamed }),
        reason: REASONS.countStage(),
      };
    }
    return undefined;
  },
};

/** The field of a `$group` over everything that only counts. */
export function countedField(stage: Stage): string | undefined {
  if (!('$group' in stage) || stage.$group._id !== null) return undefined;
  const entries = Object.entries(stage.$group).filter(([key]) => key !== '_id');
  const [[name, accumulator] = ['', null]] = entries;
  return entries.length === 1 &&
    isDocument(accumulator) &&
    (accumulator['$sum'] === 1 || '$count' in accumulator) &&
    Object.keys(accumulator).length === 1
    ? name
    : undefined;
}

function projectedOnly(stage: Stage, name: string): string | undefined {
  if (!('$project' in stage) || stage.$project['_id'] !== 0) return undefined;
  const entries = Object.entries(stage.$project).filter(([key]) => key !== '_id');
  const [[field, value] = ['', null]] = entries;
  return entries.length === 1 && ((value === 1 && field === name) || value === `$${name}`)
    ? field
    : undefined;
}
