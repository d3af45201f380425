import type { Mql, MqlDocument } from './mql';
import { isDocument } from './mql';

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
export function pathsReadBy(stage: MqlDocument): Set<string> {
  const [name = '', operand] = Object.entries(stage)[0] ?? [];
  switch (name) {
    case '$match':
      return pathsInMatch(operand);
    case '$sort':
      return new Set(Object.keys(operand as object));
    case '$limit':
    case '$skip':
    case '$count':
    case '$unionWith':
      return new Set(name === '$unionWith' ? ['*'] : []);
    case '$unset':
      return new Set();
    case '$unwind':
      return new Set([unwindPath(stage) ?? '*']);
    case '$lookup': {
      const { localField, let: variables } = operand as { localField?: string; let?: unknown };
      const found = pathsInExpression(variables ?? {});
      if (localField !== undefined) found.add(localField);
      return found;
    }
    case '$project': {
      const found = new Set<string>();
      for (const [field, value] of Object.entries(operand as object)) {
        if (value === 1 || value === true) found.add(field);
        else if (value === 0 || value === false) {
          if (field !== '_id') found.add('*');
        } else visitExpression(value, found);
      }
      return found;
    }
    case '$setWindowFields': {
      const { partitionBy, sortBy, output } = operand as {
        partitionBy?: unknown;
        sortBy?: object;
        output: unknown;
      };
      const found = pathsInExpression([partitionBy ?? null, output]);
      for (const key of Object.keys(sortBy ?? {})) found.add(key);
      return found;
    }
    case '$group':
    case '$set':
    case '$addFields':
    case '$replaceRoot':
    case '$replaceWith':
      return pathsInExpression(operand);
    case '$facet': {
      const found = new Set<string>();
      for (const pipeline of Object.values(operand as object))
        for (const path of pathsReadByAll(pipeline as MqlDocument[])) found.add(path);
      return found;
    }
    default:
      return new Set(['*']);
  }
}

/**
 * Paths of the input that some stage reads, up to the first one that makes new documents; `*` when
 * the input's own fields come out at the end.
 */
export function pathsReadByAll(stages: readonly MqlDocument[]): Set<string> {
  const found = new Set<string>();
  for (const stage of stages) {
    for (const path of pathsReadBy(stage)) found.add(path);
    if (makesNewDocuments(stage)) return found;
  }
  found.add('*');
  return found;
}

/** Behind this stage only what it names is left. */
export function makesNewDocuments(stage: MqlDocument): boolean {
  const name = Object.keys(stage)[0] ?? '';
  if (name === '$project')
    return Object.entries(stage['$project'] as object).some(
      ([field, value]) => !(value === 0 || value === false) && !(field === '_id' && value === 0),
    );
  return [
    '$group',
    '$count',
    '$replaceRoot',
    '$replaceWith',
    '$facet',
    '$sortByCount',
    '$bucket',
    '$bucketAuto',
  ].includes(name);
}

export function unwindPath(stage: MqlDocument): string | undefined {
  const operand = stage['$unwind'];
  const path = isDocument(operand) ? operand['path'] : operand;
  return typeof path === 'string' ? path.slice(1) : undefined;
}

/** A plain `$unwind`, which drops documents without entries. */
export const dropsEmpty = (stage: MqlDocument): boolean =>
  typeof stage['$unwind'] === 'string' ||
  (isDocument(stage['$unwind']) && Object.keys(stage['$unwind']).length === 1);

/** Paths that a stage writes. */
export function pathsWrittenBy(stage: MqlDocument): readonly string[] | undefined {
  const [name = '', operand] = Object.entries(stage)[0] ?? [];
  switch (name) {
    case '$match':
    case '$sort':
    case '$limit':
    case '$skip':
      return [];
    case '$unwind': {
      const path = unwindPath(stage);
      const index = isDocument(operand) ? operand['includeArrayIndex'] : undefined;
      return path === undefined ? undefined : [path, ...(typeof index === 'string' ? [index] : [])];
    }
    case '$lookup':
      return [String((operand as { as: string }).as)];
    case '$set':
    case '$addFields':
      return Object.keys(operand as object);
    default:
      return undefined;
  }
}

export const stageName = (stage: MqlDocument): string => Object.keys(stage)[0] ?? '';

/**
 * `$unwind` of one of these arrays at the top of a document, as it is stored, and the `$group` that
 * follows.
 */
export function storedArrayGroup(
  pipeline: readonly MqlDocument[],
  at: number,
  arrays: readonly string[],
): { readonly path: string; readonly group: MqlDocument } | undefined {
  const unwind = pipeline[at];
  const group = pipeline[at + 1]?.['$group'];
  const path = unwind && '$unwind' in unwind && dropsEmpty(unwind) ? unwindPath(unwind) : undefined;
  if (path === undefined || path.includes('.') || !isDocument(group) || !arrays.includes(path))
    return undefined;
  const isStored = pipeline
    .slice(0, at)
    .every(
      (stage) =>
        stageName(stage) !== '$lookup' &&
        (pathsWrittenBy(stage) ?? [path]).every(
          (written) => !isUnder(path, written) && !isUnder(written, path),
        ),
    );
  return isStored ? { path, group } : undefined;
}

/** Whether an expression reads an array, or anything in it. */
export const readsArray = (value: Mql, path: string): boolean =>
  [...pathsInExpression(value)].some((read) => read === '*' || isUnder(read, path));

/** The path that a field of `$project` only repeats; undefined where it is computed. */
export function projectedPath(name: string, value: Mql): string | undefined {
  if (value === 1 || value === true) return name;
  return typeof value === 'string' && /^\$[^$]/.test(value) ? value.slice(1) : undefined;
}
