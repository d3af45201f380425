import type { OutputField } from './location';
import type { MqlDocument, Scalar } from '../mql/mql';

/** What is wanted of a query: all of its rows, its first value, or whether there is a row. */
export type Purpose = 'rows' | 'scalar' | 'exists';

export interface SelectOptions {
  readonly purpose: Purpose;
  /** The pipeline will run in a `$lookup` that can compare one field by itself. */
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
  readonly collection: string;
  readonly stages: readonly MqlDocument[];
  readonly fields: readonly OutputField[];
  /** For a scalar aggregate: its value where the pipeline returns no document. */
  readonly whenEmpty?: Scalar;
  readonly atMostOne: boolean;
  /** The pipeline returns at least one document, whatever else it does. */
  readonly nonEmpty: boolean;
  readonly key?: { readonly localField: string; readonly foreignField: string };
  readonly ordering: readonly Ordering[] | null;
  readonly limit?: number;
}

/** `path` is null where the sort key is not among the result columns. */
export interface Ordering {
  readonly path: string | null;
  readonly direction: 'asc' | 'desc';
}
