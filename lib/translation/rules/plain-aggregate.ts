import { isDocument, type MqlDocument } from '../mql/mql';
import { stageName } from '../mql/pipeline-paths';
import { replaceStages, type Rule } from './rule';
import { REASONS } from './reasons';

/** Its name: gold that went through it carries the caveat `empty_aggregate`. */
export const PLAIN_AGGREGATE = 'plain-aggregate';

/**
 * An aggregate over no rows gives one row in SQL and no document in MongoDB; the `$facet` around it
 * makes up for that. On data that has such rows nobody would write it. That the data has some only
 * a run shows: whoever applies this rule compares the results, and undoes it where they differ.
 */
export const plainAggregate: Rule = {
  name: PLAIN_AGGREGATE,
  apply(pipeline) {
    for (const [index, stage] of pipeline.entries()) {
      const facet = stage['$facet'];
      const next = pipeline[index + 1];
      if (!isDocument(facet) || !next) continue;
      const [[name = '', inner] = [], ...others] = Object.entries(facet);
      const stages = inner as readonly MqlDocument[] | undefined;
      const last = stages?.at(-1);
      if (others.length > 0 || !stages || !last) continue;
      const showsId = hasGroupId(stages);
      const shown = defaultedField(next, name) ?? (mergesFirst(next, name) ? 'all' : undefined);
      if (shown === undefined || (shown !== 'all' && shown.inner !== shown.outer && !showsId))
        continue;
      const project: MqlDocument[] =
        shown !== 'all' && showsId
          ? [
              {
                $project: {
                  _id: 0,
                  [shown.outer]: shown.inner === shown.outer ? 1 : `$${shown.inner}`,
                },
              },
            ]
          : [];
      return {
        pipeline: replaceStages(pipeline, index, 2, ...stages, ...project),
        reason: REASONS.plainAggregate(),
      };
    }
    return undefined;
  },
};

/** The documents still have the `_id` of a `$group`: nothing behind it gives them another form. */
function hasGroupId(stages: readonly MqlDocument[]): boolean {
  const forming = stages.findLast((stage) => !FORM_KEEPING.has(stageName(stage)));
  return forming !== undefined && stageName(forming) === '$group';
}
const FORM_KEEPING = new Set(['$match', '$sort', '$skip', '$limit', '$set', '$addFields']);

/** `{$project: {n: {$ifNull: [{$first: '$rows.n'}, 0]}}}`. */
function defaultedField(
  stage: MqlDocument,
  rows: string,
): { readonly outer: string; readonly inner: string } | undefined {
  const project = stage['$project'];
  const [[outer = '', value] = [], ...others] = isDocument(project) ? Object.entries(project) : [];
  const guarded = isDocument(value) ? value['$ifNull'] : undefined;
  const first: unknown = Array.isArray(guarded) ? (guarded as unknown[])[0] : undefined;
  const path = isDocument(first) ? first['$first'] : undefined;
  return others.length === 0 && typeof path === 'string' && path.startsWith(`$${rows}.`)
    ? { outer, inner: path.slice(rows.length + 2) }
    : undefined;
}

/** `{$replaceWith: {$mergeObjects: [<defaults>, {$first: '$rows'}]}}`. */
function mergesFirst(stage: MqlDocument, rows: string): boolean {
  const merged = isDocument(stage['$replaceWith'])
    ? stage['$replaceWith']['$mergeObjects']
    : undefined;
  const [defaults, first, ...others] = Array.isArray(merged) ? (merged as unknown[]) : [];
  return (
    others.length === 0 &&
    isDocument(defaults) &&
    isDocument(first) &&
    first['$first'] === `$${rows}`
  );
}
