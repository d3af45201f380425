import { isOneOf } from '../mql/stage';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

/**
 * Grouping root documents by `_id`, without collecting anything, changes nothing: `_id` is unique.
 */
export const groupById: Rule = {
  name: 'group-by-id',
  apply(pipeline) {
    for (const [index, stage] of pipeline.entries()) {
      if (!('$group' in stage) || stage.$group._id !== '$_id') continue;
      if (Object.keys(stage.$group).length > 1) continue;
      if (
        !pipeline
          .slice(0, index)
          .every((before) =>
            isOneOf(before, ['$match', '$sort', '$limit', '$skip', '$lookup', '$set']),
          )
      )
        continue;
      return {
        pipeline: replaceStages(pipeline, index, 1),
        reason: REASONS.groupById(),
      };
    }
    return undefined;
  },
};
