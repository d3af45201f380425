import { isDocument, type Mql, type MqlDocument } from '../mql/mql';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

/** Sorting everything to take each group's first row → `$top`, which keeps one row a group. */
export const topOfGroup: Rule = {
  name: 'top-of-group',
  apply(pipeline) {
    for (let index = 0; index + 1 < pipeline.length; index++) {
      const [sort, group] = pipeline.slice(index, index + 2);
      if (!sort || !('$sort' in sort) || !group || !('$group' in group)) continue;
      const entries = Object.entries(group.$group);
      // Anything else that depends on the order would lose it.
      if (
        !entries.every(
          ([name, value]) => name === '_id' || firstOf(value) !== undefined || isIndifferent(value),
        )
      )
        continue;
      const firsts = entries.flatMap(([name, value]) =>
        name !== '_id' && firstOf(value) !== undefined ? [name] : [],
      );
      if (firsts.length === 0) continue;
      const topped = entries.map(([name, value]): [string, Mql] =>
        firsts.includes(name)
          ? [name, { $top: { sortBy: sort.$sort, output: firstOf(value) ?? null } }]
          : [name, value],
      );
      return {
        pipeline: replaceStages(pipeline, index, 2, {
          $group: { _id: group.$group._id, ...Object.fromEntries(topped) },
        }),
        reason: REASONS.topOfGroup(),
      };
    }
    return undefined;
  },
};

function firstOf(accumulator: Mql): Mql | undefined {
  return isDocument(accumulator) ? (accumulator as MqlDocument)['$first'] : undefined;
}

const isIndifferent = (accumulator: Mql): boolean =>
  isDocument(accumulator) &&
  ['$sum', '$avg', '$min', '$max', '$count'].includes(Object.keys(accumulator)[0] ?? '');
