import type { MqlDocument } from '../mql/mql';
import { overlaps, pathsInMatch, pathsWrittenBy } from '../mql/pipeline-paths';
import { isOneOf, stageName, type Stage } from '../mql/stage';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

/**
 * Moves a filter, or the part of it that can move, in front of stages that do not change what it
 * reads: fewer documents are unwound, joined and sorted, and at the front an index can serve it.
 */
export const matchEarly: Rule = {
  name: 'match-early',
  apply(pipeline) {
    for (let index = 1; index < pipeline.length; index++) {
      const [before, stage] = pipeline.slice(index - 1, index + 1);
      if (!before || !stage || !('$match' in stage) || !movesOver(before)) continue;
      const written = pathsWrittenBy(before) ?? [];
      const [movable, staying] = split(stage.$match, (part) => {
        const read = pathsInMatch(part);
        return (
          !read.has('*') &&
          [...read].every((path) => written.every((changed) => !overlaps(path, changed)))
        );
      });
      if (Object.keys(movable).length === 0) continue;
      const rest = Object.keys(staying).length === 0 ? [] : [{ $match: staying }];
      return {
        pipeline: replaceStages(pipeline, index - 1, 2, { $match: movable }, before, ...rest),
        reason: REASONS.matchEarly([...pathsInMatch(movable)], stageName(before)),
      };
    }
    return undefined;
  },
};

const movesOver = (stage: Stage): boolean =>
  isOneOf(stage, ['$unwind', '$lookup', '$sort', '$set', '$addFields']);

function split(
  match: MqlDocument,
  test: (part: MqlDocument) => boolean,
): [MqlDocument, MqlDocument] {
  const movable: Record<string, MqlDocument[string]> = {};
  const staying: Record<string, MqlDocument[string]> = {};
  for (const [key, value] of Object.entries(match))
    (test({ [key]: value }) ? movable : staying)[key] = value;
  return [movable, staying];
}
