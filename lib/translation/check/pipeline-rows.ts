import type { Db, Document } from 'mongodb';
import { GuardedError, runGuarded } from '../../mongo/guarded';
import type { Verdict } from '../../results/compare';
import { Unavailable } from '../../results/unavailable';
import { fromBson, isValueDocument, type ResultSet, type Value } from '../../results/value';
import { isOutermostOrdered } from '../../sqlite/select/outermost-order';
import type { Transform } from '../../design/model/transform-kind';
import { documentsDigest, MOST_DIGESTED } from './documents-digest';
import { runPastStalls } from './past-stalls';
import { pinPipeline } from './pinned-clock';
import { failure, MAX_ROWS, TIMEOUT_MS, type SourceQuery } from './source-rows';

/**
 * One output column of a query in MQL: the field that holds it, and the transform that its source
 * values go through.
 */
export interface OutputColumn {
  readonly name: string;
  readonly path: string;
  readonly transform: Transform;
}

export interface PipelineRun {
  readonly milliseconds: number;
  readonly documents: number;
  /** See `documentsDigest`; undefined for more documents than `MOST_DIGESTED`. */
  readonly digest: string | undefined;
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

/** The documents that a pipeline returns as rows of the query's columns, or why there are none. */
export async function runPipeline(
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
