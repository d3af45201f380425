import { conjoin } from '../lower-predicate';
import type { MqlDocument } from '../mql';
import { replaceStages, type Rule } from '../rule';

/** `$match`, `$match` → one `$match`. */
export const mergeMatches: Rule = {
  name: 'merge-matches',
  apply(pipeline) {
    for (let at = 0; at + 1 < pipeline.length; at++) {
      const first = pipeline[at]?.['$match'];
      const second = pipeline[at + 1]?.['$match'];
      if (first === undefined || second === undefined) continue;
      return {
        pipeline: replaceStages(pipeline, at, 2, { $match: conjoin([first as MqlDocument, second as MqlDocument]) }),
        reason: 'Two filters in a row are one.',
      };
    }
    return undefined;
  },
};
