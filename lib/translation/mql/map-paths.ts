import { isDocument, type Mql, type MqlDocument } from './mql';
import { isUnder, makesNewDocuments } from './pipeline-paths';

/** Replaces a path, and what lies below it, wherever a stage reads it. */
export const renamePath = (stage: MqlDocument, from: string, to: string): MqlDocument =>
  mapPaths(stage, (path) => (isUnder(path, from) ? to + path.slice(from.length) : path));

/** Every path that a stage reads, mapped; what it writes keeps its name. */
export function mapPaths(stage: MqlDocument, map: (path: string) => string): MqlDocument {
  const [[name, operand] = ['', null]] = Object.entries(stage);
  switch (name) {
    case '$match':
      return { $match: inMatch(operand, map) };
    case '$sort':
      return { $sort: keys(operand as MqlDocument, map) };
    case '$unwind':
      return {
        $unwind:
          typeof operand === 'string'
            ? `$${map(operand.slice(1))}`
            : {
                ...(operand as MqlDocument),
                path: `$${map(String((operand as MqlDocument)['path']).slice(1))}`,
              },
      };
    case '$lookup': {
      const lookup = operand as MqlDocument;
      const local =
        typeof lookup['localField'] === 'string' ? { localField: map(lookup['localField']) } : {};
      const variables =
        lookup['let'] === undefined ? {} : { let: inExpression(lookup['let'], map) };
      return { $lookup: { ...lookup, ...local, ...variables } };
    }
    case '$setWindowFields': {
      const window = operand as MqlDocument;
      const sortBy = window['sortBy'];
      return {
        $setWindowFields: {
          ...(inExpression(window, map) as MqlDocument),
          ...(isDocument(sortBy) && { sortBy: keys(sortBy, map) }),
        },
      };
    }
    case '$project':
    case '$group':
    case '$set':
    case '$addFields':
    case '$replaceWith':
    case '$replaceRoot':
      return { [name]: inExpression(operand, map) };
    case '$facet':
      return {
        $facet: Object.fromEntries(
          Object.entries(operand as object).map(([key, inner]) => [
            key,
            upToNew(inner as MqlDocument[], map),
          ]),
        ),
      };
    default:
      return stage;
  }
}

function upToNew(stages: readonly MqlDocument[], map: (path: string) => string): MqlDocument[] {
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
    Object.entries(value).map(([key, inner]) => [key, mapEntry(key, inner, map)]),
  );
}

function inMatch(value: Mql | undefined, map: (path: string) => string): Mql {
  if (!isDocument(value)) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]): [string, Mql] => {
      if (key === '$expr') return [key, inExpression(inner, map)];
      if (key === '$and' || key === '$or' || key === '$nor')
        return [key, (inner as readonly Mql[]).map((part) => inMatch(part, map))];
      return [map(key), inner];
    }),
  );
}

function mapEntry(key: string, value: Mql, map: (path: string) => string): Mql {
  if (key === '$literal') return value;
  // `sortBy` of $top and its like names paths without a dollar.
  return key === 'sortBy' && isDocument(value) ? keys(value, map) : inExpression(value, map);
}
