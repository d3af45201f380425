import type { Affinity, Table } from '../catalog';
import type { CompoundOperator, SelectCore, SelectStatement, Span } from './ast';

/**
 * The bound tree of a SELECT: every name is resolved, sugar is gone (BETWEEN, CASE x WHEN, row
 * comparison, stars, positions in ORDER BY), and every comparison states the affinity and the
 * collation that SQLite would apply.
 */
export interface BoundQuery {
  readonly body: BoundBody;
  readonly orderBy: readonly BoundOrder[];
  readonly limit?: BoundExpression;
  readonly offset?: BoundExpression;
  readonly columns: readonly BoundOutput[];
  /** Columns of enclosing queries that this one reads; empty when it is uncorrelated. */
  readonly outer: readonly BoundColumn[];
}

/** A result column as SQLite names it, with what a comparison with it would apply. */
export interface BoundOutput {
  readonly name: string;
  readonly affinity: Affinity | undefined;
  readonly collation: string;
}

export type BoundBody = BoundSelect | BoundValues | BoundCompound;

export interface BoundSelect {
  readonly kind: 'select';
  readonly distinct: boolean;
  readonly from: BoundFrom | undefined;
  readonly where: BoundExpression | undefined;
  readonly groupBy: readonly BoundExpression[];
  readonly having: BoundExpression | undefined;
  readonly items: readonly BoundItem[];
  /** True with GROUP BY, HAVING or an aggregate function. */
  readonly aggregated: boolean;
}
export interface BoundItem {
  readonly name: string;
  readonly expression: BoundExpression;
}
export interface BoundValues {
  readonly kind: 'values';
  readonly rows: readonly (readonly BoundExpression[])[];
}
export interface BoundCompound {
  readonly kind: 'compound';
  readonly operator: CompoundOperator;
  readonly left: BoundBody;
  readonly right: BoundBody;
}

/** Of a simple SELECT an expression, of a compound the position of a result column. */
export interface BoundOrder {
  readonly key:
    | { readonly kind: 'expression'; readonly expression: BoundExpression }
    | { readonly kind: 'column'; readonly index: number };
  readonly direction: 'ASC' | 'DESC';
  readonly nulls: 'FIRST' | 'LAST';
  readonly collation: string;
}

export type BoundFrom =
  | { readonly kind: 'source'; readonly source: BoundSource }
  | {
      readonly kind: 'join';
      readonly join: 'INNER' | 'LEFT' | 'RIGHT' | 'FULL';
      readonly left: BoundFrom;
      readonly right: BoundFrom;
      readonly on: BoundExpression | undefined;
    };

/** One use of a table, of a derived table or of a common table in FROM. */
export interface BoundSource {
  readonly id: number;
  readonly name: string;
  readonly content:
    | { readonly kind: 'table'; readonly table: Table }
    | { readonly kind: 'query'; readonly query: BoundQuery }
    | { readonly kind: 'recursive'; readonly name: string };
  readonly columns: readonly BoundOutput[];
}

export type CompareOperator = '=' | '<>' | '<' | '<=' | '>' | '>=';
/** What is applied to both operands before they are compared; undefined: nothing. */
export type ComparisonAffinity = 'NUMERIC' | 'TEXT' | undefined;

export type BoundExpression =
  | BoundLiteral
  | BoundColumn
  | BoundRowid
  | BoundClock
  | BoundNot
  | BoundLogic
  | BoundComparison
  | BoundArithmetic
  | BoundNegation
  | BoundConcat
  | BoundNullTest
  | BoundPattern
  | BoundInList
  | BoundInQuery
  | BoundCase
  | BoundCast
  | BoundCollate
  | BoundExists
  | BoundSubquery
  | BoundCall
  | BoundAggregate
  | BoundWindow;

export interface BoundLiteral {
  readonly kind: 'literal';
  readonly value: null | bigint | number | string | Uint8Array;
}
export interface BoundColumn {
  readonly kind: 'column';
  readonly source: BoundSource;
  /** Position in `source.columns`. */
  readonly index: number;
}
/** The rowid of a table that has no column as its alias. */
export interface BoundRowid {
  readonly kind: 'rowid';
  readonly source: BoundSource;
}
export interface BoundClock {
  readonly kind: 'clock';
  readonly name: 'CURRENT_DATE' | 'CURRENT_TIME' | 'CURRENT_TIMESTAMP';
}
export interface BoundNot {
  readonly kind: 'not';
  readonly operand: BoundExpression;
}
export interface BoundLogic {
  readonly kind: 'logic';
  readonly operator: 'AND' | 'OR';
  readonly operands: readonly BoundExpression[];
}
export interface BoundComparison {
  readonly kind: 'compare';
  readonly operator: CompareOperator;
  readonly left: BoundExpression;
  readonly right: BoundExpression;
  readonly affinity: ComparisonAffinity;
  readonly collation: string;
  /** `IS` and `IS NOT`: nulls compare equal, the result is never null. */
  readonly nullSafe: boolean;
}
export interface BoundArithmetic {
  readonly kind: 'arithmetic';
  readonly operator: '+' | '-' | '*' | '/' | '%' | '&' | '|' | '<<' | '>>';
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}
export interface BoundNegation {
  readonly kind: 'negate';
  readonly operator: '-' | '~' | '+';
  readonly operand: BoundExpression;
}
export interface BoundConcat {
  readonly kind: 'concat';
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}
export interface BoundNullTest {
  readonly kind: 'nullTest';
  readonly operand: BoundExpression;
  readonly negated: boolean;
}
export interface BoundPattern {
  readonly kind: 'pattern';
  readonly operator: 'LIKE' | 'GLOB' | 'REGEXP' | 'MATCH';
  readonly negated: boolean;
  readonly operand: BoundExpression;
  readonly pattern: BoundExpression;
  readonly escape: BoundExpression | undefined;
}
export interface BoundInList {
  readonly kind: 'inList';
  readonly negated: boolean;
  readonly operand: BoundExpression;
  readonly items: readonly BoundExpression[];
  readonly affinity: ComparisonAffinity;
  readonly collation: string;
}
/** `operands` has one entry for each column of the query. */
export interface BoundInQuery {
  readonly kind: 'inQuery';
  readonly negated: boolean;
  readonly operands: readonly BoundExpression[];
  readonly query: BoundQuery;
  readonly affinities: readonly ComparisonAffinity[];
  readonly collations: readonly string[];
}
export interface BoundCase {
  readonly kind: 'case';
  readonly branches: readonly { readonly when: BoundExpression; readonly then: BoundExpression }[];
  readonly otherwise: BoundExpression;
}
export interface BoundCast {
  readonly kind: 'cast';
  readonly operand: BoundExpression;
  readonly to: Affinity;
}
export interface BoundCollate {
  readonly kind: 'collate';
  readonly operand: BoundExpression;
  readonly collation: string;
}
export interface BoundExists {
  readonly kind: 'exists';
  readonly query: BoundQuery;
}
export interface BoundSubquery {
  readonly kind: 'subquery';
  readonly query: BoundQuery;
}
/** A scalar function, its name in lower case; JSON operators are `->` and `->>`. */
export interface BoundCall {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly BoundExpression[];
}
export interface BoundAggregate {
  readonly kind: 'aggregate';
  readonly name: string;
  readonly distinct: boolean;
  /** Empty for `COUNT(*)`. */
  readonly args: readonly BoundExpression[];
  readonly filter: BoundExpression | undefined;
  readonly orderBy: readonly BoundOrder[];
}
export interface BoundWindow {
  readonly kind: 'window';
  readonly name: string;
  readonly args: readonly BoundExpression[];
  readonly filter: BoundExpression | undefined;
  readonly partitionBy: readonly BoundExpression[];
  readonly orderBy: readonly BoundOrder[];
  readonly frame: BoundFrame | undefined;
}
export interface BoundFrame {
  readonly unit: 'ROWS' | 'RANGE' | 'GROUPS';
  readonly start: BoundFrameBound;
  readonly end: BoundFrameBound;
  readonly exclude: 'NO OTHERS' | 'CURRENT ROW' | 'GROUP' | 'TIES';
}
export type BoundFrameBound =
  | { readonly kind: 'UNBOUNDED PRECEDING' | 'UNBOUNDED FOLLOWING' | 'CURRENT ROW' }
  | { readonly kind: 'PRECEDING' | 'FOLLOWING'; readonly offset: BoundExpression };

/** What binding found besides the tree. */
export interface Binding {
  readonly query: BoundQuery;
  /** What became of each SELECT of the text; those of views are not among them. */
  readonly queries: ReadonlyMap<SelectStatement, BoundQuery>;
  readonly selects: ReadonlyMap<SelectCore, BoundSelect>;
  /** Double-quoted names that nothing answers to, which SQLite therefore reads as strings. */
  readonly strings: readonly (Span & { readonly value: string })[];
}

export const columnOf = (column: BoundColumn): BoundOutput => {
  const output = column.source.columns[column.index];
  if (!output)
    throw new Error(`source ${column.source.name} has no column ${String(column.index)}`);
  return output;
};
