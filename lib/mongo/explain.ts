import { MongoServerError, type Db, type Document } from 'mongodb';
import { asOutage } from './outage';

const MAX_TIME_MS = 120_000;

/**
 * Documents that a pipeline examines, as `explain` with `executionStats` reports them: the sum of
 * every `totalDocsExamined` and of the lookups' `totalDocsExamined` inside stages. The query runs
 * for it. Null where the server tells nothing: it may not explain what it runs, or not in time.
 */
export async function documentsExamined(
  db: Db,
  collection: string,
  pipeline: readonly Document[],
  signal?: AbortSignal,
): Promise<number | null> {
  let plan: Document;
  try {
    plan = await db.command(
      {
        explain: { aggregate: collection, pipeline: [...pipeline], cursor: {} },
        verbosity: 'executionStats',
        maxTimeMS: MAX_TIME_MS,
      },
      signal ? { signal } : {},
    );
  } catch (error) {
    const outage = asOutage(error);
    if (outage === error && error instanceof MongoServerError) return null;
    throw outage;
  }
  let [sum, found] = [0, false];
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'totalDocsExamined') {
        sum += Number(value);
        found = true;
      } else if (key !== 'command') visit(value);
    }
  };
  visit(plan);
  return found ? sum : null;
}
