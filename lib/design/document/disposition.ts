import { relationshipById, type Profile, type Relationship } from '../../sqlite/profile/profile';
import type { ConceptualDesign, RelationshipChoice } from '../model/document-design';

/** A conceptual design before its document is written. */
export type Draft = Omit<ConceptualDesign, 'document'>;

/**
 * Where the rows of a table live: as documents of `root`'s collection, or embedded in them along
 * `steps`.
 */
export interface Home {
  readonly root: string;
  readonly steps: readonly { readonly field: string; readonly cardinality: 'one' | 'many' }[];
}

export function homesOf(design: Draft, profile: Profile): Map<string, Home> {
  const embeds = new Map(
    chosenIn(design, profile).flatMap(({ choice, relationship }) =>
      choice.choice === 'embed'
        ? [[relationship.childTable, { choice, parent: relationship.parentTable }] as const]
        : [],
    ),
  );
  return new Map(
    profile.tables.map(({ table }) => {
      const steps: Home['steps'][number][] = [];
      let root = table;
      // A circle, which the loss check refuses, ends as well.
      for (
        let embed = embeds.get(root);
        embed && steps.length < embeds.size;
        embed = embeds.get(root)
      ) {
        steps.unshift({
          field: embed.choice.field ?? root,
          cardinality: embed.choice.cardinality ?? 'many',
        });
        root = embed.parent;
      }
      return [table, { root, steps }];
    }),
  );
}

export const chosenIn = (
  design: Draft,
  profile: Profile,
): { choice: RelationshipChoice; relationship: Relationship }[] =>
  design.relationships.flatMap((choice) => {
    const relationship = relationshipById(profile, choice.relationship);
    return relationship ? [{ choice, relationship }] : [];
  });

export interface Disposition {
  readonly table: string;
  readonly disposition: 'standalone' | 'embedded' | 'missing';
  readonly collections: readonly string[];
  /**
   * Collections that repeat some of its columns: beside references to it, of its rows in their
   * parents, or as names and values.
   */
  readonly copies: readonly string[];
}

/** The paper's Table 6: every source table with its destination. */
export function dispositions(design: Draft, profile: Profile): Disposition[] {
  const homes = homesOf(design, profile);
  const collectionsOf = (table: string): string[] =>
    design.collections
      .filter(({ rootTable }) => rootTable === homes.get(table)?.root)
      .map(({ name }) => name);
  const copies = chosenIn(design, profile).flatMap(
    ({ choice, relationship: { childTable, parentTable } }) => [
      ...(choice.columns ? [{ of: parentTable, within: childTable }] : []),
      ...(choice.subset || choice.outlier ? [{ of: childTable, within: parentTable }] : []),
    ],
  );
  for (const { rootTable, attributes } of design.collections)
    if (attributes) copies.push({ of: rootTable, within: rootTable });
  return profile.tables.map(({ table }) => {
    const collections = collectionsOf(table);
    const placed = homes.get(table)?.root === table ? 'standalone' : 'embedded';
    return {
      table,
      disposition: collections.length === 0 ? 'missing' : placed,
      collections,
      copies: [
        ...new Set(
          copies.filter(({ of }) => of === table).flatMap(({ within }) => collectionsOf(within)),
        ),
      ].sort(),
    };
  });
}
