import { isDocument, type Mql, type MqlDocument } from './mql';
import { isOneOf, type Group, type Pipeline, type Stage, type Unwind } from './stage';

/** `a` and `a.b` share data; `a` and `ab` do not. */
export const overlaps = (a: string, b: string): boolean =>
  a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);

/** `path` lies at or below `root`. */
export const isUnder = (path: string, root: string): boolean =>
  path === root || path.startsWith(`${root}.`);

/** The path of a field in a document that is itself at `base`; the root document is at ''. */
export const under = (base: string, path: string): string =>
  base === '' ? path : `${base}.${path}`;

/** Paths of the current document that an expression reads; `*` when it reads the whole document. */
export function pathsInExpression(expression: unknown): Set<string> {
  const found = new Set<string>();
  visitExpression(expression, found);
  return found;
}

function visitExpression(value: unknown, found: Set<string>): void {
  if (typeof value === 'string') {
    if (/^\$\$(ROOT|CURRENT)(\.|$)/.test(value))
      found.add(value.includes('.') ? value.slice(value.indexOf('.') + 1) : '*');
    else if (value.startsWith('$') && !value.startsWith('$$')) found.add(value.slice(1));
    return;
  }
  if (Array.isArray(value)) {
    for (const inner of value) visitExpression(inner, found);
    return;
  }
  if (!isDocument(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$literal') continue;
    if (key === '$getField') found.add('*');
    visitExpression(inner, found);
  }
}

/** Paths that a query document reads. */
export function pathsInMatch(match: unknown): Set<string> {
  const found = new Set<string>();
  const visit = (document: unknown): void => {
    if (!isDocument(document)) return;
    for (const [key, value] of Object.entries(document)) {
      if (key === '$expr') visitExpression(value, found);
      else if (key === '$and' || key === '$or' || key === '$nor')
        for (const part of value as readonly unknown[]) visit(part);
      else if (key.startsWith('$')) found.add('*');
      else found.add(key);
    }
  };
  visit(match);
  return found;
}

/**
 * Paths that a stage reads; sub-pipelines read the current document through `let` and `localField`
 * only.
 */
export function pathsReadBy(stage: Stage): Set<string> {
  if ('$match' in stage) return pathsInMatch(stage.$match);
  if ('$sort' in stage) return new Set(Object.keys(stage.$sort));
  if ('$limit' in stage || '$skip' in stage || '$count' in stage || '$unset' in stage)
    return new Set();
  if ('$unwind' in stage) return new Set([unwindPath(stage)]);
  if ('$lookup' in stage) {
    const { localField, let: variables } = stage.$lookup;
    const found = pathsInExpression(variables ?? {});
    if (localField !== undefined) found.add(localField);
    return found;
  }
  if ('$project' in stage) return pathsInProject(stage.$project);
  if ('$setWindowFields' in stage) {
    const { partitionBy, sortBy, output } = stage.$setWindowFields;
    const found = pathsInExpression([partitionBy ?? null, output]);
    for (const key of Object.keys(sortBy ?? {})) found.add(key);
    return found;
  }
  if ('$group' in stage) return pathsInExpression(stage.$group);
  if ('$set' in stage) return pathsInExpression(stage.$set);
  if ('$addFields' in stage) return pathsInExpression(stage.$addFields);
  if ('$replaceRoot' in stage) return pathsInExpression(stage.$replaceRoot);
  if ('$replaceWith' in stage) return pathsInExpression(stage.$replaceWith);
  if ('$facet' in stage)
    return new Set(Object.values(stage.$facet).flatMap((inner) => [...pathsReadByAll(inner)]));
  return new Set(['*']);
}

function pathsInProject(project: MqlDocument): Set<string> {
  const found = new Set<string>();
  for (const [field, value] of Object.entries(project)) {
    if (value === 1 || value === true) found.add(field);
    else if (value === 0 || value === false) {
      if (field !== '_id') found.add('*');
    } else visitExpression(value, found);
  }
  return found;
}

/**
 * Paths of the input that some stage reads, up to the first one that makes new documents; `*` when
 * the input's own fields come out at the end.
 */
export function pathsReadByAll(stages: Pipeline): Set<string> {
  const found = new Set<string>();
  for (const stage of stages) {
    for (const path of pathsReadBy(stage)) found.add(path);
    if (makesNewDocuments(stage)) return found;
  }
  found.add('*');
  return found;
}

/** Behind this stage only what it names is left. */
export function makesNewDocuments(stage: Stage): boolean {
  if ('$project' in stage)
    return Object.entries(stage.$project).some(
      ([field, value]) => !(value === 0 || value === false) && !(field === '_id' && value === 0),
    );
  return isOneOf(stage, [
    '$group',
    '$count',
    '$replaceRoot',
    '$replaceWith',
    '$facet',
    '$sortByCount',
    '$bucket',
    '$bucketAuto',
  ]);
}

export const unwindPath = ({ $unwind }: { readonly $unwind: string | Unwind }): string =>
  (typeof $unwind === 'string' ? $unwind : $unwind.path).slice(1);

/** A plain `$unwind`, which drops documents without entries. */
export const dropsEmpty = ({ $unwind }: { readonly $unwind: string | Unwind }): boolean =>
  typeof $unwind === 'string' || Object.keys($unwind).length === 1;

/** Paths that a stage writes; undefined where that cannot be said. */
export function pathsWrittenBy(stage: Stage): readonly string[] | undefined {
  if (isOneOf(stage, ['$match', '$sort', '$limit', '$skip'])) return [];
  if ('$unwind' in stage) {
    const { $unwind } = stage;
    const index = typeof $unwind === 'string' ? undefined : $unwind.includeArrayIndex;
    return [unwindPath(stage), ...(index === undefined ? [] : [index])];
  }
  if ('$lookup' in stage) return [stage.$lookup.as];
  if ('$set' in stage) return Object.keys(stage.$set);
  return '$addFields' in stage ? Object.keys(stage.$addFields) : undefined;
}

/**
 * `$unwind` of one of these arrays at the top of a document, as it is stored, and the `$group` that
 * follows.
 */
export function storedArrayGroup(
  pipeline: Pipeline,
  index: number,
  arrays: readonly string[],
): { readonly path: string; readonly group: Group } | undefined {
  const [unwind, next] = pipeline.slice(index, index + 2);
  if (!unwind || !('$unwind' in unwind) || !dropsEmpty(unwind)) return undefined;
  if (!next || !('$group' in next)) return undefined;
  const path = unwindPath(unwind);
  if (path.includes('.') || !arrays.includes(path)) return undefined;
  const isStored = pipeline
    .slice(0, index)
    .every(
      (stage) =>
        !('$lookup' in stage) &&
        (pathsWrittenBy(stage) ?? [path]).every(
          (written) => !isUnder(path, written) && !isUnder(written, path),
        ),
    );
  return isStored ? { path, group: next.$group } : undefined;
}

/** Whether an expression reads an array, or anything in it. */
export const readsArray = (value: Mql, path: string): boolean =>
  [...pathsInExpression(value)].some((read) => read === '*' || isUnder(read, path));

/** The path that a field of `$project` only repeats; undefined where it is computed. */
export function projectedPath(name: string, value: Mql): string | undefined {
  if (value === 1 || value === true) return name;
  return typeof value === 'string' && /^\$[^$]/.test(value) ? value.slice(1) : undefined;
}
