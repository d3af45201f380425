import { projectedPath } from '../mql/pipeline-paths';
import { isDocument, type Mql, type MqlDocument } from '../mql/mql';
import type { Stage } from '../mql/stage';
import { readsVariable } from '../mql/variables';
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
      const [stage, next] = pipeline.slice(index, index + 2);
      if (!stage || !next || !('$project' in stage) || stage.$project['_id'] !== 0) continue;
      const paths = plainPaths(stage.$project);
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

function readThrough(stage: Stage, paths: ReadonlyMap<string, string>): Stage | undefined {
  if (['ROOT', 'CURRENT'].some((name) => readsVariable(stage, name))) return undefined;
  if ('$project' in stage) {
    const project = stage.$project;
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
  if (!('$group' in stage)) return undefined;
  const { _id, ...accumulators } = stage.$group;
  const [key, replaced] = [substitute(_id, paths), substitute(accumulators, paths)];
  return key === undefined || !isDocument(replaced)
    ? undefined
    : { $group: { _id: key, ...replaced } };
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
