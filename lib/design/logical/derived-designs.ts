import { type Catalog } from '../../sqlite/catalog';
import type { Profile, Relationship } from '../../sqlite/profile/profile';
import type { Directive } from '../model/directive';
import type {
  CollectionDesign,
  ConceptualDesign,
  DocumentDesign,
  LogicalDesign,
} from '../model/document-design';
import { deriveLogical } from './logical';

/**
 * Derives one candidate after the other. What candidates have in common is derived once and is the
 * same object in all of them, so that whatever is known of a collection stays known.
 */
export class DerivedDesigns {
  private readonly known = new Map<string, LogicalDesign>();
  /** Relationships by each of their tables. */
  private readonly touching = new Map<string, Relationship[]>();

  constructor(
    private readonly catalog: Catalog,
    private readonly profile: Profile,
    private readonly directives: readonly Directive[],
  ) {
    for (const relationship of profile.relationships)
      for (const table of new Set([relationship.childTable, relationship.parentTable]))
        this.touching.set(table, [...(this.touching.get(table) ?? []), relationship]);
  }

  /** The same as `deriveDesign`, without types. */
  design(conceptual: ConceptualDesign): DocumentDesign {
    const { catalog, profile, directives } = this;
    const choices = new Map(
      conceptual.relationships.map((choice) => [
        choice.relationship,
        { isEmbedded: choice.choice === 'embed', text: JSON.stringify(choice) },
      ]),
    );
    const rules = new Map(
      conceptual.collections.map(({ rootTable, id }) => [rootTable, JSON.stringify(id)]),
    );
    const logical = conceptual.collections.map((collection) => {
      const key = this.keyOf(collection, choices, rules);
      const derived =
        this.known.get(key) ??
        deriveLogical(collection.name, { conceptual, catalog, profile, directives });
      this.known.set(key, derived);
      return derived;
    });
    return { conceptual, logical };
  }

  /** Everything of a candidate that decides the fields of one of its collections. */
  private keyOf(
    collection: CollectionDesign,
    choices: ReadonlyMap<string, { readonly isEmbedded: boolean; readonly text: string }>,
    rules: ReadonlyMap<string, string>,
  ): string {
    const parts = [JSON.stringify(collection)];
    const visit = (table: string): void => {
      for (const { id, childTable, parentTable } of this.touching.get(table) ?? []) {
        const choice = choices.get(id);
        if (!choice) continue;
        parts.push(choice.text);
        if (parentTable !== table) continue;
        // Of children that are kept, the entries are named as their own documents are.
        parts.push(rules.get(childTable) ?? '');
        if (choice.isEmbedded && childTable !== table) visit(childTable);
      }
    };
    visit(collection.rootTable);
    return parts.join('\n');
  }
}
