import { applyTransform } from '../../design/model/transform';
import { type Transform } from '../../design/model/transform-kind';
import type { Verdict } from '../../results/compare';
import { isOutage, Unavailable } from '../../results/unavailable';
import type { ResultSet, SqliteValue, Value } from '../../results/value';
import type { Catalog } from '../../sqlite/catalog';
import { QueryError, type QueryProcess, type QueryResult } from '../../sqlite/query/query-process';
import { runnableSql } from '../../sqlite/select/runnable-sql';
import { runPastStalls } from './past-stalls';
import { pinSql } from './pinned-clock';

/** Longer results are not compared. */
export const MAX_ROWS = 200_000;
/** Of a query on either side. */
export const TIMEOUT_MS = 60_000;

/** Remembers rows of source queries, by what decides them. */
export interface SourceRows {
  sourceRows(key: string, ask: () => Promise<QueryResult>): Promise<QueryResult>;
}

/** A query of the source, and how it is run. */
export interface SourceQuery {
  readonly sql: string;
  readonly sourcePath: string;
  readonly catalog: Catalog;
  readonly queries: QueryProcess;
  /** ISO time that both sides take for now. */
  readonly clock: string;
  readonly signal: AbortSignal;
  /** Source rows that are known here are not asked for again. */
  readonly known?: SourceRows;
}

/** The query as it runs, and `time_dependent` where it reads the clock. */
export function sourceSql(input: SourceQuery): { sql: string; timed: readonly string[] } {
  const runnable = runnableSql(input.sql, input.catalog);
  const sql = pinSql(runnable, input.clock);
  return { sql, timed: sql === runnable ? [] : ['time_dependent'] };
}

/** All rows of a source query, or why there are none to compare with. */
export async function runSource(input: SourceQuery, sql: string): Promise<ResultSet | Verdict> {
  const result = await askSource(input, sql, MAX_ROWS);
  return !('kind' in result) && result.more
    ? failure('error', `the source query returns more than ${MAX_ROWS} rows`)
    : result;
}

async function askSource(
  input: SourceQuery,
  sql: string,
  maxRows: number,
  isReversed = false,
): Promise<QueryResult | Verdict> {
  const limits = { timeoutMs: TIMEOUT_MS, maxRows, isReversed };
  const ask = (): Promise<QueryResult> =>
    input.queries.query(input.sourcePath, sql, limits, input.signal);
  const key = `${input.sourcePath}\n${maxRows}${isReversed ? ' reversed' : ''}\n${sql}`;
  try {
    return await runPastStalls(() => (input.known ? input.known.sourceRows(key, ask) : ask()));
  } catch (error) {
    if (error instanceof Unavailable)
      throw new Unavailable(error.resource, `the source query does not finish: ${error.message}`, {
        cause: error,
      });
    if (!(error instanceof QueryError)) throw error;
    if (error.kind === 'cancelled') throw error;
    return failure(
      error.kind === 'forbidden' ? 'forbidden' : 'error',
      `the source query does not run: ${error.message}`,
    );
  }
}

/** Rows that are good to have: undefined where the query has none, or not within its limits. */
export async function tryAskSource(
  input: SourceQuery,
  sql: string,
  maxRows: number,
  isReversed = false,
): Promise<QueryResult | undefined> {
  try {
    const result = await askSource(input, sql, maxRows, isReversed);
    return 'kind' in result ? undefined : result;
  } catch (error) {
    if (error instanceof Unavailable && !isOutage(error)) return undefined;
    throw error;
  }
}

/** A verdict without rows. */
export const failure = (kind: Verdict['kind'], detail: string): Verdict => ({
  kind,
  detail,
  mapping: [],
  expectedRows: 0,
  actualRows: 0,
  onlyExpected: [],
  onlyActual: [],
});

/** A source value as the documents show it. */
export const cell = (transform: Transform | undefined, value: Value): Value =>
  transform ? applyTransform(transform, value as SqliteValue) : value;
