import { createHash } from 'node:crypto';
import type { Db, Document } from 'mongodb';
import type { Catalog } from '../../sqlite/catalog';
import { QueryError, type QueryProcess, type QueryResult } from '../../sqlite/query/query-process';
import { isOutermostOrdered } from '../../sqlite/select/outermost-order';
import { runnableSql } from '../../sqlite/select/runnable-sql';
import { compareResults, type TiedRows, type Verdict } from '../../results/compare';
import { rowKey, valueKey } from '../../results/equality';
import type { OpenChoice } from '../../results/open-choice';
import { isOutage, Unavailable } from '../../results/unavailable';
import {
  fromBson,
  isValueDocument,
  type ResultSet,
  type SqliteValue,
  type Value,
} from '../../results/value';
import { applyTransform, type Transform } from '../../design/transform';
import { GuardedError, runGuarded } from '../../mongo/guarded';
import { cutChoices } from './cut-choices';
import { documentsDigest, MOST_DIGESTED } from './documents-digest';
import { HiddenOrder } from './hidden-order';
import { findAmbiguities, type Ambiguities } from './ambiguity';
import { keyedSql, type KeyedSql } from './keyed-sql';
import { AMBIGUITIES } from './open-constructs';
import { runPastStalls } from './past-stalls';
import { pinPipeline, pinSql } from './pinned-clock';
import { equalKeys, tiedRows } from './tied-rows';

/**
 * One output column of a query in MQL: the field that holds it, and the transform that its source
 * values go through.
 */
export interface OutputColumn {
  readonly name: string;
  readonly path: string;
  readonly transform: Transform;
}

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

export interface PipelineRun {
  readonly milliseconds: number;
  readonly documents: number;
  /** See `documentsDigest`; undefined for more documents than `MOST_DIGESTED`. */
  readonly digest: string | undefined;
}

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

export interface EquivalenceInput extends SourceQuery {
  readonly db: Db;
  readonly collection: string;
  readonly pipeline: readonly Document[];
  readonly columns: readonly OutputColumn[];
  /**
   * For a rewriting that is given up unless it is equal: it may stop at the first row too many, and
   * after this time.
   */
  readonly candidate?: { readonly maxTimeMS: number };
}

const MAX_ROWS = 200_000;
export const TIMEOUT_MS = 60_000;
/** So many rows behind a LIMIT nearly always show where the ties at it end. */
const BEYOND_CUT = 1000;

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

interface JudgedLimit {
  readonly verdict: Verdict;
  readonly caveats: readonly string[];
  /** See `Equivalence`. */
  readonly tied?: readonly TiedRows[];
  readonly choices?: readonly OpenChoice[];
  /** It is known whether the outermost LIMIT cuts a tie. */
  readonly isJudged: boolean;
}

/** The outermost LIMIT, and the order up to ties, by the rows without the LIMIT. */
async function judgeLimit(
  input: SourceQuery,
  keyed: KeyedSql | undefined,
  transforms: readonly Transform[],
  { expected, actual }: { readonly expected: ResultSet; readonly actual: ResultSet },
  verdict: Verdict,
): Promise<JudgedLimit> {
  if (!keyed) return { verdict, caveats: [], isJudged: false };
  if (keyed.isHidden)
    return judgeHiddenOrder(input, keyed, transforms, { expected, actual }, verdict);
  if (keyed.limit === undefined && verdict.kind !== 'order') {
    const tied = keyed.ordered ? { tied: await askTies(input, keyed, expected.rows.length) } : {};
    return { verdict, caveats: [], isJudged: true, ...tied };
  }
  const shown = (row: readonly Value[]): Value[] =>
    row.map((value, index) => (index < keyed.width ? cell(transforms[index], value) : value));
  const carried = ({ rows, more }: QueryResult): Whole => ({
    ...keyed,
    rows: rows.map(shown),
    more,
  });
  const whole = await wholeRows(input, keyed, carried, verdict.kind === 'equal');
  if (!whole) return { verdict, caveats: [], isJudged: false };
  const isCut = keyed.limit !== undefined && cutsATie(whole);
  const caveats = [
    ...(isCut ? [keyed.ordered ? 'tie' : 'unordered_limit'] : []),
    ...(takesNullFirst(whole, keyed) ? ['null_first'] : []),
  ];
  const judged =
    verdict.kind === 'value' || verdict.kind === 'order'
      ? judgeTie(verdict, actual, whole, isCut)
      : verdict;
  const tied = tiedRows(
    whole.rows.slice(whole.offset, whole.offset + expected.rows.length),
    whole.keys,
  );
  const choices = isCut ? cutChoices({ ...whole, count: expected.rows.length }) : undefined;
  return { verdict: judged, caveats, tied, ...(choices && { choices }), isJudged: true };
}

/** DISTINCT sorted by what it does not return, with its LIMIT. */
async function judgeHiddenOrder(
  input: SourceQuery,
  keyed: KeyedSql,
  transforms: readonly Transform[],
  { expected, actual }: { readonly expected: ResultSet; readonly actual: ResultSet },
  verdict: Verdict,
): Promise<JudgedLimit> {
  const all = await tryAskSource(input, keyed.sql, MAX_ROWS);
  if (!all || all.more) return { verdict, caveats: [], isJudged: false };
  const rows = all.rows.map((row) =>
    row.map((value, index) => (index < keyed.width ? cell(transforms[index], value) : value)),
  );
  const order = new HiddenOrder(rows, keyed.width, keyed.keys);
  const [from, to] = [keyed.offset, keyed.offset + expected.rows.length];
  const isCut = !order.isFixedAt(from) || (keyed.limit !== undefined && !order.isFixedAt(to));
  const { tied, isChosen } = order.openRuns(from, to);
  const open = isChosen ? ['arbitrary_row'] : [];
  const caveats = isCut && !isChosen ? ['tie'] : open;
  if (verdict.kind !== 'value' && verdict.kind !== 'order')
    return { verdict, caveats, tied, isJudged: true };
  const keys = actual.rows.map((row) => rowKey(row.slice(0, keyed.width)));
  const isLegal = keys.length === to - from && order.isLegal(keys, from) === true;
  const judged: Verdict = isLegal
    ? {
        ...verdict,
        kind: isCut ? 'tie' : 'equal',
        detail: 'another order that SQL allows: the sort key of a distinct row is open',
      }
    : verdict;
  return { verdict: judged, caveats, tied, isJudged: true };
}

async function askTies(
  input: SourceQuery,
  keyed: KeyedSql,
  rowCount: number,
): Promise<readonly TiedRows[]> {
  if (rowCount < 2) return [];
  const result = await tryAskSource(input, keyed.sql, keyed.offset + rowCount);
  return result ? tiedRows(result.rows.slice(keyed.offset), keyed.keys) : [];
}

/** A row without a value of the first sort key is among those that a LIMIT takes. */
function takesNullFirst({ rows, keys, offset, limit }: Whole, { nullsFirst }: KeyedSql): boolean {
  const [key] = keys;
  if (!nullsFirst || key === undefined || limit === undefined) return false;
  return rows.slice(offset, offset + limit).some((row) => row[key] === null);
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

function sourceSql(input: SourceQuery): { sql: string; timed: readonly string[] } {
  const runnable = runnableSql(input.sql, input.catalog);
  const sql = pinSql(runnable, input.clock);
  return { sql, timed: sql === runnable ? [] : ['time_dependent'] };
}

type Whole = Pick<
  NonNullable<ReturnType<typeof keyedSql>>,
  'width' | 'keys' | 'limit' | 'offset' | 'ordered'
> & { readonly rows: readonly (readonly Value[])[]; readonly more: boolean };

const sortKey = (whole: Whole, row: readonly Value[]): Value[] =>
  whole.keys.map((at) => row[at] ?? null);
const sameKey = (whole: Whole, a: readonly Value[], b: readonly Value[]): boolean =>
  sortKey(whole, a).every((value, at) => equalKeys(value, sortKey(whole, b)[at]!));

/**
 * The rows without the LIMIT, as many as are needed: up to where the ties at it end, and where the
 * rows are equal only until it is known that there is one. What is cut off can hide a tie, but
 * never show one that is none.
 */
async function wholeRows(
  input: SourceQuery,
  keyed: KeyedSql,
  carried: (result: QueryResult) => Whole,
  equal: boolean,
): Promise<Whole | undefined> {
  const cut = keyed.limit === undefined ? undefined : keyed.offset + keyed.limit;
  if (cut !== undefined && cut + BEYOND_CUT < MAX_ROWS) {
    const first = await tryAskSource(input, keyed.sql, cut + BEYOND_CUT);
    if (!first) return undefined;
    const whole = carried(first);
    const [inside, last] = [whole.rows[cut - 1], whole.rows.at(-1)];
    const tieEnds =
      !first.more || (inside !== undefined && last !== undefined && !sameKey(whole, inside, last));
    if (tieEnds || (equal && cutsATie(whole))) return whole;
  }
  const all = await tryAskSource(input, keyed.sql, MAX_ROWS);
  return !all || (all.more && cut === undefined) ? undefined : carried(all);
}

/** A row on one side of the cut has the keys of a row on the other, and is another row. */
function cutsATie(whole: Whole): boolean {
  const cutAt = (at: number): boolean => {
    const [inside, outside] = [whole.rows[at - 1], whole.rows[at]];
    if (!inside || !outside || !sameKey(whole, inside, outside)) return false;
    const tied = whole.rows.filter((row) => sameKey(whole, row, inside));
    return new Set(tied.map((row) => rowKey(row.slice(0, whole.width)))).size > 1;
  };
  return cutAt(whole.offset + whole.limit!) || (whole.offset > 0 && cutAt(whole.offset));
}

/**
 * Are the actual rows another legal answer? Groups of equal keys are compared as bags, cut groups
 * as parts of bags.
 */
function judgeTie(verdict: Verdict, actual: ResultSet, whole: Whole, cut: boolean): Verdict {
  const from = whole.offset;
  const to =
    whole.limit === undefined ? whole.rows.length : Math.min(whole.rows.length, from + whole.limit);
  if (actual.rows.length !== to - from) return verdict;
  for (let start = from; start < to;) {
    const first = whole.rows[start]!;
    let end = start;
    while (end < to && sameKey(whole, whole.rows[end]!, first)) end++;
    const group = new Map<string, number>();
    for (const row of whole.rows)
      if (sameKey(whole, row, first)) bump(group, rowKey(row.slice(0, whole.width)), 1);
    for (const row of actual.rows.slice(start - from, end - from)) {
      const key = rowKey(row.slice(0, whole.width));
      if ((group.get(key) ?? 0) === 0) return verdict;
      bump(group, key, -1);
    }
    start = end;
  }
  return cut
    ? { ...verdict, kind: 'tie', detail: 'another legal choice among rows that tie at the limit' }
    : {
        ...verdict,
        kind: 'equal',
        detail: 'the rows are equal; rows with equal sort keys come in another order',
      };
}

const bump = (counts: Map<string, number>, key: string, by: number): void => {
  counts.set(key, (counts.get(key) ?? 0) + by);
};

async function runSource(input: SourceQuery, sql: string): Promise<ResultSet | Verdict> {
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
async function tryAskSource(
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

async function runPipeline(
  input: EquivalenceInput,
  expectedRows: number,
): Promise<{ actual: ResultSet; run: PipelineRun } | Verdict> {
  const { candidate } = input;
  const limits = {
    maxTimeMS: candidate?.maxTimeMS ?? TIMEOUT_MS,
    maxRows: candidate ? expectedRows : MAX_ROWS,
    maxBytes: 256 * 1024 * 1024,
    signal: input.signal,
  };
  let documents: Value[];
  let run: PipelineRun;
  try {
    const started = performance.now();
    const pinned = pinPipeline(input.pipeline, input.clock);
    const found = await runPastStalls(() => runGuarded(input.db, input.collection, pinned, limits));
    run = {
      milliseconds: performance.now() - started,
      documents: found.length,
      digest:
        found.length > MOST_DIGESTED
          ? undefined
          : documentsDigest(found, isOutermostOrdered(input.sql)),
    };
    documents = found.map(fromBson);
  } catch (error) {
    if (candidate && error instanceof Unavailable && error.resource === 'time')
      return failure('timeout', error.message);
    if (!(error instanceof GuardedError)) throw error;
    if (candidate && error.kind === 'too_many_rows')
      return { ...failure('row_count', `${expectedRows} rows expected, more found`), expectedRows };
    return failure(
      error.kind === 'forbidden' ? 'forbidden' : 'error',
      `the pipeline does not run: ${error.message}`,
    );
  }
  const paths = input.columns.map((column) => column.path);
  const extra = new Set(
    documents.flatMap((document) =>
      (isValueDocument(document) ? Object.keys(document) : []).filter(
        (name) => !paths.includes(name),
      ),
    ),
  );
  const names = [...input.columns.map((column) => column.name), ...extra];
  const fields = [...paths, ...extra];
  const actual = {
    columns: names,
    rows: documents.map((document) =>
      fields.map((name) =>
        isValueDocument(document) && Object.hasOwn(document, name) ? document[name]! : null,
      ),
    ),
  };
  return { actual, run };
}

const failure = (kind: Verdict['kind'], detail: string): Verdict => ({
  kind,
  detail,
  mapping: [],
  expectedRows: 0,
  actualRows: 0,
  onlyExpected: [],
  onlyActual: [],
});

const carry = (
  result: ResultSet,
  names: readonly string[],
  transforms: readonly (Transform | undefined)[],
): ResultSet => ({
  columns: result.columns.map((name, at) => names[at] ?? name),
  rows: result.rows.map((row) => row.map((value, at) => cell(transforms[at], value))),
});

const cell = (transform: Transform | undefined, value: Value): Value =>
  transform ? applyTransform(transform, value as SqliteValue) : value;

/**
 * A digest over rows that does not depend on their order, unless order counts: only a fast path,
 * never a proof.
 */
export function resultDigest(result: ResultSet, ordered: boolean): string {
  const keys = result.rows.map((row) =>
    row
      .map(valueKey)
      .map((key) => `${key.length}:${key}`)
      .join(''),
  );
  const hash = createHash('sha256').update(`${result.columns.length}\n`);
  // Row by row: one text of all of them would take as much memory again.
  (ordered ? keys : keys.sort()).forEach((key, at) => hash.update(at > 0 ? `\n${key}` : key));
  return hash.digest('hex');
}
