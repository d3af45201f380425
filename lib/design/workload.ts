/** The SQL of a source database's items, grouped by shape. */
export interface Workload {
  readonly database: string;
  readonly patterns: readonly AccessPattern[];
  /** Items whose SQL could not be parsed or bound, with the reason. */
  readonly unread: readonly { readonly questionId: string; readonly reason: string }[];
}

export interface AccessPattern {
  /** Tables read together, sorted. */
  readonly tables: readonly string[];
  /** `child(columns)->parent(columns)` pairs joined, where they are relationships of the profile. */
  readonly relationships: readonly string[];
  readonly filtered: readonly ColumnUse[];
  readonly grouped: readonly ColumnUse[];
  readonly sorted: readonly ColumnUse[];
  readonly projected: readonly ColumnUse[];
  readonly frequency: number;
  readonly questionIds: readonly string[];
}

export interface ColumnUse {
  readonly table: string;
  readonly column: string;
}
