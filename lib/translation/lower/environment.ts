import type { Transform } from '../../design/model/transform-kind';
import type {
  BoundColumn,
  BoundExists,
  BoundExpression,
  BoundInQuery,
  BoundRowid,
  BoundSubquery,
  ComparisonAffinity,
} from '../../sqlite/select/bound';
import type { Mql, MqlDocument, Scalar } from '../mql/mql';
import type { ValueType } from './value-type';

/** An expression of SQL as one of MongoDB, with what is known of its values. */
export interface Lowered {
  readonly mql: Mql;
  readonly type: ValueType;
  /** The stored form of the value; everything but a retyped column is `identity`. */
  readonly transform: Transform;
  /**
   * Set when `mql` is nothing but a path of the current document: predicates and sort keys can use
   * it.
   */
  readonly path?: string;
  /** A path that has a value exactly where this expression has one. */
  readonly presence?: string;
  /** Of a text that was made of a number: that number, as the text has it. */
  readonly number?: Lowered;
  /** Set when the value is a constant of the SQL text. */
  readonly constant?: { readonly value: Scalar };
}

/**
 * A condition that a subquery decides. Asking for a polarity may add a `$lookup`, so ask for the
 * one that is used.
 */
export interface SubqueryCondition {
  truth(): Mql;
  falsity(): Mql;
  readonly nullable: boolean;
  /** The same as query predicates, where they suffice. */
  predicate(polarity: boolean): MqlDocument | undefined;
}

/** How the current documents answer for what a bound expression reads. */
export interface Environment {
  column(column: BoundColumn | BoundRowid): Lowered;
  /**
   * A whole expression that an earlier stage has computed: a group key, an aggregate, a window
   * function.
   */
  computed(expression: BoundExpression): Lowered | undefined;
  /** Scalar subquery; may add a stage in front of the one that is being built. */
  scalar(subquery: BoundSubquery): Lowered;
  condition(subquery: BoundExists | BoundInQuery): SubqueryCondition;
  /** Called when the result depends on the current time. */
  timeDependent(): void;
}

/** What the functions of SQL ask of the lowering that they are part of. */
export interface ExpressionLowering {
  readonly env: Environment;
  /** The value of an expression, retyped columns decoded. */
  value(expression: BoundExpression): Lowered;
  /** The value as it is stored: a retyped column keeps its transform. */
  stored(expression: BoundExpression): Lowered;
  caseValue(
    branches: readonly { readonly when: BoundExpression; readonly then: BoundExpression }[],
    otherwise: BoundExpression,
  ): Lowered;
  operands(
    left: BoundExpression,
    right: BoundExpression,
    affinity: ComparisonAffinity,
    collation: string,
  ): { readonly left: Lowered; readonly right: Lowered };
}
