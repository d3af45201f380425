import { columnPath, placementOf, type Placement } from '../../design/model/placement';
import { logicalDesignOf } from '../../design/model/document-design';
import { mapMatch } from '../mql/map-paths';
import type { Mql, MqlDocument } from '../mql/mql';
import { overlaps, pathsInMatch, pathsWrittenBy } from '../mql/pipeline-paths';
import { isOneOf, type Pipeline } from '../mql/stage';
import { copiedPath, servingCopies, type ServingCopy } from '../plan/copied-source';
import type { Join } from '../plan/plan';
import { readPlan } from '../plan/read-plan';
import { writePlan } from '../plan/write-plan';
import { needsValue } from './implied-presence';
import { REASONS } from './reasons';
import { replaceNode, type Rule, type RuleContext } from './rule';

/**
 * Whether the document that a reference leads to has some values, asked by looking it up → asked of
 * the copies that stand beside the reference.
 */
export const copiedPartner: Rule = {
  name: 'copied-partner',
  apply(pipeline, context) {
    const plan = readPlan(pipeline);
    for (const [index, join] of plan.entries()) {
      const where = join.kind === 'join' ? copiedFilter(join, context) : undefined;
      if (join.kind !== 'join' || !where) continue;
      if (!isStored(writePlan(plan.slice(0, index)), Object.keys(where))) continue;
      return {
        pipeline: replaceNode(plan, index, { kind: 'filter', where }),
        reason: REASONS.copiedPartner(join.scan, Object.keys(where)),
      };
    }
    return undefined;
  },
};

/** The filter of the partner over the copies of its fields. */
function copiedFilter(
  { join, scan, key, variables, nodes }: Join,
  context: RuleContext,
): MqlDocument | undefined {
  const [filter, limit, ...more] = nodes;
  if (join !== 'semi' || !key || Object.keys(variables).length > 0 || more.length > 0)
    return undefined;
  if (filter?.kind !== 'filter' || limit?.kind !== 'limit' || limit.rows === 0) return undefined;
  // Without a partner there is no copy either: only what needs a value says the same of both.
  const entries = Object.entries(filter.where);
  if (entries.length === 0 || !entries.every(([path, test]) => isPlain(path, test)))
    return undefined;
  const [child, parent] = [placementAt(context.collection, context), placementAt(scan, context)];
  if (!child || !parent) return undefined;
  const copy = servingCopies(parent.table, child, context.design, context.profile).find(
    (candidate) => candidate.field !== undefined && isJoinedBy(candidate, child, parent, key),
  );
  if (!copy) return undefined;
  const paths = new Map(
    [...pathsInMatch(filter.where)].map((path) => [path, pathOfCopy(path, copy, parent)]),
  );
  return [...paths.values()].includes(undefined)
    ? undefined
    : mapMatch(filter.where, (path) => paths.get(path)!);
}

const isPlain = (path: string, test: Mql): boolean => !path.startsWith('$') && needsValue(test);

/** The collection's own rows. */
function placementAt(collection: string, { design }: RuleContext): Placement | undefined {
  const logical = logicalDesignOf(design, collection);
  const placement = logical && placementOf(design, logical.rootTable);
  return placement?.steps.length === 0 ? placement : undefined;
}

function isJoinedBy(
  { join }: ServingCopy,
  child: Placement,
  parent: Placement,
  key: { readonly localField: string; readonly foreignField: string },
): boolean {
  const [pair, ...more] = join;
  return (
    pair !== undefined &&
    more.length === 0 &&
    columnPath(child, pair.child)?.path === key.localField &&
    columnPath(parent, pair.parent)?.path === key.foreignField
  );
}

function pathOfCopy(path: string, copy: ServingCopy, parent: Placement): string | undefined {
  const field = parent.logical.fields.find(({ name }) => name === path);
  return field?.kind === 'column' ? copiedPath(copy, field.column)?.path : undefined;
}

/** The copies are still as the document stores them. */
const isStored = (before: Pipeline, paths: readonly string[]): boolean =>
  before.every(
    (stage) =>
      isOneOf(stage, ['$match', '$sort', '$limit', '$skip', '$lookup', '$set', '$unwind']) &&
      (pathsWrittenBy(stage) ?? paths).every(
        (written) => !paths.some((path) => overlaps(written, path)),
      ),
  );
