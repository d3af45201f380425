import { embeddedArrays } from '../design-fields';
import { isDocument, type Mql } from '../mql';
import { dropsEmpty, isUnder, pathsInExpression, pathsWrittenBy, stageName, unwindPath } from '../pipeline-paths';
import { replaceStages, type Rule } from '../rule';

/** Unwinding an array only to count its entries → `$size`. */
export const unwindCount: Rule = {
  name: 'unwind-count',
  apply(pipeline, context) {
    const arrays = embeddedArrays(context.design, context.collection);
    for (let at = 0; at + 1 < pipeline.length; at++) {
      const unwind = pipeline[at];
      const group = pipeline[at + 1]?.['$group'];
      const path = unwind && '$unwind' in unwind && dropsEmpty(unwind) ? unwindPath(unwind) : undefined;
      if (path === undefined || !isDocument(group) || !arrays.includes(path)) continue;
      // The array must still be the stored one.
      if (path.includes('.') || !pipeline.slice(0, at).every((stage) => (pathsWrittenBy(stage) ?? [path]).every((written) => !isUnder(path, written) && !isUnder(written, path)) && stageName(stage) !== '$lookup')) continue;
      const sized = Object.entries(group).map(([name, value]): [string, Mql] | undefined => {
        if (name === '_id') return readsArray(value, path) ? undefined : [name, value];
        if (isDocument(value) && value['$sum'] === 1) return [name, { $sum: { $size: `$${path}` } }];
        return isDocument(value) && ['$first', '$min', '$max', '$addToSet'].includes(Object.keys(value)[0] ?? '') && !readsArray(value, path) ? [name, value] : undefined;
      });
      if (sized.some((entry) => entry === undefined) || !Object.values(group).some((value) => isDocument(value) && value['$sum'] === 1)) continue;
      return {
        pipeline: replaceStages(pipeline, at, 2, { $match: { [path]: { $ne: [] } } }, { $group: Object.fromEntries(sized.filter((entry) => entry !== undefined)) }),
        reason: `The entries of ${path} are only counted: the size of the array says how many there are.`,
      };
    }
    return undefined;
  },
};

const readsArray = (value: Mql, path: string): boolean => [...pathsInExpression(value)].some((read) => read === '*' || isUnder(read, path));
