import { BSON } from 'mongodb';
import { pipelinesIn, type Pipeline } from '../mql/stage';
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
export function assertBudget(pipeline: Pipeline): void {
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

function measure(pipeline: Pipeline, depth: number): { stages: number; nesting: number } {
  let stages = pipeline.length;
  let nesting = depth;
  for (const stage of pipeline) {
    for (const inner of pipelinesIn(stage)) {
      const found = measure(inner, depth + 1);
      stages += found.stages;
      nesting = Math.max(nesting, found.nesting);
    }
  }
  return { stages, nesting };
}
