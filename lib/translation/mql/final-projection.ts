import type { Pipeline } from './stage';

/**
 * The last `$project` as a person writes it: `count: 1` rather than `count: '$count'`. Only the
 * last stage, since inclusion keeps the order in which the document has its fields, and a later
 * stage that compares whole documents would notice.
 */
export function plainFinalProjection(pipeline: Pipeline): Pipeline {
  const last = pipeline.at(-1);
  if (!last || !('$project' in last)) return pipeline;
  const entries = Object.entries(last.$project);
  if (!entries.some(([name, value]) => isKept(name, value))) return pipeline;
  const plain = Object.fromEntries(
    entries.map(([name, value]) => [name, isKept(name, value) ? 1 : value]),
  );
  return [...pipeline.slice(0, -1), { $project: plain }];
}

const isKept = (name: string, value: unknown): boolean =>
  value === `$${name}` && name !== '_id' && !name.includes('.');
