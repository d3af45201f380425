import { documentCount } from '../../design/buckets';
import {
  logicalDesignOf,
  type DocumentDesign,
  type IndexDesign,
} from '../../design/document-design';
import type { Catalog } from '../../sqlite/catalog';
import type { Profile } from '../../sqlite/profile/profile';
import type { MqlDocument } from '../mql/mql';

export interface RuleContext {
  readonly collection: string;
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly design: DocumentDesign;
  /**
   * Where they are known: a rule may count on them. Keys and references are indexed in any case.
   */
  readonly indexes?: IndexDesign;
  /** In the pipeline of a `$lookup` by fields: the one by which its documents are found. */
  readonly joinedBy?: string;
}

/**
 * A rewriting that keeps the rows. `apply` does one step, or returns undefined where it finds
 * nothing to do.
 */
export interface Rule {
  readonly name: string;
  apply(pipeline: readonly MqlDocument[], context: RuleContext): Rewriting | undefined;
}

export interface Rewriting {
  readonly pipeline: readonly MqlDocument[];
  /** Set when the pipeline now starts from another collection. */
  readonly collection?: string;
  /** One sentence that names what was changed and why the rows stay the same. */
  readonly reason: string;
}

/** The pipeline with `count` stages from `at` on replaced. */
export const replaceStages = (
  pipeline: readonly MqlDocument[],
  at: number,
  count: number,
  ...stages: readonly MqlDocument[]
): MqlDocument[] => [...pipeline.slice(0, at), ...stages, ...pipeline.slice(at + count)];

/** Documents of a collection, as far as the profile knows. */
export function documentsOf(collection: string, { design, profile }: RuleContext): number {
  const logical = logicalDesignOf(design, collection);
  return logical ? documentCount(logical, profile) : 0;
}
