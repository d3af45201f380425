import type { OutputField } from './location';
import type { Scalar } from '../mql/mql';
import type { JoinKey, Plan } from '../plan/plan';

/** What is wanted of a query: all of its rows, its first value, or whether there is a row. */
export type Purpose = 'rows' | 'scalar' | 'exists';

export interface SelectOptions {
  readonly purpose: Purpose;
  /** The plan will be the inner side of a join that can compare one field by itself. */
  readonly keyable?: boolean;
  /** The rows go into another query, where no comparison can tell a tie from a difference. */
  readonly nested?: boolean;
  /** Give retyped columns their source values, because another query's rows come beside them. */
  readonly decode?: boolean;
  /** Names for the output fields: those of the left side of a set operation. */
  readonly fieldNames?: readonly string[];
  /** Which side of INTERSECT or EXCEPT a row comes from. */
  readonly side?: { readonly field: string; readonly value: number };
}

export interface EmittedQuery {
  readonly plan: Plan;
  readonly fields: readonly OutputField[];
  /** For a scalar aggregate: its value where the plan gives no row. */
  readonly whenEmpty?: Scalar;
  readonly atMostOne: boolean;
  /** The plan gives at least one row, whatever else it does. */
  readonly nonEmpty: boolean;
  /** An equality with the row outside, left to the join that runs the plan for it. */
  readonly key?: JoinKey;
  readonly ordering: readonly Ordering[] | null;
  readonly limit?: number;
}

/** `path` is null where the sort key is not among the result columns. */
export interface Ordering {
  readonly path: string | null;
  readonly direction: 'asc' | 'desc';
}
