import { isDocument, type Mql, type MqlDocument } from '../mql/mql';
import { dropsEmpty, pathsInMatch, readsArray, unwindPath } from '../mql/pipeline-paths';
import { isOneOf } from '../mql/stage';
import { embeddedArrays } from '../../design/model/column-fields';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

/**
 * Unwind, filter the entries, then group by the parent alone → `$elemMatch`: it does not matter how
 * many entries match.
 */
export const elemMatch: Rule = {
  name: 'elem-match',
  apply(pipeline, context) {
    const arrays = embeddedArrays(context.design, context.collection);
    for (let index = 0; index + 2 < pipeline.length; index++) {
      const [unwind, match, group] = pipeline.slice(index, index + 3);
      if (!unwind || !('$unwind' in unwind) || !dropsEmpty(unwind)) continue;
      if (!match || !('$match' in match) || !group || !('$group' in group)) continue;
      const path = unwindPath(unwind);
      if (path.includes('.') || !arrays.includes(path)) continue;
      if (!pipeline.slice(0, index).every((stage) => isOneOf(stage, ['$match', '$sort']))) continue;
      const countsRows = Object.entries(group.$group).some(
        ([name, value]) =>
          name !== '_id' &&
          !(
            isDocument(value) &&
            ['$addToSet', '$min', '$max', '$first'].includes(Object.keys(value)[0] ?? '')
          ),
      );
      if (countsRows || readsArray(group.$group, path)) continue;
      const inner = within(match.$match, path);
      if (!inner) continue;
      return {
        pipeline: replaceStages(pipeline, index, 2, { $match: { [path]: { $elemMatch: inner } } }),
        reason: REASONS.elemMatch(path),
      };
    }
    return undefined;
  },
};

/** The predicate relative to an entry, or undefined where it reads anything else. */
function within(match: MqlDocument, path: string): MqlDocument | undefined {
  if ([...pathsInMatch(match)].some((read) => !read.startsWith(`${path}.`)) || '$expr' in match)
    return undefined;
  const relative = (value: Mql): Mql => {
    if (!isDocument(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) =>
        key.startsWith('$')
          ? [key, (inner as readonly Mql[]).map(relative)]
          : [key.slice(path.length + 1), inner],
      ),
    );
  };
  return relative(match) as MqlDocument;
}
