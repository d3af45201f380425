import type { Item } from '../benchmark';
import type { Catalog } from '../catalog';
import { tryReadSql } from '../select/read-sql';
import { queryBlocks } from '../select/query-blocks';

/** Two columns that items join, and how many of them do. */
export interface AskedJoin {
  readonly sides: readonly [JoinSide, JoinSide];
  readonly queries: number;
}
export interface JoinSide {
  readonly table: string;
  readonly column: string;
}

/**
 * What the items' SQL joins, between tables of their own; SQL that cannot be read joins nothing.
 */
export function askedJoins(items: readonly Pick<Item, 'sql'>[], catalog: Catalog): AskedJoin[] {
  const found = new Map<string, { sides: [JoinSide, JoinSide]; queries: number }>();
  for (const { sql } of items) {
    for (const [key, sides] of joinsOf(sql, catalog)) {
      const known = found.get(key) ?? { sides, queries: 0 };
      known.queries++;
      found.set(key, known);
    }
  }
  return [...found.values()].sort((a, b) => b.queries - a.queries);
}

function joinsOf(sql: string, catalog: Catalog): Map<string, [JoinSide, JoinSide]> {
  const joins = new Map<string, [JoinSide, JoinSide]>();
  const query = tryReadSql(sql, catalog)?.binding.query;
  for (const { sources, joins: pairs } of query ? queryBlocks(query) : []) {
    for (const { left, right } of pairs) {
      const sides = [left, right]
        .map(({ source, column }): JoinSide => ({ table: sources[source]!.table, column }))
        .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) as [JoinSide, JoinSide];
      if (sides[0].table !== sides[1].table) joins.set(JSON.stringify(sides), sides);
    }
  }
  return joins;
}
