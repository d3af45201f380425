import type { MqlDocument } from '../mql/mql';
import { isUnder, stageName } from '../mql/pipeline-paths';
import { replaceStages, type Rule } from './rule';
import { dropLookup } from './drop-lookup';
import { simpleJoin } from './lookup-key';
import { REASONS } from './reasons';

/**
 * `$sort` and `$limit` in front of a join that keeps every row exactly once: only the rows that
 * stay are joined.
 */
export const sortLimitEarly: Rule = {
  name: 'sort-limit-early',
  apply(pipeline, context) {
    for (let index = 0; index + 3 < pipeline.length; index++) {
      const [lookup, unwind, sort, limit] = pipeline.slice(index, index + 4);
      const join = simpleJoin(pipeline, index);
      if (
        !join ||
        !lookup ||
        !unwind ||
        !sort ||
        !limit ||
        stageName(sort) !== '$sort' ||
        stageName(limit) !== '$limit'
      )
        continue;
      if (Object.keys(sort['$sort'] as object).some((path) => isUnder(path, join.as))) continue;
      if (!keepsEveryRow(pipeline.slice(0, index + 2), context)) continue;
      return {
        pipeline: replaceStages(pipeline, index, 4, sort, limit, lookup, unwind),
        reason: REASONS.sortLimitEarly(join.from),
      };
    }
    return undefined;
  },
};

// The join could be dropped without a guard if nobody read it: then it neither adds nor removes
// rows.
function keepsEveryRow(
  upToJoin: readonly MqlDocument[],
  context: Parameters<typeof dropLookup.apply>[1],
): boolean {
  const dropped = dropLookup.apply([...upToJoin, { $count: 'rows' }], context);
  return dropped !== undefined && dropped.pipeline.length === upToJoin.length - 1;
}
