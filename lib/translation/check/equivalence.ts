import type { Transform } from '../../design/model/transform-kind';
import { compareResults, type TiedRows, type Verdict } from '../../results/compare';
import type { OpenChoice } from '../../results/open-choice';
import type { ResultSet } from '../../results/value';
import { isOutermostOrdered } from '../../sqlite/select/outermost-order';
import { findAmbiguities, type Ambiguities } from './ambiguity';
import { keyedSql } from './keyed-sql';
import { AMBIGUITIES } from './open-constructs';
import { judgeLimit, type JudgedLimit } from './outermost-limit';
import { runPipeline, type EquivalenceInput, type PipelineRun } from './pipeline-rows';
import {
  cell,
  failure,
  MAX_ROWS,
  runSource,
  sourceSql,
  tryAskSource,
  type SourceQuery,
} from './source-rows';

export interface Equivalence {
  readonly verdict: Verdict;
  /** `time_dependent`, and what `findAmbiguities` names: even where the rows happen to be equal. */
  readonly caveats: readonly string[];
  /**
   * Expected rows as the documents show them; undefined when the source query gave none to compare
   * with.
   */
  readonly expected?: ResultSet;
  readonly actual?: ResultSet;
  /**
   * The runs of expected rows that may come in any order among themselves, because their sort keys
   * are equal; undefined where the order of the rows does not count. Where the sort keys cannot be
   * read off the query, no run is known.
   */
  readonly tied?: readonly TiedRows[];
  /**
   * What makes another answer checkable, where ties at the outermost LIMIT are all that is open.
   */
  readonly choices?: readonly OpenChoice[];
  readonly run?: PipelineRun;
}

const isOpenName = (caveat: string): boolean => (AMBIGUITIES as readonly string[]).includes(caveat);

/** A tie is as legal an answer as the source's own. */
export const isEquivalent = (verdict: Verdict): boolean =>
  verdict.kind === 'equal' || verdict.kind === 'tie';

/**
 * Runs both sides and compares by the rules of DESIGN §7: a bag of rows; the order where the SQL
 * orders, up to ties of its keys; at a LIMIT, any choice among rows of equal keys is legal and
 * named.
 *
 * @throws Unavailable when a server is away, or a side hits its limit of time or memory twice: no
 *   verdict is known then. (A candidate's time limit gives the verdict `timeout`.)
 */
export async function checkEquivalence(input: EquivalenceInput): Promise<Equivalence> {
  const { sql, timed } = sourceSql(input);
  const source = await runSource(input, sql);
  if ('kind' in source) return { verdict: source, caveats: timed };
  const transforms = input.columns.map((column) => column.transform);
  const expected = carry(
    source,
    input.columns.map((column) => column.name),
    transforms,
  );
  const answer = await runPipeline(input, expected.rows.length);
  if ('kind' in answer) return { verdict: answer, caveats: await sourceCaveats(input), expected };
  const { actual, run } = answer;

  const keyed = keyedSql(sql, input.catalog);
  const ordered = keyed ? keyed.ordered : isOutermostOrdered(input.sql);
  const outcome = { expected, actual, run };
  const direct = compareResults(expected, actual, {
    columns: 'named',
    extraColumns: 'refuse',
    order: ordered ? 'sequence' : 'bag',
  });
  const limit = await judgeLimit(input, keyed, transforms, outcome, direct);
  const inner = await ambiguitiesOf(input, sql, source, limit);
  const caveats = [...new Set([...timed, ...limit.caveats, ...inner.caveats])];
  const verdict = isEquivalent(limit.verdict)
    ? limit.verdict
    : await judgeOpen(limit.verdict, inner, actual, (other) =>
        carry(other, expected.columns, transforms),
      );
  const choices = inner.caveats.some(isOpenName) ? undefined : limit.choices;
  return {
    ...outcome,
    ...(ordered && { tied: limit.tied ?? [] }),
    ...(choices && { choices }),
    verdict,
    caveats,
  };
}

/**
 * What the source query leaves open, and its dependence on the time: what a check of any pipeline
 * names as well.
 */
export async function sourceCaveats(input: SourceQuery): Promise<readonly string[]> {
  const { sql, timed } = sourceSql(input);
  const source = await runSource(input, sql);
  if ('kind' in source) return timed;
  const same = { expected: source, actual: source };
  const limit = await judgeLimit(
    input,
    keyedSql(sql, input.catalog),
    [],
    same,
    failure('equal', ''),
  );
  const inner = await ambiguitiesOf(input, sql, source, limit);
  return [...new Set([...timed, ...limit.caveats, ...inner.caveats])];
}

function ambiguitiesOf(
  input: SourceQuery,
  sql: string,
  expected: ResultSet,
  limit: JudgedLimit,
): Promise<Ambiguities> {
  return findAmbiguities({
    sql,
    catalog: input.catalog,
    expected,
    isLimitJudged: limit.isJudged,
    ...(limit.tied && { tied: limit.tied }),
    isLimitCut: limit.caveats.some(isOpenName),
    run: async (other, isReversed) => {
      const result = await tryAskSource(input, other, MAX_ROWS, isReversed);
      return result?.more === false ? result : undefined;
    },
  });
}

/**
 * Another answer is as legal as SQLite's own where some order of what the SQL leaves open gives it.
 */
async function judgeOpen(
  verdict: Verdict,
  { caveats, answers }: Ambiguities,
  actual: ResultSet,
  shown: (answer: ResultSet) => ResultSet,
): Promise<Verdict> {
  const named = caveats.filter(isOpenName);
  if (named.length === 0) return verdict;
  if (verdict.kind === 'value' || verdict.kind === 'order') {
    for await (const answer of answers()) {
      const { kind } = compareResults(shown(answer), actual, {
        columns: 'named',
        extraColumns: 'refuse',
        order: 'bag',
      });
      if (kind === 'equal')
        return {
          ...verdict,
          kind: 'tie',
          detail: `another answer that the SQL allows (${named.join(', ')})`,
        };
    }
  }
  return {
    ...verdict,
    detail: `${verdict.detail}; the SQL leaves the result open (${named.join(', ')})`,
  };
}

/**
 * The expected rows alone, as the documents show them; undefined where the source query gives none
 * to compare with.
 */
export async function expectedOf(input: EquivalenceInput): Promise<ResultSet | undefined> {
  const source = await runSource(input, sourceSql(input).sql);
  return 'kind' in source
    ? undefined
    : carry(
        source,
        input.columns.map((column) => column.name),
        input.columns.map((column) => column.transform),
      );
}

const carry = (
  result: ResultSet,
  names: readonly string[],
  transforms: readonly (Transform | undefined)[],
): ResultSet => ({
  columns: result.columns.map((name, at) => names[at] ?? name),
  rows: result.rows.map((row) => row.map((value, at) => cell(transforms[at], value))),
});
