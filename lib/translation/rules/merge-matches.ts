import { conjoin } from '../lower/predicate';
import { isDocument, type MqlDocument } from '../mql/mql';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

/** `$match`, `$match` → one `$match`. */
export const mergeMatches: Rule = {
  name: 'merge-matches',
  apply(pipeline) {
    for (let index = 0; index + 1 < pipeline.length; index++) {
      const [first, second] = pipeline.slice(index, index + 2);
      if (!first || !('$match' in first) || !second || !('$match' in second)) continue;
      const needed = withoutImplied(first.$match, second.$match);
      return {
        pipeline: replaceStages(pipeline, index, 2, {
          $match:
            Object.keys(needed).length === 0 ? second.$match : conjoin([needed, second.$match]),
        }),
        reason: REASONS.mergeMatches(),
      };
    }
    return undefined;
  },
};

/**
 * The first filter without lower bounds that the second one tightens: more than 1 is more than 0.
 */
function withoutImplied(first: MqlDocument, second: MqlDocument): MqlDocument {
  const bound = (
    value: unknown,
  ): { readonly operator: string; readonly number: number } | undefined => {
    if (!isDocument(value)) return undefined;
    const [[operator = '', number] = [], ...others] = Object.entries(value);
    return others.length === 0 &&
      typeof number === 'number' &&
      ['$gt', '$gte', '$eq'].includes(operator)
      ? { operator, number }
      : undefined;
  };
  const exact = (
    value: unknown,
  ): { readonly operator: string; readonly number: number } | undefined =>
    typeof value === 'number' ? { operator: '$eq', number: value } : bound(value);
  return Object.fromEntries(
    Object.entries(first).filter(([path, value]) => {
      const [weak, strong] = [bound(value), exact(second[path])];
      if (!weak || !strong || weak.operator === '$eq') return true;
      return !(
        strong.number > weak.number ||
        (strong.number === weak.number && (weak.operator === '$gte' || strong.operator === '$gt'))
      );
    }),
  );
}
