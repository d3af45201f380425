import { BSON } from 'mongodb';
import { isDocument, type MqlDocument } from '../mql/mql';
import { Untranslatable } from '../lower/untranslated';

/**
 * What a MongoDB developer would still write and read: beyond it the item goes to a reviewer, with
 * the attempt.
 */
export const BUDGET = {
  /** Stages, those of sub-pipelines included. */
  stages: 60,
  /** `$lookup` in `$lookup` …; the server itself stops at 20. */
  nesting: 8,
  /** Characters of canonical Extended JSON. */
  characters: 16_000,
} as const;

/** Throws `Untranslatable` (budget) for a pipeline that passes it. */
export function assertBudget(pipeline: readonly MqlDocument[]): void {
  const { stages, nesting } = measure(pipeline, 0);
  if (stages > BUDGET.stages)
    throw new Untranslatable(
      'budget',
      `${String(stages)} stages, the budget being ${String(BUDGET.stages)}.`,
    );
  if (nesting > BUDGET.nesting)
    throw new Untranslatable(
      'budget',
      `Pipelines nested ${String(nesting)} deep, the budget being ${String(BUDGET.nesting)}.`,
    );
  const { length } = BSON.EJSON.stringify(pipeline, { relaxed: false });
  if (length > BUDGET.characters)
    throw new Untranslatable(
      'budget',
      `${String(length)} characters, the budget being ${String(BUDGET.characters)}.`,
    );
}

function measure(
  pipeline: readonly MqlDocument[],
  depth: number,
): { stages: number; nesting: number } {
  let stages = pipeline.length;
  let nesting = depth;
  for (const stage of pipeline) {
    const [operand] = Object.values(stage);
    if (!isDocument(operand)) continue;
    const inner = '$facet' in stage ? Object.values(operand) : [operand['pipeline']];
    for (const sub of inner) {
      if (!Array.isArray(sub)) continue;
      const found = measure(sub as MqlDocument[], depth + 1);
      stages += found.stages;
      nesting = Math.max(nesting, found.nesting);
    }
  }
  return { stages, nesting };
}
