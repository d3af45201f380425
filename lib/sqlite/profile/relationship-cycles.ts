import type { Relationship } from './profile';

const MAX_CYCLES = 100;

/**
 * Circles of relationships, child to parent, each once and from its first table by the order of the
 * relationships; at most a hundred, since a dense schema has exponentially many.
 */
export function relationshipCycles(relationships: readonly Relationship[]): string[][] {
  const tables = [
    ...new Set(relationships.flatMap(({ childTable, parentTable }) => [childTable, parentTable])),
  ];
  const order = new Map(tables.map((table, index) => [table, index]));
  const from = new Map(
    tables.map((table) => [table, relationships.filter(({ childTable }) => childTable === table)]),
  );
  const cycles: string[][] = [];
  for (const start of tables) {
    const reaching = tablesReaching(
      start,
      relationships,
      (table) => order.get(table)! >= order.get(start)!,
    );
    const walk = (table: string, path: readonly Relationship[]): void => {
      for (const relationship of from.get(table)!) {
        if (cycles.length >= MAX_CYCLES) return;
        const next = relationship.parentTable;
        if (next === start) cycles.push([...path, relationship].map(({ id }) => id));
        // Tables before the start have had their turn; those that do not lead back would be walked
        // in vain.
        else if (reaching.has(next) && !path.some(({ childTable }) => childTable === next))
          walk(next, [...path, relationship]);
      }
    };
    walk(start, []);
  }
  return cycles;
}

function tablesReaching(
  target: string,
  relationships: readonly Relationship[],
  allowed: (table: string) => boolean,
): Set<string> {
  const found = new Set<string>();
  for (let open = [target]; open.length > 0;) {
    const next = relationships
      .filter(
        ({ childTable, parentTable }) =>
          open.includes(parentTable) && allowed(childTable) && !found.has(childTable),
      )
      .map(({ childTable }) => childTable);
    open = [...new Set(next)];
    for (const table of open) found.add(table);
  }
  return found;
}
