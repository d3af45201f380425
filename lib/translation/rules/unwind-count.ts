import { embeddedArrays } from '../../design/model/column-fields';
import { isDocument, type Mql } from '../mql/mql';
import { readsArray, storedArrayGroup } from '../mql/pipeline-paths';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

/** Unwinding an array only to count its entries → `$size`. */
export const unwindCount: Rule = {
  name: 'unwind-count',
  apply(pipeline, context) {
    const arrays = embeddedArrays(context.design, context.collection);
    for (let index = 0; index + 1 < pipeline.length; index++) {
      const found = storedArrayGroup(pipeline, index, arrays);
      if (!found) continue;
      const { path, group } = found;
      const sized = Object.entries(group).map(([name, value]): [string, Mql] | undefined => {
        if (name === '_id') return readsArray(value, path) ? undefined : [name, value];
        if (isDocument(value) && value['$sum'] === 1)
          return [name, { $sum: { $size: `$${path}` } }];
        return isDocument(value) &&
          ['$first', '$min', '$max', '$addToSet'].includes(Object.keys(value)[0] ?? '') &&
          !readsArray(value, path)
          ? [name, value]
          : undefined;
      });
      if (
        sized.some((entry) => entry === undefined) ||
        !Object.values(group).some((value) => isDocument(value) && value['$sum'] === 1)
      )
        continue;
      return {
        pipeline: replaceStages(
          pipeline,
          index,
          2,
          { $match: { [path]: { $ne: [] } } },
          {
            $group: {
              _id: group._id,
              ...Object.fromEntries(sized.filter((entry) => entry !== undefined)),
            },
          },
        ),
        reason: REASONS.unwindCount(path),
      };
    }
    return undefined;
  },
};
