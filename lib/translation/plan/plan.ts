import type { Mql, MqlDocument } from '../mql/mql';
import type { Stage } from '../mql/stage';

/**
 * A query as the compiler means it: the documents of one collection, and what happens to their rows
 * node by node. Expressions, filters and paths are MQL already; which stages a node needs, and what
 * they look like, only `write-plan` and `read-plan` know.
 */
export interface Plan {
  /** Whose documents are the rows that the first node gets. */
  readonly scan: string;
  readonly nodes: PlanNodes;
}

export type PlanNodes = readonly PlanNode[];

export type PlanNode =
  | Filter
  | Compute
  | Discard
  | UnwindArray
  | Join
  | Aggregate
  | Window
  | Sort
  | Skip
  | Limit
  | SetOperation
  | OneRow
  | Project
  | Replace
  | Written;

export interface Filter {
  readonly kind: 'filter';
  readonly where: MqlDocument;
}

/** Adds fields, or gives them other values. */
export interface Compute {
  readonly kind: 'compute';
  readonly fields: MqlDocument;
}

export interface Discard {
  readonly kind: 'discard';
  readonly fields: readonly string[];
}

/** One row for each element of an array. */
export interface UnwindArray {
  readonly kind: 'unwind';
  readonly path: string;
  /** A row without elements stays, without the field. */
  readonly keepsEmpty: boolean;
}

/** What a join makes of a row and its partners, the rows of another plan that belong to it. */
export type JoinKind =
  /** One row for each partner, which is in the field `as`. */
  | 'inner'
  /** The same, and a row without a partner stays. */
  | 'left'
  /** The row, if it has a partner; nothing behind it reads the field. */
  | 'semi'
  /** The row, with all partners as an array in the field `as`. */
  | 'array';

export interface Join {
  readonly kind: 'join';
  readonly join: JoinKind;
  readonly scan: string;
  /** The equality by which partners are found; an index serves it. */
  readonly key?: JoinKey;
  /** What `nodes` sees of the row, by the names of its variables. */
  readonly variables: MqlDocument;
  /** What happens to the partners first. */
  readonly nodes: PlanNodes;
  readonly as: string;
  /**
   * The rows keep most partners themselves, in this array; the key leads to those of the others
   * only (pattern `outlier`).
   */
  readonly kept?: string | undefined;
}

/** An inner join by its key and nothing else. */
export interface KeyJoin extends Join {
  readonly join: 'inner';
  readonly key: JoinKey;
  readonly kept?: undefined;
}

export const isKeyJoin = (node: PlanNode | undefined): node is KeyJoin =>
  node?.kind === 'join' && node.join === 'inner' && isByKeyAlone(node) && node.kept === undefined;

/** The key alone says who the partners are, and they come as they are stored. */
export const isByKeyAlone = (join: Join): join is Join & { readonly key: JoinKey } =>
  join.key !== undefined && Object.keys(join.variables).length === 0 && join.nodes.length === 0;

export interface JoinKey {
  readonly localField: string;
  readonly foreignField: string;
}

/** One row for each value of the key. */
export interface Aggregate {
  readonly kind: 'aggregate';
  readonly key: Mql;
  readonly accumulators: MqlDocument;
}

export interface Window {
  readonly kind: 'window';
  readonly partitionBy?: Mql;
  readonly sortBy?: MqlDocument;
  readonly output: MqlDocument;
}

export interface Sort {
  readonly kind: 'sort';
  readonly keys: MqlDocument;
}

export interface Skip {
  readonly kind: 'skip';
  readonly rows: number;
}

/** At most so many rows; none is possible. */
export interface Limit {
  readonly kind: 'limit';
  readonly rows: number;
}

/**
 * The rows so far and those of another plan, which have the same fields. INTERSECT and EXCEPT tell
 * the sides by the field `side`, which both sides set.
 */
export interface SetOperation {
  readonly kind: 'set';
  readonly operator: 'UNION ALL' | 'UNION' | 'INTERSECT' | 'EXCEPT';
  readonly right: Plan;
  readonly fields: readonly string[];
  readonly side: string;
}

/** What `nodes` make of the rows, which is one row or none; without one, a row of defaults. */
export interface OneRow {
  readonly kind: 'oneRow';
  readonly nodes: PlanNodes;
  readonly defaults:
    | { readonly of: 'field'; readonly field: string; readonly from: string; readonly value: Mql }
    | { readonly of: 'row'; readonly fields: MqlDocument };
}

export interface Project {
  readonly kind: 'project';
  readonly fields: MqlDocument;
}

/** Another document in place of each. */
export interface Replace {
  readonly kind: 'replace';
  readonly document: Mql;
}

/** A stage of people or of a rule that no other node stands for. */
export interface Written {
  readonly kind: 'written';
  readonly stage: Stage;
}
