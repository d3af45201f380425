import type { TiedRows, Verdict } from '../../results/compare';
import type { OpenChoice } from '../../results/open-choice';
import type { Value } from '../../results/value';
import type { PipelineRun } from './pipeline-rows';

/** What a check found out, without the rows themselves: small enough to be kept for every item. */
export interface CheckedQuery {
  readonly verdict: Verdict;
  readonly caveats: readonly string[];
  /** Absent where the source query gave nothing to compare with. */
  readonly expected?: {
    readonly rowCount: number;
    readonly digest: string;
    /** The first ones, as the documents show them; undefined where they were too large to keep. */
    readonly rows: readonly (readonly Value[])[] | undefined;
    /** Runs of rows with equal sort keys; undefined where the order does not count. */
    readonly tied: readonly TiedRows[] | undefined;
    /** See `Equivalence`. */
    readonly choices?: readonly OpenChoice[];
  };
  /** Of the pipeline's run. */
  readonly run?: PipelineRun;
}
