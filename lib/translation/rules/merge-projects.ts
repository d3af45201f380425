import { isDocument, type Mql } from '../mql';
import { replaceStages, type Rule } from '../rule';

/** A `$project` that only passes fields on, right before a `$group` or `$project` that names what it reads, is not needed. */
export const mergeProjects: Rule = {
  name: 'merge-projects',
  apply(pipeline) {
    for (let at = 0; at + 1 < pipeline.length; at++) {
      const project = pipeline[at]?.['$project'];
      const next = pipeline[at + 1];
      if (!isDocument(project) || !next || !('$group' in next || isInclusion(next['$project']) || '$count' in next)) continue;
      if (!Object.entries(project).every(([name, value]) => value === 1 || value === `$${name}` || (name === '_id' && value === 0))) continue;
      const text = JSON.stringify(next);
      const kept = new Set(Object.entries(project).filter(([, value]) => value !== 0).map(([name]) => name));
      const read = [...text.matchAll(/"\$([^$"][^"]*)"(?!:)/g)].map((match) => match[1] ?? '');
      if (text.includes('$$ROOT') || text.includes('$$CURRENT') || !read.every((path) => kept.has(path.split('.')[0] ?? ''))) continue;
      return { pipeline: replaceStages(pipeline, at, 1), reason: 'The $project only passed fields on to a stage that names what it reads.' };
    }
    return undefined;
  },
};

// `{_id: 0}` alone would let every field through.
function isInclusion(project: Mql | undefined): boolean {
  if (!isDocument(project)) return false;
  const others = Object.entries(project).filter(([name]) => name !== '_id');
  return project['_id'] === 0 && others.length > 0 && others.every(([, value]) => typeof value === 'string' || isDocument(value));
}
