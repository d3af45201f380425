import type { Catalog } from '../../sqlite/catalog';
import type { Profile, Relationship } from '../../sqlite/profile/profile';

/** The baseline cannot convert this database; the message says why (the paper's Table 3). */
export class StrategyFails extends Error {}

/**
 * The foreign-key baseline (TEND-v2, as the paper describes it in §7): a table with one foreign key
 * is nested in its parent, whatever the data; a table with several links others and stays a
 * collection. Rows without a parent are not looked at: they get lost. Self-references and cycles
 * cannot be nested.
 */
export function foreignKeyEmbeddings(catalog: Catalog, profile: Profile): Relationship[] {
  const declared = profile.relationships.filter((relationship) => relationship.declared);
  const self = declared.find((relationship) => relationship.selfReference);
  if (self)
    throw new StrategyFails(
      `${self.childTable} refers to itself (${self.childColumns.join(', ')})`,
    );
  const chosen = catalog.tables.flatMap((table) => {
    const keys = declared.filter((relationship) => relationship.childTable === table.name);
    return keys.length === 1 ? keys : [];
  });
  const parents = new Map(
    chosen.map((relationship) => [relationship.childTable, relationship.parentTable]),
  );
  for (const start of parents.keys()) {
    const seen = new Set([start]);
    for (let at = parents.get(start); at !== undefined; at = parents.get(at)) {
      if (seen.has(at))
        throw new StrategyFails(`the foreign keys of ${[...seen].join(', ')} form a cycle`);
      seen.add(at);
    }
  }
  return chosen;
}
