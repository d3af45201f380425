import type { Db, Document } from 'mongodb';
import type { DocumentDesign } from '../design/document-design';
import { GuardedError, runGuarded } from '../mongo/guarded';
import { documentsDigest, MOST_DIGESTED } from './documents-digest';
import type { PipelineRun } from './equivalence';
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
const LIMITS = { maxTimeMS: 5_000, maxRows: MOST_DIGESTED, maxBytes: 64 * 1024 * 1024 };

/** The pipeline has a predicate that could be any of its near misses without another result: this data does not show that it is right. */
export async function isWeaklyTested({ db, collection, pipeline, design, ordered, clock, signal, known }: WeaklyTestedInput): Promise<boolean> {
  const run = (stages: readonly Document[], maxRows: number): Promise<Document[]> => runGuarded(db, collection, pinPipeline(stages, clock), { ...LIMITS, maxRows, signal });
  const mutations = mutationsOf({ collection, pipeline, design, ordered });
  if (!mutations.some(({ predicate }) => predicate !== undefined)) return false;
  const original = known ?? (await firstRun(() => run(pipeline, MOST_DIGESTED), ordered, signal));
  // What takes too long itself cannot be told from mutations that do.
  if (original?.digest === undefined || original.milliseconds > LIMITS.maxTimeMS) return false;
  const digest = async (stages: readonly Document[]): Promise<string> => {
    try {
      // One document more is another result, whatever follows.
      return documentsDigest(await run(stages, original.documents), ordered);
    } catch (error) {
      if (!(error instanceof GuardedError) || signal.aborted) throw error;
      return FAILS;
    }
  };
  return (await weakPredicates(mutations, original.digest, digest)).length > 0;
}

async function firstRun(run: () => Promise<Document[]>, ordered: boolean, signal: AbortSignal): Promise<PipelineRun | undefined> {
  try {
    const documents = await run();
    return { milliseconds: 0, documents: documents.length, digest: documentsDigest(documents, ordered) };
  } catch (error) {
    if (!(error instanceof GuardedError) || signal.aborted) throw error;
    return undefined;
  }
}

const FAILS = 'fails';
