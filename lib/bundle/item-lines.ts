import { BSON, type Db, type Document } from 'mongodb';
import { printMql } from '../mql/print';
import { extendedPipeline } from '../mql/extended-pipeline';
import { rowToDocument } from '../results/compare';
import { toBsonValue, type Value } from '../results/value';
import { sourceIdOf } from '../sqlite/benchmark';
import { isOutermostOrdered } from '../sqlite/select/outermost-order';
import { type QueryProcess } from '../sqlite/query/query-process';
import { checkQuery, expectedRows } from '../translation/check/check-query';
import { isEquivalent } from '../translation/check/equivalence';
import type { KnownResults } from '../translation/check/known-results';
import { describe } from '../design/model/transform-kind';
import type { BundleDatabase, BundleItem } from './content';
import { parsePipelineJson, pipelineJson } from './pipeline-json';
import { type WrittenItem } from './read-back';

/** For gold that names no clock, because nothing in it depends on one. */
const DEFAULT_CLOCK = '2026-01-01T00:00:00Z';

export interface ItemLines {
  readonly split: string;
  readonly line: string;
  readonly result?: string;
  readonly failure?: string;
  readonly written: WrittenItem;
}

export async function itemLines(
  entry: BundleItem,
  database: BundleDatabase,
  db: Db,
  queries: QueryProcess,
  signal: AbortSignal,
  known: KnownResults | undefined,
): Promise<ItemLines> {
  const { item, mql } = entry;
  const certified = mql && (await certify(entry, mql, database, db, queries, signal, known));
  const { expected, digest = null, failure } = certified ?? {};
  return {
    split: item.split,
    line: itemLine(entry, expected?.rowCount ?? null, digest),
    ...(expected && { result: resultLine(entry, expected) }),
    ...(failure !== undefined && { failure }),
    written: { entry, ...(expected && { expected }) },
  };
}

interface Certified {
  readonly expected?: NonNullable<WrittenItem['expected']>;
  readonly digest?: string;
  /** Set instead of the others where gold is not equal to its source. */
  readonly failure?: string;
}

/** Runs both sides of an item, the gold as it ships. */
async function certify(
  { item, columns, clock }: BundleItem,
  mql: NonNullable<BundleItem['mql']>,
  database: BundleDatabase,
  db: Db,
  queries: QueryProcess,
  signal: AbortSignal,
  known: KnownResults | undefined,
): Promise<Certified> {
  const query = {
    sql: item.sql,
    sourcePath: database.source.path,
    catalog: database.catalog,
    queries,
    db,
    collection: mql.collection,
    pipeline: known ? mql.pipeline : asShipped(mql.pipeline),
    columns,
    clock: clock ?? DEFAULT_CLOCK,
    signal,
  };
  const checked = await checkQuery(query, known);
  const rows = isEquivalent(checked.verdict) ? await expectedRows(checked, query) : undefined;
  if (!rows || !checked.expected)
    return {
      failure:
        `${item.database}/${item.questionId}: gold is not equal to its source: ` +
        `${checked.verdict.detail}`,
    };
  const { rowCount, digest, tied, choices } = checked.expected;
  return { expected: { rowCount, rows, tied, ...(choices && { choices }) }, digest };
}

/** What the source answers, as a line of a results file. */
function resultLine(
  { item, columns }: BundleItem,
  { rowCount, rows, tied, choices }: NonNullable<WrittenItem['expected']>,
): string {
  const paths = columns.map(({ path: field }) => field);
  const asDocument = (row: readonly Value[]) => toBsonValue(rowToDocument(paths, row));
  const openRows = choices?.map(({ rows: open, among }) => ({
    rows: open,
    among: among.map(asDocument),
  }));
  return BSON.EJSON.stringify(
    {
      question_id: sourceIdOf(item),
      db_id: item.database,
      row_count: rowCount,
      rows: rows.map(asDocument),
      ...(tied && { tied_rows: tied }),
      ...(openRows && { open_rows: openRows }),
    },
    { relaxed: false },
  );
}

/** An item as a line of a question file. */
function itemLine(entry: BundleItem, rowCount: number | null, digest: string | null): string {
  const { item, mql } = entry;
  return JSON.stringify({
    question_id: sourceIdOf(item),
    db_id: item.database,
    question: item.question,
    evidence: item.evidence,
    evidence_mql: entry.evidenceMql,
    SQL: item.sql,
    status: entry.status,
    MQL: mql && { collection: mql.collection, pipeline: pipelineJson(mql.pipeline) },
    MQL_text: mql && printMql(mql.collection, mql.pipeline),
    columns: entry.columns.map(({ name, path: field, transform }) => ({
      name,
      path: field,
      transform: describe(transform),
    })),
    difficulty: item.difficulty,
    row_count: rowCount,
    result_digest: digest,
    order_sensitive: isOutermostOrdered(item.sql),
    caveats: entry.caveats,
    // `$$NOW` in the gold stands for this moment.
    ...(entry.clock !== undefined ? { clock: entry.clock } : {}),
    optimised: entry.optimised,
    ...(entry.reason ? { reason: entry.reason } : {}),
    ...(entry.attempts.length > 0 ? { attempts: extendedPipeline(entry.attempts) } : {}),
    decisions: entry.decisions,
  });
}

/** The pipeline that a reader of the bundle gets. */
const asShipped = (pipeline: readonly Document[]): Document[] =>
  parsePipelineJson(JSON.parse(JSON.stringify(pipelineJson(pipeline))));
