import { projectedPath } from '../mql/pipeline-paths';
import { fingerprint, isDocument, type Mql, type MqlDocument } from '../mql/mql';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

/**
 * A `$project` of plain paths right before a `$project` or `$group`, which can read those paths
 * itself.
 */
export const mergeProjects: Rule = {
  name: 'merge-projects',
  apply(pipeline) {
    for (let index = 0; index + 1 < pipeline.length; index++) {
      const project = pipeline[index]?.['$project'];
      const next = pipeline[index + 1];
      if (!isDocument(project) || !next || project['_id'] !== 0) continue;
      const paths = plainPaths(project);
      const merged = paths && readThrough(next, paths);
      if (merged)
        return {
          pipeline: replaceStages(pipeline, index, 2, merged),
          reason: REASONS.mergeProjects(),
        };
    }
    return undefined;
  },
};

/** Output field → path, where every field is a path as it is. */
function plainPaths(project: MqlDocument): Map<string, string> | undefined {
  const paths = new Map<string, string>();
  for (const [name, value] of Object.entries(project)) {
    if (name === '_id') continue;
    const path = projectedPath(name, value);
    if (path === undefined) return undefined;
    paths.set(name, path);
  }
  return paths;
}

function readThrough(
  stage: MqlDocument,
  paths: ReadonlyMap<string, string>,
): MqlDocument | undefined {
  const text = fingerprint(stage);
  if (/\$\$(ROOT|CURRENT)/.test(text)) return undefined;
  const project = stage['$project'];
  if (isDocument(project)) {
    if (project['_id'] !== 0) return undefined;
    const entries = Object.entries(project).filter(([name]) => name !== '_id');
    if (entries.length === 0 || entries.some(([, value]) => value === 0 || value === false))
      return undefined;
    const out: Record<string, Mql> = { _id: 0 };
    for (const [name, value] of entries) {
      const read = value === 1 || value === true ? `$${name}` : value;
      const replaced = substitute(read, paths);
      if (replaced === undefined) return undefined;
      out[name] = entries.length === 1 && replaced === `$${name}` ? 1 : replaced;
    }
    return { $project: out };
  }
  const group = stage['$group'];
  if (!isDocument(group)) return undefined;
  const replaced = substitute(group, paths);
  return replaced === undefined ? undefined : { $group: replaced };
}

/**
 * The expression over the original paths; undefined where it reads a field that the `$project` did
 * not pass on.
 */
function substitute(value: Mql, paths: ReadonlyMap<string, string>): Mql | undefined {
  if (typeof value === 'string') {
    if (!value.startsWith('$') || value.startsWith('$$')) return value;
    const [first = '', ...rest] = value.slice(1).split('.');
    const path = paths.get(first);
    return path === undefined ? undefined : `$${[path, ...rest].join('.')}`;
  }
  if (Array.isArray(value)) {
    const items = (value as readonly Mql[]).map((inner) => substitute(inner, paths));
    return items.some((item) => item === undefined) ? undefined : (items as Mql[]);
  }
  if (!isDocument(value)) return value;
  const out: Record<string, Mql> = {};
  for (const [key, inner] of Object.entries(value)) {
    const replaced = key === '$literal' ? inner : substitute(inner, paths);
    if (replaced === undefined) return undefined;
    out[key] = replaced;
  }
  return out;
}
