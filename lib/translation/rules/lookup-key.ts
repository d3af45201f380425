import type { MqlDocument, Mql } from '../mql';
import { isDocument } from '../mql';
import { makesNewDocuments, pathsReadByAll, unwindPath, dropsEmpty, pathsWrittenBy, overlaps, isUnder, stageName } from '../pipeline-paths';
import { columnProfile } from '../../sqlite/profile';
import { columnFields } from '../design-fields';
import { columnType, INTEGER, REAL, TEXT } from '../value-type';
import type { Rule, RuleContext } from '../rule';

/**
 * Behind `$lookup` and `$unwind` the foreign key field equals the local one: reading the local field instead can
 * make the join unnecessary.
 */
export const lookupKey: Rule = {
  name: 'lookup-key',
  apply(pipeline, context) {
    for (const at of pipeline.keys()) {
      const join = simpleJoin(pipeline, at);
      if (!join || !isSameKind(join, pipeline.slice(0, at), context)) continue;
      const foreign = `${join.as}.${join.foreignField}`;
      let end = at + 2;
      while (end < pipeline.length) {
        const next = pipeline[end];
        if (!next || (pathsWrittenBy(next) ?? []).some((path) => overlaps(path, foreign) || overlaps(path, join.localField))) break;
        end++;
        if (makesNewDocuments(next)) break;
      }
      const scope = pipeline.slice(at + 2, end);
      const read = new Set(scope.flatMap((inner) => [...pathsReadByAll([inner])]));
      if (!read.has(foreign)) continue;
      const replaced = scope.map((inner) => renamePath(inner, foreign, join.localField));
      return {
        pipeline: [...pipeline.slice(0, at + 2), ...replaced, ...pipeline.slice(end)],
        reason: `${foreign} equals ${join.localField}, by which it was joined.`,
      };
    }
    return undefined;
  },
};

/**
 * Equal values of one storage class are the same value in every expression, and an expression that moves in front of
 * the join meets nothing there that it could fail on.
 */
function isSameKind({ from, localField, foreignField }: SimpleJoin, before: readonly MqlDocument[], { collection, design, profile }: RuleContext): boolean {
  if (!before.every((stage) => ['$match', '$unwind', '$lookup', '$sort', '$limit', '$skip', '$set'].includes(stageName(stage)))) return false;
  const joined = new Map(before.flatMap((stage) => (isDocument(stage['$lookup']) ? [[String(stage['$lookup']['as']), String(stage['$lookup']['from'])] as const] : [])));
  const [first = '', ...rest] = localField.split('.');
  const owner = joined.get(first);
  const kinds = (of: string, path: string): number => {
    const field = columnFields(design).find((candidate) => candidate.collection === of && candidate.path === path);
    return field?.transform.kind === 'identity' ? columnType(columnProfile(profile, field.table, field.column)).kinds : 0;
  };
  const local = owner === undefined ? kinds(collection, localField) : kinds(owner, rest.join('.'));
  return local === kinds(from, foreignField) && [INTEGER, REAL, TEXT].includes(local);
}

export interface SimpleJoin {
  readonly as: string;
  readonly from: string;
  readonly localField: string;
  readonly foreignField: string;
}

/** `$lookup` by one equality and nothing else, and the `$unwind` that makes it an inner join. */
export function simpleJoin(pipeline: readonly MqlDocument[], at: number): SimpleJoin | undefined {
  const lookup = pipeline[at]?.['$lookup'];
  const unwind = pipeline[at + 1];
  if (!isDocument(lookup) || !unwind || !('$unwind' in unwind) || !dropsEmpty(unwind)) return undefined;
  const { as, from, localField, foreignField, pipeline: inner } = lookup;
  if (typeof as !== 'string' || typeof from !== 'string' || typeof localField !== 'string' || typeof foreignField !== 'string' || inner !== undefined) return undefined;
  return unwindPath(unwind) === as ? { as, from, localField, foreignField } : undefined;
}

/** Replaces a path wherever a stage reads it. */
export function renamePath(stage: MqlDocument, from: string, to: string): MqlDocument {
  const [[name, operand] = ['', null]] = Object.entries(stage);
  switch (name) {
    case '$match':
      return { $match: renameInMatch(operand, from, to) };
    case '$sort':
      return { $sort: Object.fromEntries(Object.entries(operand as object).map(([path, direction]) => [renamed(path, from, to), direction as Mql])) };
    case '$lookup': {
      const lookup = operand as MqlDocument;
      const local = typeof lookup['localField'] === 'string' ? { localField: renamed(lookup['localField'], from, to) } : {};
      const variables = lookup['let'] === undefined ? {} : { let: renameInExpression(lookup['let'], from, to) };
      return { $lookup: { ...lookup, ...local, ...variables } };
    }
    case '$setWindowFields': {
      const window = operand as MqlDocument;
      const sortBy = window['sortBy'];
      const sorted = isDocument(sortBy) ? { sortBy: Object.fromEntries(Object.entries(sortBy).map(([path, direction]) => [renamed(path, from, to), direction])) } : {};
      return { $setWindowFields: { ...(renameInExpression(window, from, to) as MqlDocument), ...sorted } };
    }
    case '$project':
    case '$group':
    case '$set':
    case '$addFields':
    case '$replaceWith':
    case '$replaceRoot':
      return { [name]: renameInExpression(operand, from, to) };
    case '$facet':
      return { $facet: Object.fromEntries(Object.entries(operand as object).map(([key, inner]) => [key, renameUpToNew(inner as MqlDocument[], from, to)])) };
    default:
      return stage;
  }
}

function renameUpToNew(stages: readonly MqlDocument[], from: string, to: string): MqlDocument[] {
  const out: MqlDocument[] = [];
  let done = false;
  for (const stage of stages) {
    out.push(done ? stage : renamePath(stage, from, to));
    done ||= makesNewDocuments(stage);
  }
  return out;
}

const renamed = (path: string, from: string, to: string): string => (isUnder(path, from) ? to + path.slice(from.length) : path);

function renameInExpression(value: Mql, from: string, to: string): Mql {
  if (typeof value === 'string') return value.startsWith('$') && !value.startsWith('$$') ? `$${renamed(value.slice(1), from, to)}` : value;
  if (Array.isArray(value)) return (value as readonly Mql[]).map((inner) => renameInExpression(inner, from, to));
  if (!isDocument(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, key === '$literal' ? inner : renameInExpression(inner, from, to)]));
}

function renameInMatch(value: Mql | undefined, from: string, to: string): Mql {
  if (!isDocument(value)) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]): [string, Mql] => {
      if (key === '$expr') return [key, renameInExpression(inner, from, to)];
      if (key === '$and' || key === '$or' || key === '$nor') return [key, (inner as readonly Mql[]).map((part) => renameInMatch(part, from, to))];
      return [renamed(key, from, to), inner];
    }),
  );
}
