import { documentCount } from '../../design/model/document-count';
import {
  logicalDesignOf,
  type DocumentDesign,
  type IndexDesign,
} from '../../design/model/document-design';
import type { Catalog } from '../../sqlite/catalog';
import type { Profile } from '../../sqlite/profile/profile';
import type { Pipeline, Stage } from '../mql/stage';
import type { PlanNodes } from '../plan/plan';
import { writePlan } from '../plan/write-plan';

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
  apply(pipeline: Pipeline, context: RuleContext): Rewriting | undefined;
}

export interface Rewriting {
  readonly pipeline: Pipeline;
  /** Set when the pipeline now starts from another collection. */
  readonly collection?: string;
  /** One sentence that names what was changed and why the rows stay the same. */
  readonly reason: string;
}

/** The pipeline with `count` stages from `first` on replaced. */
export const replaceStages = (
  pipeline: Pipeline,
  first: number,
  count: number,
  ...stages: readonly Stage[]
): Pipeline => [...pipeline.slice(0, first), ...stages, ...pipeline.slice(first + count)];

/** The pipeline with other nodes, or none, in place of one. */
export const replaceNode = (plan: PlanNodes, index: number, ...nodes: PlanNodes): Pipeline =>
  writePlan([...plan.slice(0, index), ...nodes, ...plan.slice(index + 1)]);

/** Documents of a collection, as far as the profile knows. */
export function documentsOf(collection: string, { design, profile }: RuleContext): number {
  const logical = logicalDesignOf(design, collection);
  return logical ? documentCount(logical, profile) : 0;
}
