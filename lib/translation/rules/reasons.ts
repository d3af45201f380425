/**
 * What each rule did, as reviewers and bundles read it: one sentence each, past tense, stages and
 * fields by their names.
 */
export const REASONS = {
  attributeMatch: (field: string, names: readonly string[]) =>
    `Filtered on ${field}, which stores ${names.join(', ')} as ` +
    `${names.length === 1 ? 'a name–value pair' : 'name–value pairs'} under one index.`,
  countStage: () => 'Replaced `$group` with `$count`.',
  dropUnreadLookup: (as: string) => `Removed the \`$lookup\` into ${as}: no later stage reads it.`,
  dropLookup: (as: string, localField: string, from: string, filtersNulls: boolean) =>
    `Removed the \`$lookup\` to ${from}: no later stage reads ${as}, and every ${localField} ` +
    `refers to exactly one document${filtersNulls ? `; only rows without ${localField} are filtered out` : ''}.`,
  elemMatch: (path: string) =>
    `Replaced the count of matching elements of ${path} with \`$elemMatch\`: only whether one ` +
    'exists is used.',
  exprToPredicate: () =>
    'Replaced `$expr` with a query predicate on the field, which can use an index.',
  groupById: () => 'Removed `$group` by _id: each group is one document.',
  groupByKey: (path: string) =>
    `Removed \`$group\` by ${path}: it is unique, so that each group is one document.`,
  impliedPresence: (field: string) =>
    `Removed the test that ${field} exists: the filter on its fields implies it.`,
  copiedPartner: (from: string, paths: readonly string[]) =>
    `Removed the \`$lookup\` to ${from}: ${paths.join(', ')} repeats what it was filtered on.`,
  lookupOnce: (as: string) =>
    `Moved the \`$lookup\` of ${as} before \`$unwind\`: it reads nothing of the row.`,
  ownArray: (path: string) =>
    `Removed the \`$lookup\` of the document itself: ${path} is part of it.`,
  lookupByFields: (foreignField: string) =>
    `Joined on ${foreignField} with localField and foreignField, which can use an index, instead ` +
    'of comparing every pair.',
  lookupDirection: (from: string, to: string, localField: string) =>
    `Started from the documents of ${from} that match the filter and looked up their ${to} by ` +
    `${localField}, instead of joining all of ${to}.`,
  lookupKey: (foreign: string, localField: string) =>
    `Replaced ${foreign} with ${localField}: the join makes them equal.`,
  matchBeforeUnwind: (path: string) =>
    `Filtered documents with \`$elemMatch\` on ${path} before unwinding it.`,
  matchEarly: (paths: readonly string[], stage: string) =>
    `Moved the filter on ${paths.join(', ')} before \`${stage}\`.`,
  mergeMatches: () => 'Merged consecutive `$match` stages.',
  mergeProjects: () => 'Merged the `$project` that only renames fields into the next stage.',
  plainAggregate: () => 'Removed the empty-input fallback: the input is never empty.',
  setOnce: (field: string, times: number) =>
    `Computed ${field} once in a \`$set\`, instead of ${String(times)} times in the stage after it.`,
  sortLimitEarly: (from: string) =>
    `Moved \`$sort\` and \`$limit\` before the join to ${from}, which keeps every row exactly once.`,
  topOfGroup: () =>
    'Replaced `$sort` and `$first` with `$top`: only the first row of a group is used.',
  unwindCount: (path: string) => `Replaced unwinding and counting ${path} with \`$size\`.`,
  unwindFold: (path: string) =>
    `Replaced unwinding and aggregating ${path} with an aggregate of the array in each document.`,
} as const;
