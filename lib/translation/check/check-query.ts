import type { TiedRows } from '../../results/compare';
import { contentHash } from '../../results/hash';
import type { ResultSet, Value } from '../../results/value';
import { isOutermostOrdered } from '../../sqlite/select/outermost-order';
import { checkEquivalence, expectedOf, isEquivalent } from './equivalence';
import { resultDigest } from '../../results/result-digest';
import type { EquivalenceInput } from './pipeline-rows';
import type { KnownResults } from './known-results';
import { type CheckedQuery } from './checked-query';

/** Expected rows beyond this are counted and digested, but neither kept nor shipped. */
export const MOST_KEPT_ROWS = 1000;

/**
 * `checkEquivalence`, unless `known` remembers that the same query was checked on the same data.
 */
export async function checkQuery(
  input: EquivalenceInput,
  known: KnownResults | undefined,
): Promise<CheckedQuery> {
  const key = keyOf(input);
  const before = known?.checked(key);
  if (before) return before;
  const { verdict, caveats, expected, tied, choices, run } = await checkEquivalence({
    ...input,
    ...(known && { known }),
  });
  const checked: CheckedQuery = {
    verdict,
    caveats,
    ...(expected && {
      expected: { ...summary(expected, tied, input.sql), ...(choices && { choices }) },
    }),
    ...(run && { run }),
  };
  // What did not run may run another time, and a candidate that stopped early tells less than a
  // check that did not.
  if (run && (!input.candidate || isEquivalent(verdict))) known?.keep(key, checked);
  return checked;
}

function summary(
  expected: ResultSet,
  tied: readonly TiedRows[] | undefined,
  sql: string,
): NonNullable<CheckedQuery['expected']> {
  const shown = tied?.filter(([first]) => first < MOST_KEPT_ROWS);
  return {
    rowCount: expected.rows.length,
    digest: resultDigest(expected, isOutermostOrdered(sql)),
    rows: expected.rows.slice(0, MOST_KEPT_ROWS),
    tied: shown,
  };
}

/** The first expected rows of a checked query: those that were kept, else asked for again. */
export async function expectedRows(
  checked: CheckedQuery,
  input: EquivalenceInput,
): Promise<readonly (readonly Value[])[] | undefined> {
  return checked.expected?.rows ?? (await expectedOf(input))?.rows.slice(0, MOST_KEPT_ROWS);
}

const keyOf = ({
  sql,
  sourcePath,
  db,
  collection,
  pipeline,
  columns,
  clock,
}: EquivalenceInput): string =>
  contentHash([sourcePath, sql, db.databaseName, collection, pipeline, columns, clock]);
