import { sameMql } from '../mql/same-mql';
import { dropsEmpty, unwindPath } from '../mql/pipeline-paths';
import { isDocument, type Mql, type MqlDocument } from '../mql/mql';
import type { Lookup, Pipeline, Stage } from '../mql/stage';
import type { Join, JoinKind, OneRow, PlanNode, PlanNodes } from './plan';

/**
 * The plan that a pipeline carries out, whoever wrote it: `writePlan` gives the pipeline again. A
 * stage that no node stands for is one of kind `written`.
 */
export function readPlan(pipeline: Pipeline): PlanNodes {
  const nodes: PlanNode[] = [];
  for (let index = 0; index < pipeline.length;) {
    const { node, length } = readNode(pipeline.slice(index));
    nodes.push(node);
    index += length;
  }
  return nodes;
}

/** A node, and of how many stages it is. */
interface Read {
  readonly node: PlanNode;
  readonly length: number;
}

function readNode(stages: Pipeline): Read {
  const [stage, next] = stages;
  if (!stage) throw new Error('there is a stage to read');
  if ('$lookup' in stage) return readJoin(stage.$lookup, stages) ?? written(stage);
  if ('$facet' in stage && next) {
    const oneRow = readOneRow(stage.$facet, next);
    if (oneRow) return { node: oneRow, length: 2 };
  }
  const node = readOne(stage);
  return node ? { node, length: 1 } : written(stage);
}

const written = (stage: Stage): Read => ({ node: { kind: 'written', stage }, length: 1 });

function readOne(stage: Stage): PlanNode | undefined {
  if ('$match' in stage) return { kind: 'filter', where: stage.$match };
  if ('$set' in stage) return { kind: 'compute', fields: stage.$set };
  if ('$sort' in stage) return { kind: 'sort', keys: stage.$sort };
  if ('$project' in stage) return { kind: 'project', fields: stage.$project };
  if ('$setWindowFields' in stage) return { kind: 'window', ...stage.$setWindowFields };
  if ('$replaceRoot' in stage) return { kind: 'replace', document: stage.$replaceRoot.newRoot };
  if ('$skip' in stage)
    return typeof stage.$skip === 'number' ? { kind: 'skip', rows: stage.$skip } : undefined;
  if ('$limit' in stage)
    return typeof stage.$limit === 'number' ? { kind: 'limit', rows: stage.$limit } : undefined;
  if ('$unset' in stage)
    return typeof stage.$unset === 'string' ? undefined : { kind: 'discard', fields: stage.$unset };
  if ('$group' in stage) {
    const { _id, ...accumulators } = stage.$group;
    return { kind: 'aggregate', key: _id, accumulators };
  }
  if ('$unwind' in stage) {
    const kind = unwindKind(stage);
    return kind && { kind: 'unwind', path: unwindPath(stage), keepsEmpty: kind === 'left' };
  }
  return undefined;
}

function unwindKind(stage: Extract<Stage, { $unwind: unknown }>): 'inner' | 'left' | undefined {
  if (dropsEmpty(stage)) return 'inner';
  const keepsEmpty = { path: `$${unwindPath(stage)}`, preserveNullAndEmptyArrays: true };
  return sameMql(stage.$unwind, keepsEmpty) ? 'left' : undefined;
}

function readJoin(lookup: Lookup, stages: Pipeline): Read | undefined {
  const { from, localField, foreignField, let: variables, pipeline, as } = lookup;
  if ((localField === undefined) !== (foreignField === undefined)) return undefined;
  const kept = stages[1] && keptArray(stages[1], as);
  const behind = stages[kept === undefined ? 1 : 2];
  const join = behind ? joinKind(behind, as) : 'array';
  const node: Join = {
    kind: 'join',
    join,
    scan: from,
    ...(localField !== undefined &&
      foreignField !== undefined && {
        key: { localField, foreignField },
      }),
    variables: variables ?? {},
    nodes: readPlan(pipeline ?? []),
    as,
    ...(kept !== undefined && { kept }),
  };
  return { node, length: 1 + Number(kept !== undefined) + Number(join !== 'array') };
}

/** `{$set: {as: {$concatArrays: ['$array', '$as']}}}`. */
function keptArray(stage: Stage, as: string): string | undefined {
  const value = '$set' in stage ? stage.$set[as] : undefined;
  const arrays = isDocument(value) ? value['$concatArrays'] : undefined;
  const [array] = Array.isArray(arrays) ? (arrays as readonly Mql[]) : [];
  return typeof array === 'string' &&
    sameMql(stage, { $set: { [as]: { $concatArrays: [array, `$${as}`] } } })
    ? array.slice(1)
    : undefined;
}

function joinKind(behind: Stage, as: string): JoinKind {
  if ('$unwind' in behind && unwindPath(behind) === as) return unwindKind(behind) ?? 'array';
  return '$match' in behind && sameMql(behind.$match, { [as]: { $ne: [] } }) ? 'semi' : 'array';
}

function readOneRow(facet: Readonly<Record<string, Pipeline>>, next: Stage): OneRow | undefined {
  const { rows, ...others } = facet;
  if (!rows || Object.keys(others).length > 0) return undefined;
  const defaults = fieldDefault(next) ?? rowDefaults(next);
  return defaults && { kind: 'oneRow', nodes: readPlan(rows), defaults };
}

/** `{$project: {n: {$ifNull: [{$first: '$rows.n'}, 0]}}}`. */
function fieldDefault(stage: Stage): OneRow['defaults'] | undefined {
  const [[field, value] = ['', null], ...more] =
    '$project' in stage ? Object.entries(stage.$project) : [];
  const guarded = isDocument(value) ? value['$ifNull'] : undefined;
  const [first = null, otherwise = null, ...others] = Array.isArray(guarded)
    ? (guarded as readonly Mql[])
    : [];
  const path = isDocument(first) ? first['$first'] : undefined;
  return more.length === 0 &&
    others.length === 0 &&
    typeof path === 'string' &&
    path.startsWith('$rows.')
    ? { of: 'field', field, from: path.slice('$rows.'.length), value: otherwise }
    : undefined;
}

/** `{$replaceWith: {$mergeObjects: [<defaults>, {$first: '$rows'}]}}`. */
function rowDefaults(stage: Stage): OneRow['defaults'] | undefined {
  const value = '$replaceWith' in stage ? stage.$replaceWith : null;
  const merged = isDocument(value) ? value['$mergeObjects'] : undefined;
  const [fields = null, first = null, ...more] = Array.isArray(merged)
    ? (merged as readonly Mql[])
    : [];
  return more.length === 0 && isDocument(fields) && sameMql(first, { $first: '$rows' })
    ? { of: 'row', fields: fields as MqlDocument }
    : undefined;
}
