/**
 * Why an item has no pipeline. Numbers are stable: they appear in bundles and in reviewers' notes,
 * so a reason that goes out of use keeps its number.
 */
export const UNTRANSLATED = {
  10: {
    name: 'syntax',
    cause: 'The SQL is not a SELECT that SQLite accepts.',
    remedy: 'Correct or exclude the item: its gold cannot run.',
  },
  11: {
    name: 'binding',
    cause: 'The SQL names a table or column that the database does not have.',
    remedy: 'Correct or exclude the item: its gold cannot run.',
  },
  12: {
    name: 'not_placed',
    cause: 'The design has no field for a column that the query reads.',
    remedy: 'Add the column to the logical design.',
  },
  20: {
    name: 'recursive',
    cause: 'Recursive common tables have no counterpart with equal rows in general.',
    remedy: 'Write the pipeline by hand, with $graphLookup where it fits.',
  },
  21: {
    name: 'full_join',
    cause: 'FULL JOIN, or an outer join whose right side is itself a join.',
    remedy: 'Write the pipeline by hand as a union of two outer joins.',
  },
  22: {
    name: 'values',
    cause: 'VALUES needs a stage that does not read a collection.',
    remedy: 'Write the pipeline by hand.',
  },
  30: {
    name: 'function',
    cause: 'A function without a faithful counterpart.',
    remedy: 'Write the expression by hand if its domain in this database is narrower.',
  },
  31: {
    name: 'types',
    cause:
      'Values of mixed storage classes meet an operation that treats them differently in MongoDB.',
    remedy: 'Retype or split the column in the logical design.',
  },
  32: {
    name: 'collation',
    cause: 'A collation on values that are not text, or one that SQLite does not define.',
    remedy: 'Write the comparison by hand.',
  },
  33: {
    name: 'retyped',
    cause: 'The expression needs the source text of a retyped column and cannot rebuild it.',
    remedy: 'Keep the column as it is in the source.',
  },
  34: {
    name: 'pattern',
    cause: 'A LIKE or GLOB pattern that is not constant.',
    remedy: 'Write the condition by hand.',
  },
  35: {
    name: 'limit',
    cause: 'LIMIT or OFFSET is not a constant.',
    remedy: 'Write the limit by hand.',
  },
  36: {
    name: 'window',
    cause: 'A window function or frame that $setWindowFields does not have.',
    remedy: 'Write the pipeline by hand.',
  },
  37: {
    name: 'random',
    cause: 'The result is random.',
    remedy: 'Exclude the item: no result can be compared.',
  },
  38: {
    name: 'aggregate',
    cause: 'An aggregate in a place or form that one $group cannot compute.',
    remedy: 'Write the pipeline by hand.',
  },
  39: {
    name: 'order',
    cause: 'ORDER BY a value that DISTINCT or a set operation no longer has.',
    remedy: 'Write the pipeline by hand.',
  },
  50: {
    name: 'budget',
    cause:
      'The pipeline would pass the budget: stages, nesting or emulated functions that no ' +
      'developer would write.',
    remedy: 'Take the attempt as a start and simplify it by hand.',
  },
} as const;

export type UntranslatedCode = keyof typeof UNTRANSLATED;
export type UntranslatedName = (typeof UNTRANSLATED)[UntranslatedCode]['name'];

/** Thrown inside the compiler; `translate` turns it into an untranslated result. */
export class Untranslatable extends Error {
  readonly code: UntranslatedCode;

  constructor(name: UntranslatedName, detail: string) {
    super(detail);
    this.name = 'Untranslatable';
    const entry = Object.entries(UNTRANSLATED).find(([, reason]) => reason.name === name);
    this.code = Number(entry?.[0]) as UntranslatedCode;
  }
}
