import type { Db, Document } from 'mongodb';

/**
 * Documents that a pipeline examines, as `explain` with `executionStats` reports them: the sum of every
 * `totalDocsExamined` and of the lookups' `totalDocsExamined` inside stages. Null where the server tells nothing.
 */
export async function documentsExamined(db: Db, collection: string, pipeline: readonly Document[]): Promise<number | null> {
  const plan = await db.command({ explain: { aggregate: collection, pipeline: [...pipeline], cursor: {} }, verbosity: 'executionStats' });
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
