import type { MqlDocument } from '../mql/mql';
import { isDocument } from '../mql/mql';
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

export function countedField(stage: MqlDocument): string | undefined {
  const group = stage['$group'];
  if (!isDocument(group) || group['_id'] !== null) return undefined;
  const entries = Object.entries(group).filter(([key]) => key !== '_id');
  const [[name, accumulator] = ['', null]] = entries;
  return entries.length === 1 &&
    isDocument(accumulator) &&
    (accumulator['$sum'] === 1 || '$count' in accumulator) &&
    Object.keys(accumulator).length === 1
    ? name
    : undefined;
}

function projectedOnly(stage: MqlDocument, name: string): string | undefined {
  const project = stage['$project'];
  if (!isDocument(project) || project['_id'] !== 0) return undefined;
  const entries = Object.entries(project).filter(([key]) => key !== '_id');
  const [[field, value] = ['', null]] = entries;
  return entries.length === 1 && ((value === 1 && field === name) || value === `$${name}`)
    ? field
    : undefined;
}
