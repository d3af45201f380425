import type { Profile, Relationship } from '../../sqlite/profile/profile';
import { joinsOn, type QueryBlock } from '../../sqlite/select/query-blocks';
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
  private readonly links = new Map<number, ReadonlyMap<number, readonly BlockLink[]>>();

  constructor(
    private readonly block: QueryBlock,
    profile: Profile,
  ) {
    const tables = new Set(block.sources.map(({ table }) => table));
    this.relationships = profile.relationships.filter(
      ({ childTable, parentTable }) => tables.has(childTable) && tables.has(parentTable),
    );
  }

  /** The relationships by which the block joins a source with others, by these. */
  linksOf(source: number): ReadonlyMap<number, readonly BlockLink[]> {
    const known = this.links.get(source) ?? this.findLinks(source);
    this.links.set(source, known);
    return known;
  }

  private findLinks(source: number): ReadonlyMap<number, readonly BlockLink[]> {
    const { sources } = this.block;
    const found = new Map<number, BlockLink[]>();
    for (const [other, { table }] of sources.entries()) {
      const links = this.relationships.flatMap((relationship): BlockLink[] => {
        const isChild = relationship.childTable === sources[source]!.table;
        const [child, parent] = isChild ? [source, other] : [other, source];
        const isBetween =
          sources[child]!.table === relationship.childTable &&
          sources[parent]!.table === relationship.parentTable &&
          table !== sources[source]!.table;
        const isJoined =
          isBetween &&
          joinsOn(
            this.block,
            { source: child, columns: relationship.childColumns },
            { source: parent, columns: relationship.parentColumns },
          );
        return isJoined
          ? [{ relationship, child, needed: columnsNeeded(this.block, source, relationship) }]
          : [];
      });
      if (links.length > 0) found.set(other, links);
    }
    return found;
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

/** A relationship by which a block joins two of its sources. */
export interface BlockLink {
  readonly relationship: Relationship;
  /** The source that refers. */
  readonly child: number;
  /** What the block needs of the source that was asked for, the join to its reference aside. */
  readonly needed: readonly string[];
}

function columnsNeeded(block: QueryBlock, at: number, except: Relationship): readonly string[] {
  const joined = block.joins
    .flatMap(({ left, right }) => [left, right])
    .filter(({ source, column }) => source === at && !except.parentColumns.includes(column));
  const { read, equality, range, other } = block.sources[at]!;
  return [...read, ...equality, ...range, ...other, ...joined.map(({ column }) => column)];
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
