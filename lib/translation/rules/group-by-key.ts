import { logicalDesignOf } from '../../design/model/document-design';
import { isTotal, tableProfile, relationshipById } from '../../sqlite/profile/profile';
import { columnFields, computedPaths } from '../../design/model/column-fields';
import { renamePath } from '../mql/map-paths';
import { isDocument, type Mql, type MqlDocument } from '../mql/mql';
import { isUnder, pathsReadBy, pathsWrittenBy, projectedPath } from '../mql/pipeline-paths';
import { isOneOf, type Pipeline, type Stage } from '../mql/stage';
import { replaceStages, type Rule, type RuleContext } from './rule';
import { REASONS } from './reasons';

/**
 * Groups of one document each: every accumulator is the document's own value, and the `$group` a
 * `$project`.
 */
export const groupByKey: Rule = {
  name: 'group-by-key',
  apply(pipeline, context) {
    for (const [index, stage] of pipeline.entries()) {
      if (!('$group' in stage) || Object.keys(stage.$group).length < 2) continue;
      const group = stage.$group;
      const key = group._id;
      if (typeof key !== 'string' || !isUniqueKey(key, context)) continue;
      const path = key.slice(1);
      const keepsRows = (before: Stage): boolean =>
        isOneOf(before, ['$match', '$sort', '$limit', '$skip', '$lookup', '$set']) &&
        (pathsWrittenBy(before) ?? [path]).every((written) => !isUnder(path, written));
      if (!pipeline.slice(0, index).every(keepsRows)) continue;
      // A field that an earlier stage wrote is not the design's.
      const changed = pipeline.slice(0, index).flatMap((before) => pathsWrittenBy(before) ?? []);
      const values = new Map<string, Mql>([['_id', key]]);
      for (const [name, accumulator] of Object.entries(group)) {
        if (name === '_id') continue;
        const value = ofOneDocument(accumulator, changed, context);
        if (value === undefined) break;
        values.set(name, value);
      }
      if (values.size < Object.keys(group).length) continue;
      const { stages, count } = readThrough(pipeline.slice(index + 1), values);
      return {
        pipeline: replaceStages(pipeline, index, 1 + count, ...stages),
        reason: REASONS.groupByKey(path),
      };
    }
    return undefined;
  },
};

/** `_id`, or a column of the root that no two rows share and no row lacks. */
function isUniqueKey(key: string, { collection, design, profile }: RuleContext): boolean {
  if (key === '$_id') return true;
  const logical = logicalDesignOf(design, collection);
  const column = columnFields(design).find(
    (field) =>
      field.collection === collection &&
      `$${field.path}` === key &&
      field.arrays.length === 0 &&
      field.table === logical?.rootTable,
  );
  const table = tableProfile(profile, column?.table);
  const profiled = table?.columns.find(({ column: name }) => name === column?.column);
  return (
    profiled?.stored.null === 0 &&
    (table?.keys ?? []).some((own) => own.length === 1 && own[0] === column?.column)
  );
}

const NUMERIC = ['$size', '$sum', '$avg', '$min', '$max'];

function ofOneDocument(
  accumulator: Mql,
  changed: readonly string[],
  context: RuleContext,
): Mql | undefined {
  if (!isDocument(accumulator)) return undefined;
  const [[operator = '', operand = null] = [], ...others] = Object.entries(accumulator);
  if (others.length > 0) return undefined;
  const path =
    typeof operand === 'string' && /^\$[^$]/.test(operand) ? operand.slice(1) : undefined;
  const isStored =
    path !== undefined && !changed.some((written) => isUnder(path, written))
      ? storedAt(path, context)
      : undefined;
  switch (operator) {
    case '$first':
    case '$min':
    case '$max':
      if (isStored) return operand;
      // These operators add up an array that they are given, and $first gives null where there is
      // nothing.
      if (isDocument(operand) && NUMERIC.includes(Object.keys(operand)[0] ?? '')) return operand;
      return operator === '$first' ? { $ifNull: [operand, null] } : undefined;

    case '$sum':
      if (operand === 1) return { $literal: 1 };
      if (isStored) return isStored.isNumber ? operand : { $sum: operand };
      if (!isDocument(operand)) return undefined;
      if (['$size', '$sum'].includes(Object.keys(operand)[0] ?? '')) return operand;
      return isCountingCondition(operand) ? operand : undefined;
    case '$avg':
      if (isDocument(operand) && '$avg' in operand) return operand;
      if (isStored) {
        return isStored.isAverage ? operand : { $avg: operand };
      }
      return undefined;

    default:
      return undefined;
  }
}

const isCountingCondition = ({ $cond: cond }: MqlDocument): boolean =>
  Array.isArray(cond) && cond.slice(1).every((value) => value === 0 || value === 1);

/** A field that every root document has, null where the source has none. */
function storedAt(
  path: string,
  { collection, design, profile }: RuleContext,
): { readonly isNumber: boolean; readonly isAverage: boolean } | undefined {
  const computed = computedPaths(design, collection).find((field) => field.path === path);
  if (computed) {
    const relationship = relationshipById(profile, computed.field.relationship);
    const isCount = computed.field.aggregate === 'count';
    const never =
      relationship && isTotal(relationship) && relationship.fanOut.childlessParents === 0;
    const stored = tableProfile(profile, relationship?.childTable)?.columns.find(
      ({ column }) => column === computed.field.column,
    )?.stored;
    return {
      isNumber:
        isCount || (computed.field.aggregate === 'sum' && never === true && stored?.null === 0),
      isAverage: computed.field.aggregate === 'avg',
    };
  }
  const column = columnFields(design).find(
    (field) =>
      field.collection === collection &&
      field.path === path &&
      field.arrays.length === 0 &&
      (!path.includes('.') || path === '_id'),
  );
  const stored =
    column &&
    tableProfile(profile, column.table)?.columns.find(({ column: name }) => name === column.column)
      ?.stored;
  return (
    stored && {
      isNumber:
        column.transform.kind === 'identity' &&
        stored.null === 0 &&
        stored.text === 0 &&
        stored.blob === 0,
      isAverage: false,
    }
  );
}

/**
 * The stages up to the next `$project`, reading the documents' own fields; where they cannot, a
 * `$project` of its own.
 */
function readThrough(
  following: Pipeline,
  values: ReadonlyMap<string, Mql>,
): { readonly stages: Pipeline; readonly count: number } {
  const alone: Stage = {
    $project: Object.fromEntries(
      [...values].map(([name, value]) => [name, name === '_id' && value === '$_id' ? 1 : value]),
    ),
  };
  const end = following.findIndex(
    (stage) => !isOneOf(stage, ['$match', '$sort', '$limit', '$skip']),
  );
  const last = following[end];
  const project = last && '$project' in last ? last.$project : undefined;
  if (project?.['_id'] !== 0) return { stages: [alone], count: 0 };
  const paths = new Map(
    [...values].flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value.slice(1)] as const] : [],
    ),
  );
  // Renaming one by one must not meet a name that it has just made.
  const isClear = [...paths].every(
    ([name, path]) => name === path || !values.has(path) || paths.get(path) === path,
  );
  if (!isClear) return { stages: [alone], count: 0 };
  const renamed: Stage[] = [];
  for (const stage of following.slice(0, end)) {
    if (![...pathsReadBy(stage)].every((path) => paths.has(path)))
      return { stages: [alone], count: 0 };
    renamed.push(
      [...paths].reduce(
        (current, [name, path]) => (name === path ? current : renamePath(current, name, path)),
        stage,
      ),
    );
  }
  const out: Record<string, Mql> = { _id: 0 };
  for (const [name, value] of Object.entries(project)) {
    if (name === '_id') continue;
    const source = projectedPath(name, value);
    const inner = source === undefined ? undefined : values.get(source);
    if (inner === undefined) return { stages: [alone], count: 0 };
    out[name] = inner;
  }
  const [[only = '', value] = []] = Object.entries(out).slice(1);
  if (Object.keys(out).length === 2 && value === `$${only}`) out[only] = 1;
  return { stages: [...renamed, { $project: out }], count: end + 1 };
}
