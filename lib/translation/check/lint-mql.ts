import type { DocumentDesign } from '../../design/model/document-design';
import type { MqlDocument } from '../mql/mql';
import { pathsReadBy } from '../mql/pipeline-paths';
import { hasPath, shapeAfter, shapeOf, type Shape } from '../mql/shape';
import { readPipeline, stageName, type Pipeline, type Stage } from '../mql/stage';

export interface MqlProblem {
  /** Position of the stage, such as `2` or `1.$lookup.0`. */
  readonly at: string;
  /** The collection or path that does not exist. */
  readonly path: string;
  readonly message: string;
}

/**
 * Every collection and path that a pipeline uses and that, by the design and the stages before,
 * does not exist. A pipeline with a stage that MongoDB would refuse has none: running it says more.
 */
export function lintMql(
  collection: string,
  pipeline: readonly MqlDocument[],
  design: DocumentDesign,
): MqlProblem[] {
  const shape = shapeOf(collection, design);
  if (!shape)
    return [{ at: '0', path: collection, message: `the design has no collection ${collection}` }];
  return lintStages(readPipeline(pipeline) ?? [], shape, design, '');
}

function lintStages(
  stages: Pipeline,
  start: Shape,
  design: DocumentDesign,
  prefix: string,
): MqlProblem[] {
  const problems: MqlProblem[] = [];
  let shape = start;
  for (const [index, stage] of stages.entries()) {
    const at = `${prefix}${String(index)}`;
    // What a `$facet` reads, its own pipelines are asked for.
    const read = '$facet' in stage ? [] : [...pathsReadBy(stage)];
    for (const path of read)
      if (path !== '*' && !hasPath(shape, path))
        problems.push({ at, path, message: `there is no field ${path} at this point` });
    problems.push(...lintInside(stage, shape, design, at));
    shape = shapeAfter(stage, shape, design);
  }
  return problems;
}

function lintInside(stage: Stage, shape: Shape, design: DocumentDesign, at: string): MqlProblem[] {
  if ('$facet' in stage)
    return Object.entries(stage.$facet).flatMap(([name, inner]) =>
      lintStages(inner, shape, design, `${at}.${name}.`),
    );
  const other = otherCollection(stage);
  if (!other) return [];
  const { from, key, pipeline } = other;
  const theirs = shapeOf(from, design);
  if (!theirs) return [{ at, path: from, message: `the design has no collection ${from}` }];
  const missing =
    key !== undefined && !hasPath(theirs, key)
      ? [{ at, path: `${from}.${key}`, message: `${from} has no field ${key}` }]
      : [];
  return [...missing, ...lintStages(pipeline, theirs, design, `${at}.${stageName(stage)}.`)];
}

/** The collection that a stage reads beside its input. */
function otherCollection(
  stage: Stage,
): { readonly from: string; readonly key?: string; readonly pipeline: Pipeline } | undefined {
  if ('$unionWith' in stage)
    return { from: stage.$unionWith.coll, pipeline: stage.$unionWith.pipeline ?? [] };
  if (!('$lookup' in stage)) return undefined;
  const { from, foreignField: key, pipeline = [] } = stage.$lookup;
  return { from, ...(key !== undefined && { key }), pipeline };
}
