import type { Profile, Relationship } from '../../sqlite/profile/profile';
import type { QueryBlock } from '../../sqlite/select/query-blocks';
import type { Placement } from '../model/placement';
import type { Cost } from '../model/score';

/**
 * What a block's estimate depends on: where a design puts its tables, and which indexes the
 * collections have. Two designs that agree in these estimate the block alike, whatever else they
 * do.
 */
export interface EstimateInputs {
  /** By the block's sources; candidates share the placements that they have in common. */
  readonly placements: readonly (Placement | undefined)[];
  /** The keys of each placement's collection, as text. */
  readonly indexes: readonly string[];
}

/** Estimates remembered for a block. One choice changes few placements; a search tries them all. */
const MOST_REMEMBERED = 64;

/** A pass of the workload over the data, with what is known of it on one profile. */
export class BlockEstimates {
  /** Of the profile, those between tables of the block. */
  readonly relationships: readonly Relationship[];
  private readonly known: (EstimateInputs & { readonly cost: Cost })[] = [];

  constructor({ sources }: QueryBlock, profile: Profile) {
    const tables = new Set(sources.map(({ table }) => table));
    this.relationships = profile.relationships.filter(
      ({ childTable, parentTable }) => tables.has(childTable) && tables.has(parentTable),
    );
  }

  estimate(inputs: EstimateInputs, estimate: () => Cost): Cost {
    const found = this.known.find(
      ({ placements, indexes }) =>
        same(placements, inputs.placements) && same(indexes, inputs.indexes),
    );
    if (found) return found.cost;
    const cost = estimate();
    this.known.unshift({ ...inputs, cost });
    if (this.known.length > MOST_REMEMBERED) this.known.pop();
    return cost;
  }
}

const same = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.every((value, index) => value === b[index]);

const ofProfile = new WeakMap<Profile, WeakMap<QueryBlock, BlockEstimates>>();

export function blockEstimates(block: QueryBlock, profile: Profile): BlockEstimates {
  const blocks = ofProfile.get(profile) ?? new WeakMap<QueryBlock, BlockEstimates>();
  ofProfile.set(profile, blocks);
  const estimates = blocks.get(block) ?? new BlockEstimates(block, profile);
  blocks.set(block, estimates);
  return estimates;
}
