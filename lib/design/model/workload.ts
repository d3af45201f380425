import type { Relationship } from '../../sqlite/profile/profile';
import type { QueryBlock } from '../../sqlite/select/query-blocks';
import type { TextUse } from '../../sqlite/select/text-uses';

/** The SQL of a source database's items, grouped by shape. */
export interface Workload {
  readonly database: string;
  readonly patterns: readonly AccessPattern[];
  /** Items whose SQL could not be parsed or bound, with the reason. */
  readonly unread: readonly { readonly questionId: string; readonly reason: string }[];
  /** What the queries ask of columns of numbers that are written as text. */
  readonly textUses?: readonly ColumnTextUses[];
  /** Set when no item asks the database: the patterns are then inferred from its schema. */
  readonly assumed?: boolean;
}

export interface ColumnTextUses {
  readonly table: string;
  readonly column: string;
  readonly uses: readonly { readonly use: TextUse; readonly questionIds: readonly string[] }[];
}

export interface AccessPattern {
  /** Tables read together, sorted. */
  readonly tables: readonly string[];
  /**
   * `child(columns)->parent(columns)` pairs joined, where they are relationships of the profile.
   */
  readonly relationships: readonly string[];
  readonly filtered: readonly ColumnUse[];
  readonly grouped: readonly ColumnUse[];
  readonly sorted: readonly ColumnUse[];
  readonly projected: readonly ColumnUse[];
  readonly aggregated: readonly ColumnUse[];
  /** Queries of this shape. */
  readonly frequency: number;
  /**
   * The same queries by what decides their cost: which passes over the data they make, and by which
   * conditions.
   */
  readonly variants: readonly PatternVariant[];
}

export interface PatternVariant {
  readonly blocks: readonly QueryBlock[];
  readonly questionIds: readonly string[];
}

export interface ColumnUse {
  readonly table: string;
  readonly column: string;
}

/** Queries of the workload that join the two tables of a relationship by it. */
export const readTogether = (workload: Workload, relationship: Relationship): number =>
  workload.patterns
    .filter((pattern) => pattern.relationships.includes(relationship.id))
    .reduce((sum, pattern) => sum + pattern.frequency, 0);

/** Queries that read one table and not the other. */
export const readWithout = (workload: Workload, table: string, other: string): number =>
  workload.patterns
    .filter((pattern) => pattern.tables.includes(table) && !pattern.tables.includes(other))
    .reduce((sum, pattern) => sum + pattern.frequency, 0);
