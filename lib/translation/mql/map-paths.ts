import { isDocument, type Mql, type MqlDocument } from './mql';
import { isUnder, makesNewDocuments, unwindPath } from './pipeline-paths';
import type { Lookup, Pipeline, Stage } from './stage';

/** Replaces a path, and what lies below it, wherever a stage reads it. */
export const renamePath = (stage: Stage, from: string, to: string): Stage =>
  mapPaths(stage, (path) => (isUnder(path, from) ? to + path.slice(from.length) : path));

/** Every path that a stage reads, mapped; what it writes keeps its name. */
export function mapPaths(stage: Stage, map: (path: string) => string): Stage {
  if ('$match' in stage) return { $match: mapMatch(stage.$match, map) };
  if ('$sort' in stage) return { $sort: keys(stage.$sort, map) };
  if ('$unwind' in stage) {
    const { $unwind } = stage;
    const path = `$${map(unwindPath(stage))}`;
    return { $unwind: typeof $unwind === 'string' ? path : { ...$unwind, path } };
  }
  if ('$lookup' in stage) return { $lookup: mapLookup(stage.$lookup, map) };
  if ('$setWindowFields' in stage) {
    const { partitionBy, sortBy, output } = stage.$setWindowFields;
    return {
      $setWindowFields: {
        ...(partitionBy !== undefined && { partitionBy: inExpression(partitionBy, map) }),
        ...(sortBy && { sortBy: keys(sortBy, map) }),
        output: inFields(output, map),
      },
    };
  }
  if ('$project' in stage) return { $project: inFields(stage.$project, map) };
  if ('$group' in stage) return { $group: inFields(stage.$group, map) };
  if ('$set' in stage) return { $set: inFields(stage.$set, map) };
  if ('$addFields' in stage) return { $addFields: inFields(stage.$addFields, map) };
  if ('$replaceWith' in stage) return { $replaceWith: inExpression(stage.$replaceWith, map) };
  if ('$replaceRoot' in stage)
    return { $replaceRoot: { newRoot: inExpression(stage.$replaceRoot.newRoot, map) } };
  if ('$facet' in stage)
    return {
      $facet: Object.fromEntries(
        Object.entries(stage.$facet).map(([name, inner]) => [name, upToNew(inner, map)]),
      ),
    };
  return stage;
}

function mapLookup(lookup: Lookup, map: (path: string) => string): Lookup {
  const { localField, let: variables } = lookup;
  return {
    ...lookup,
    ...(localField !== undefined && { localField: map(localField) }),
    ...(variables && { let: inFields(variables, map) }),
  };
}

function upToNew(stages: Pipeline, map: (path: string) => string): Pipeline {
  const end = stages.findIndex(makesNewDocuments);
  return stages.map((stage, index) => (end < 0 || index <= end ? mapPaths(stage, map) : stage));
}

const keys = (document: MqlDocument, map: (path: string) => string): MqlDocument =>
  Object.fromEntries(Object.entries(document).map(([path, value]) => [map(path), value]));

function inExpression(value: Mql, map: (path: string) => string): Mql {
  if (typeof value === 'string')
    return value.startsWith('$') && !value.startsWith('$$') ? `$${map(value.slice(1))}` : value;
  if (Array.isArray(value))
    return (value as readonly Mql[]).map((inner) => inExpression(inner, map));
  if (!isDocument(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, inOperator(key, inner, map)]),
  );
}

/** Accumulators whose `sortBy` names paths of the document, without a dollar. */
const SORTED = ['$top', '$topN', '$bottom', '$bottomN'];

function inOperator(operator: string, operand: Mql, map: (path: string) => string): Mql {
  if (operator === '$literal') return operand;
  if (!SORTED.includes(operator) || !isDocument(operand)) return inExpression(operand, map);
  const { sortBy, ...others } = operand;
  return { ...(isDocument(sortBy) && { sortBy: keys(sortBy, map) }), ...inFields(others, map) };
}

/** The same fields, each with its expression mapped. */
const inFields = <Fields extends MqlDocument>(fields: Fields, map: (path: string) => string) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, inner]) => [name, inExpression(inner, map)]),
  ) as Fields;

/** A filter with every path mapped. */
export function mapMatch(match: MqlDocument, map: (path: string) => string): MqlDocument {
  return Object.fromEntries(
    Object.entries(match).map(([key, inner]): [string, Mql] => {
      if (key === '$expr') return [key, inExpression(inner, map)];
      if (key === '$and' || key === '$or' || key === '$nor')
        return [key, (inner as readonly MqlDocument[]).map((part) => mapMatch(part, map))];
      return [map(key), inner];
    }),
  );
}
