import { BSON, type Db, type Document } from 'mongodb';
import type { DocumentDesign } from '../design/document-design';
import { GuardedError, runGuarded } from '../mongo/guarded';
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
}

/** A mutation may turn a filter into none: what it returns is cut off long before it could hurt. */
const LIMITS = { maxTimeMS: 5_000, maxRows: 20_000, maxBytes: 64 * 1024 * 1024 };

/** The pipeline has a predicate that could be any of its near misses without another result: this data does not show that it is right. */
export async function isWeaklyTested({ db, collection, pipeline, design, ordered, clock, signal }: WeaklyTestedInput): Promise<boolean> {
  const digest = async (stages: readonly Document[]): Promise<string> => {
    try {
      const documents = await runGuarded(db, collection, pinPipeline(stages, clock), { ...LIMITS, signal });
      const rows = documents.map((document) => BSON.EJSON.stringify(document, { relaxed: false }));
      return (ordered ? rows : rows.sort()).join('\n');
    } catch (error) {
      if (!(error instanceof GuardedError) || signal.aborted) throw error;
      return FAILS;
    }
  };
  const mutations = mutationsOf({ collection, pipeline, design, ordered });
  if (!mutations.some(({ predicate }) => predicate !== undefined)) return false;
  const original = await digest(pipeline);
  return original !== FAILS && (await weakPredicates(mutations, original, digest)).length > 0;
}

const FAILS = 'fails';
