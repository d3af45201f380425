import type { MqlDocument } from '../mql/mql';
import { overlaps, pathsInMatch, pathsWrittenBy, stageName } from '../mql/pipeline-paths';
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
      const match = pipeline[index]?.['$match'] as MqlDocument | undefined;
      const before = pipeline[index - 1];
      if (!match || !before || !movesOver(before)) continue;
      const written = pathsWrittenBy(before) ?? [];
      const [movable, staying] = split(match, (part) => {
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

const movesOver = (stage: MqlDocument): boolean =>
  ['$unwind', '$lookup', '$sort', '$set', '$addFields'].includes(stageName(stage)) &&
  pathsWrittenBy(stage) !== undefined;

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
