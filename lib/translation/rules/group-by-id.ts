import { isDocument } from '../mql/mql';
import { stageName } from '../mql/pipeline-paths';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

/**
 * Grouping root documents by `_id`, without collecting anything, changes nothing: `_id` is unique.
 */
export const groupById: Rule = {
  name: 'group-by-id',
  apply(pipeline) {
    for (const [index, stage] of pipeline.entries()) {
      const group = stage['$group'];
      if (!isDocument(group) || group['_id'] !== '$_id' || Object.keys(group).length > 1) continue;
      if (
        !pipeline
          .slice(0, index)
          .every((before) =>
            ['$match', '$sort', '$limit', '$skip', '$lookup', '$set'].includes(stageName(before)),
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
