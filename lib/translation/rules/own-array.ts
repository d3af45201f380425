import { embeddedArrays } from '../../design/model/column-fields';
import { mapMatch } from '../mql/map-paths';
import type { MqlDocument } from '../mql/mql';
import { isUnder, overlaps, pathsInMatch, pathsWrittenBy } from '../mql/pipeline-paths';
import { isOneOf, type Pipeline } from '../mql/stage';
import type { Join, PlanNodes } from '../plan/plan';
import { readPlan } from '../plan/read-plan';
import { writePlan } from '../plan/write-plan';
import { REASONS } from './reasons';
import { replaceNode, type Rule } from './rule';

/**
 * Whether a document has an entry with some values, asked by looking the document up by its own
 * `_id` → asked of the array that it holds.
 */
export const ownArray: Rule = {
  name: 'own-array',
  apply(pipeline, context) {
    const arrays = embeddedArrays(context.design, context.collection);
    const plan = readPlan(pipeline);
    for (const [index, join] of plan.entries()) {
      const asked =
        join.kind === 'join' && looksItselfUp(join, context.collection)
          ? entryAsked(join.nodes)
          : undefined;
      if (!asked || !arrays.includes(asked.path) || asked.path.includes('.')) continue;
      if (!isStored(writePlan(plan.slice(0, index)), asked.path)) continue;
      return {
        pipeline: replaceNode(plan, index, { kind: 'filter', where: asked.where }),
        reason: REASONS.ownArray(asked.path),
      };
    }
    return undefined;
  },
};

/** `_id` is unique: the one partner is the document itself. */
const looksItselfUp = ({ join, scan, key, variables }: Join, collection: string): boolean =>
  join === 'semi' &&
  scan === collection &&
  key?.localField === '_id' &&
  key.foreignField === '_id' &&
  Object.keys(variables).length === 0;

/** An array, its filter, and that one entry is enough. */
function entryAsked(
  nodes: PlanNodes,
): { readonly path: string; readonly where: MqlDocument } | undefined {
  const [unwind, ...behind] = nodes;
  const [limit, filter, ...more] = behind.toReversed();
  if (unwind?.kind !== 'unwind' || unwind.keepsEmpty || limit?.kind !== 'limit') return undefined;
  if (limit.rows === 0 || more.length > 0) return undefined;
  const { path } = unwind;
  if (filter === undefined) return { path, where: { [path]: { $ne: [] } } };
  if (filter.kind !== 'filter' || '$expr' in filter.where) return undefined;
  const isOfEntries = [...pathsInMatch(filter.where)].every((read) => read.startsWith(`${path}.`));
  if (!isOfEntries) return undefined;
  const entry = mapMatch(filter.where, (read) => read.slice(path.length + 1));
  return { path, where: { [path]: { $elemMatch: entry } } };
}

/** The array is still as the document stores it, and so is the document's `_id`. */
const isStored = (before: Pipeline, path: string): boolean =>
  before.every(
    (stage) =>
      isOneOf(stage, ['$match', '$sort', '$limit', '$skip', '$lookup', '$set', '$unwind']) &&
      (pathsWrittenBy(stage) ?? [path]).every(
        (written) => !overlaps(written, path) && !isUnder('_id', written),
      ),
  );
