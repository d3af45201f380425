import type { Db, Document } from 'mongodb';
import type { DocumentDesign } from '../../design/model/document-design';
import { documentsExamined } from '../../mongo/explain';
import { GuardedError, runGuarded } from '../../mongo/guarded';
import { Unavailable } from '../../results/unavailable';
import { documentsDigest, MOST_DIGESTED } from './documents-digest';
import type { PipelineRun } from './pipeline-rows';
import { runPastStalls } from './past-stalls';
import { pinPipeline } from './pinned-clock';
import { mutationsOf, weakPredicates } from './mutations';

export interface WeaklyTestedInput {
  readonly db: Db;
  readonly collection: string;
  readonly pipeline: readonly Document[];
  readonly design: Pick<DocumentDesign, 'logical'>;
  /** The order of the rows counts. */
  readonly ordered: boolean;
  /** ISO time that is taken for now. */
  readonly clock: string;
  readonly signal: AbortSignal;
  /** Of this pipeline, where it ran before with this order. */
  readonly known?: PipelineRun;
}

/** A mutation may turn a filter into none: what it returns is cut off long before it could hurt. */
const LIMITS = { maxTimeMS: 20_000, maxRows: MOST_DIGESTED, maxBytes: 64 * 1024 * 1024 };

/**
 * Pipelines that examine more documents are not mutated: tens of runs of each would take minutes.
 * The number is the same on every machine, as a time would not be.
 */
const MOST_EXAMINED = 200_000;

/**
 * The pipeline has a predicate that could be any of its near misses without another result: this
 * data does not show that it is right.
 */
export async function isWeaklyTested({
  db,
  collection,
  pipeline,
  design,
  ordered,
  clock,
  signal,
  known,
}: WeaklyTestedInput): Promise<boolean> {
  const run = (stages: readonly Document[], maxRows: number): Promise<Document[]> =>
    runGuarded(db, collection, pinPipeline(stages, clock), { ...LIMITS, maxRows, signal });
  const mutations = mutationsOf({ collection, pipeline, design, ordered });
  if (!mutations.some(({ predicate }) => predicate !== undefined)) return false;
  const original = known ?? (await firstRun(() => run(pipeline, MOST_DIGESTED), ordered));
  if (original?.digest === undefined) return false;
  const examined = await documentsExamined(db, collection, pinPipeline(pipeline, clock), signal);
  if (examined !== null && examined > MOST_EXAMINED) return false;
  const digest = async (stages: readonly Document[]): Promise<string> => {
    try {
      // One document more is another result, whatever follows.
      return documentsDigest(await runPastStalls(() => run(stages, original.documents)), ordered);
    } catch (error) {
      if (error instanceof Unavailable && error.resource === 'time') return FAILS;
      if (!(error instanceof GuardedError)) throw error;
      return FAILS;
    }
  };
  return (await weakPredicates(mutations, original.digest, digest)).length > 0;
}

async function firstRun(
  run: () => Promise<Document[]>,
  ordered: boolean,
): Promise<PipelineRun | undefined> {
  try {
    const documents = await runPastStalls(run);
    return {
      milliseconds: 0,
      documents: documents.length,
      digest: documentsDigest(documents, ordered),
    };
  } catch (error) {
    if (error instanceof Unavailable && error.resource === 'time') return undefined;
    if (!(error instanceof GuardedError)) throw error;
    return undefined;
  }
}

const FAILS = 'fails';
