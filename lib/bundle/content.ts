import type { ConceptualDesign, IndexDesign, LogicalDesign } from '../design/model/document-design';
import type { Migration } from '../migration/migrate';
import type { ImportProblem, Item, QuestionFile, SourceDatabase } from '../sqlite/benchmark';
import type { Catalog } from '../sqlite/catalog';
import type { Profile } from '../sqlite/profile/profile';
import type { OutputColumn } from '../translation/check/pipeline-rows';
import type { CollectionValidation } from '../validation/collection-validation';
import type { CrossValidation } from '../validation/cross-validation';
import type { TableValidation } from '../validation/table-validation';

/** Everything that goes into a bundle, from wherever it is kept. */
export interface BundleContent {
  readonly name: string;
  readonly toolVersion: string;
  readonly engine: { readonly name: string; readonly version: string };
  readonly questionFiles: readonly Pick<QuestionFile, 'split' | 'sha256' | 'items'>[];
  readonly databases: readonly BundleDatabase[];
  /** What the import could not take. */
  readonly problems: readonly ImportProblem[];
  readonly provenance: {
    readonly decisions: readonly unknown[];
    readonly effort: readonly {
      readonly database: string;
      readonly gate: string;
      readonly minutes: number;
    }[];
    readonly agentRuns: readonly unknown[];
    readonly auditHead: { readonly seq: number; readonly hash: string } | null;
  };
  /** Set for a draft: what a finalised bundle would still need. */
  readonly missing: readonly string[] | undefined;
}

export interface BundleDatabase {
  readonly source: SourceDatabase;
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly conceptual: ConceptualDesign;
  readonly logical: readonly LogicalDesign[];
  readonly indexes: IndexDesign;
  readonly migration: Migration;
  readonly validation: {
    readonly collection: readonly CollectionValidation[];
    readonly crossCollection: readonly CrossValidation[];
    readonly table: readonly TableValidation[];
  };
  readonly items: readonly BundleItem[];
}

export interface BundleItem {
  readonly item: Item;
  readonly status: 'translated' | 'untranslated' | 'excluded';
  readonly mql: {
    readonly collection: string;
    readonly pipeline: readonly Record<string, unknown>[];
  } | null;
  readonly columns: readonly OutputColumn[];
  readonly caveats: readonly string[];
  readonly defects: readonly unknown[];
  readonly optimised: boolean;
  /** ISO time at which the clock is pinned, of gold that depends on the time. */
  readonly clock?: string;
  readonly evidenceMql: string;
  readonly reason?: { readonly code: number; readonly text: string };
  readonly attempts: readonly unknown[];
  readonly decisions: readonly unknown[];
}
