import type { Db, Document } from 'mongodb';
import type { Catalog } from '../sqlite/catalog';
import { QueryError, type QueryProcess } from '../sqlite/query-process';
import { runnableSql } from '../sqlite/select/runnable-sql';
import { compareResults, type Verdict } from '../results/compare';
import { equalWithin, rowKey, valueKey } from '../results/equality';
import { sha256 } from '../results/hash';
import { fromBson, isValueDocument, type ResultSet, type SqliteValue, type Value } from '../results/value';
import { applyTransform, type Transform } from '../design/transform';
import { GuardedError, runGuarded } from '../mongo/guarded';
import { keyedSql } from './keyed-sql';
import { pinPipeline, pinSql } from './pinned-clock';

/** One output column of a query in MQL: the field that holds it, and the transform that its source values go through. */
export interface OutputColumn {
  readonly name: string;
  readonly path: string;
  readonly transform: Transform;
}

export interface Equivalence {
  readonly verdict: Verdict;
  /** `tie`, `unordered_limit`, `time_dependent`: named even where the rows happen to be equal. */
  readonly caveats: readonly string[];
  /** Expected rows as the documents show them; undefined when the source query gave none to compare with. */
  readonly expected?: ResultSet;
  readonly actual?: ResultSet;
}

export interface EquivalenceInput {
  readonly sql: string;
  readonly sourcePath: string;
  readonly catalog: Catalog;
  readonly queries: QueryProcess;
  readonly db: Db;
  readonly collection: string;
  readonly pipeline: readonly Document[];
  readonly columns: readonly OutputColumn[];
  /** ISO time that both sides take for now. */
  readonly clock: string;
  readonly signal: AbortSignal;
}

const MAX_ROWS = 200_000;
const TIMEOUT_MS = 60_000;

/** A tie is as legal an answer as the source's own. */
export const isEquivalent = (verdict: Verdict): boolean => verdict.kind === 'equal' || verdict.kind === 'tie';

/**
 * Runs both sides and compares by the rules of DESIGN §7: a bag of rows; the order where the SQL orders, up to ties of
 * its keys; at a LIMIT, any choice among rows of equal keys is legal and named.
 */
export async function checkEquivalence(input: EquivalenceInput): Promise<Equivalence> {
  const runnable = runnableSql(input.sql, input.catalog);
  const sql = pinSql(runnable, input.clock);
  const timed = sql === runnable ? [] : ['time_dependent'];
  const source = await runSource(input, sql);
  if ('kind' in source) return { verdict: source, caveats: timed };
  const transforms = input.columns.map((column) => column.transform);
  const expected = carry(source, input.columns.map((column) => column.name), transforms);
  const actual = await runPipeline(input);
  if ('kind' in actual) return { verdict: actual, caveats: timed, expected };

  const keyed = keyedSql(sql, input.catalog);
  const ordered = keyed ? keyed.ordered : /\border\s+by\b/i.test(input.sql);
  const verdict = compareResults(expected, actual, { columns: 'named', extraColumns: 'refuse', order: ordered ? 'sequence' : 'bag' });
  const needsWhole = keyed && (keyed.limit !== undefined || verdict.kind === 'order');
  if (!needsWhole) return { verdict, caveats: timed, expected, actual };

  const whole = await runSource(input, keyed.sql);
  if ('kind' in whole) return { verdict, caveats: timed, expected, actual };
  const rows = { ...keyed, rows: whole.rows.map((row) => row.map((value, at) => (at < keyed.width ? cell(transforms[at], value) : value))) };
  const cuts = keyed.limit !== undefined && cutsATie(rows) ? [keyed.ordered ? 'tie' : 'unordered_limit'] : [];
  const judged = ['value', 'order', 'equal'].includes(verdict.kind) && verdict.kind !== 'equal' ? judgeTie(verdict, actual, rows, cuts.length > 0) : verdict;
  return { verdict: judged, caveats: [...timed, ...cuts], expected, actual };
}

type Whole = Pick<NonNullable<ReturnType<typeof keyedSql>>, 'width' | 'keys' | 'limit' | 'offset' | 'ordered'> & { readonly rows: readonly (readonly Value[])[] };

const sortKey = (whole: Whole, row: readonly Value[]): Value[] => whole.keys.map((at) => row[at] ?? null);
const sameKey = (whole: Whole, a: readonly Value[], b: readonly Value[]): boolean => sortKey(whole, a).every((value, at) => equalWithin(value, sortKey(whole, b)[at]!));

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

/** Are the actual rows another legal answer? Groups of equal keys are compared as bags, cut groups as parts of bags. */
function judgeTie(verdict: Verdict, actual: ResultSet, whole: Whole, cut: boolean): Verdict {
  const from = whole.offset;
  const to = whole.limit === undefined ? whole.rows.length : Math.min(whole.rows.length, from + whole.limit);
  if (actual.rows.length !== to - from) return verdict;
  for (let start = from; start < to; ) {
    const first = whole.rows[start]!;
    let end = start;
    while (end < to && sameKey(whole, whole.rows[end]!, first)) end++;
    const group = new Map<string, number>();
    for (const row of whole.rows) if (sameKey(whole, row, first)) bump(group, rowKey(row.slice(0, whole.width)), 1);
    for (const row of actual.rows.slice(start - from, end - from)) {
      const key = rowKey(row.slice(0, whole.width));
      if ((group.get(key) ?? 0) === 0) return verdict;
      bump(group, key, -1);
    }
    start = end;
  }
  return cut
    ? { ...verdict, kind: 'tie', detail: 'another legal choice among rows that tie at the limit' }
    : { ...verdict, kind: 'equal', detail: 'the rows are equal; rows with equal sort keys come in another order' };
}

const bump = (counts: Map<string, number>, key: string, by: number): void => {
  counts.set(key, (counts.get(key) ?? 0) + by);
};

async function runSource(input: EquivalenceInput, sql: string): Promise<ResultSet | Verdict> {
  try {
    const { columns, rows, more } = await input.queries.query(input.sourcePath, sql, { timeoutMs: TIMEOUT_MS, maxRows: MAX_ROWS }, input.signal);
    if (more) return failure('error', `the source query returns more than ${MAX_ROWS} rows`);
    return { columns, rows };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    if (error.kind === 'cancelled') throw error;
    return failure(error.kind === 'timeout' ? 'timeout' : error.kind === 'forbidden' ? 'forbidden' : 'error', `the source query does not run: ${error.message}`);
  }
}

async function runPipeline(input: EquivalenceInput): Promise<ResultSet | Verdict> {
  let documents: Value[];
  try {
    const found = await runGuarded(input.db, input.collection, pinPipeline(input.pipeline, input.clock), { maxTimeMS: TIMEOUT_MS, maxRows: MAX_ROWS, maxBytes: 256 * 1024 * 1024, signal: input.signal });
    documents = found.map(fromBson);
  } catch (error) {
    if (!(error instanceof GuardedError)) throw error;
    return failure(error.kind === 'timeout' ? 'timeout' : error.kind === 'forbidden' ? 'forbidden' : 'error', `the pipeline does not run: ${error.message}`);
  }
  const paths = input.columns.map((column) => column.path);
  const extra = new Set(documents.flatMap((document) => (isValueDocument(document) ? Object.keys(document) : []).filter((name) => !paths.includes(name))));
  const names = [...input.columns.map((column) => column.name), ...extra];
  const fields = [...paths, ...extra];
  return { columns: names, rows: documents.map((document) => fields.map((name) => (isValueDocument(document) && Object.hasOwn(document, name) ? document[name]! : null))) };
}

const failure = (kind: Verdict['kind'], detail: string): Verdict => ({ kind, detail, mapping: [], expectedRows: 0, actualRows: 0, onlyExpected: [], onlyActual: [] });

const carry = (result: ResultSet, names: readonly string[], transforms: readonly (Transform | undefined)[]): ResultSet => ({
  columns: result.columns.map((name, at) => names[at] ?? name),
  rows: result.rows.map((row) => row.map((value, at) => cell(transforms[at], value))),
});

const cell = (transform: Transform | undefined, value: Value): Value => (transform ? applyTransform(transform, value as SqliteValue) : value);

/** A digest over rows that does not depend on their order, unless order counts: only a fast path, never a proof. */
export function resultDigest(result: ResultSet, ordered: boolean): string {
  const keys = result.rows.map((row) => row.map(valueKey).map((key) => `${key.length}:${key}`).join(''));
  return sha256(`${result.columns.length}\n${(ordered ? keys : keys.sort()).join('\n')}`);
}
