import type { Document } from 'mongodb';
import type { Verdict } from '../../results/compare';
import type { OutputColumn } from '../../translation/check/pipeline-rows';
import type { EvidencePath } from '../../translation/evidence/gold/evidence-paths';
import type { AppliedRule } from '../../translation/rules/optimise';
import type { Timing } from '../../translation/mql/timing';
import type { SourceDefect } from '../../translation/check/source-defects';

/** Contents of the item artefacts; those of the database stages are defined by their engines. */

export interface Mql {
  readonly collection: string;
  readonly pipeline: readonly Document[];
}

export interface Attempt {
  readonly mql: Mql;
  readonly verdict: Pick<Verdict, 'kind' | 'detail'>;
}

/** `translation`: an item's first result-equal pipeline, or the reason why there is none. */
export interface TranslationContent {
  readonly questionId: string;
  readonly status: 'translated' | 'untranslated' | 'excluded';
  readonly mql: Mql | null;
  readonly columns: readonly OutputColumn[];
  readonly caveats: readonly string[];
  /** What looks wrong in the source SQL: named, never repaired. */
  readonly defects: readonly SourceDefect[];
  readonly verdict: Verdict | null;
  readonly reason?: { readonly code: number; readonly text: string };
  readonly attempts: readonly Attempt[];
}

/** `gold`: what ships. `rules` are the optimisations that were applied, in order. */
export interface GoldContent {
  readonly questionId: string;
  readonly mql: Mql;
  readonly before: Mql;
  readonly columns: readonly OutputColumn[];
  readonly caveats: readonly string[];
  readonly defects: readonly SourceDefect[];
  readonly optimised: boolean;
  readonly rules: readonly AppliedRule[];
  /** Rules that were undone because the result or the work changed for the worse. */
  readonly undone: readonly { readonly rule: string; readonly reason: string }[];
  readonly verdict: Verdict;
  readonly rowCount: number;
  readonly resultDigest: string;
  readonly orderSensitive: boolean;
  /** Of an item that depends on the time: the ISO time that both sides took for now. */
  readonly clock?: string;
  /**
   * Null where nothing was optimised, so that there is nothing to compare, and where the server
   * does not tell.
   */
  readonly documentsExamined: { readonly before: number | null; readonly after: number | null };
  /** Of an optimised query, in milliseconds; no part of the content hash. */
  readonly timing?: Timing;
}

/** `evidence`: the benchmark's hint, rewritten for the document model. */
export interface EvidenceContent {
  readonly questionId: string;
  readonly evidence: string;
  readonly evidenceMql: string;
  readonly paths: readonly EvidencePath[];
  readonly unmatched: readonly string[];
}
