import { embeddedArrays } from '../../design/model/column-fields';
import { isDocument, type Mql } from '../mql/mql';
import { readsArray, storedArrayGroup } from '../mql/pipeline-paths';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

/**
 * Accumulators that give the same over each document's own sum, least or greatest value as over the
 * entries.
 */
const FOLDED = ['$sum', '$min', '$max'];

/**
 * Unwinding an array only to add up its entries, or to find their extremes → the same operator over
 * the array.
 */
export const unwindFold: Rule = {
  name: 'unwind-fold',
  apply(pipeline, context) {
    const arrays = embeddedArrays(context.design, context.collection);
    for (let index = 0; index + 1 < pipeline.length; index++) {
      const found = storedArrayGroup(pipeline, index, arrays);
      // A path through two arrays would give arrays of arrays.
      if (!found || arrays.some((other) => other.startsWith(`${found.path}.`))) continue;
      const { path, group } = found;
      // The average of averages is one only where a group has one document.
      const operators = group['_id'] === '$_id' ? [...FOLDED, '$avg'] : FOLDED;
      const folded = Object.entries(group).map(([name, value]) =>
        fold(name, value, path, operators),
      );
      if (
        folded.some((entry) => entry === undefined) ||
        !Object.values(group).some((value) => isFoldable(value, path, operators))
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
              ...Object.fromEntries(folded.filter((entry) => entry !== undefined)),
            },
          },
        ),
        reason: REASONS.unwindFold(path),
      };
    }
    return undefined;
  },
};

function fold(
  name: string,
  value: Mql,
  path: string,
  operators: readonly string[],
): [string, Mql] | undefined {
  if (name === '_id') return readsArray(value, path) ? undefined : [name, value];
  if (!isDocument(value)) return undefined;
  if (value['$sum'] === 1) return [name, { $sum: { $size: `$${path}` } }];
  const [operator = '', operand] = Object.entries(value)[0] ?? [];
  if (isFoldable(value, path, operators))
    return [name, { [operator]: { [operator]: operand ?? null } }];
  return ['$first', '$min', '$max', '$addToSet'].includes(operator) && !readsArray(value, path)
    ? [name, value]
    : undefined;
}

function isFoldable(value: Mql | undefined, path: string, operators: readonly string[]): boolean {
  if (!isDocument(value)) return false;
  const [operator = '', operand] = Object.entries(value)[0] ?? [];
  return (
    operators.includes(operator) && typeof operand === 'string' && operand.startsWith(`$${path}.`)
  );
}
