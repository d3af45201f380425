/**
 * The syntax tree of a SELECT statement, after https://www.sqlite.org/lang_select.html and
 * lang_expr.html.
 */

/** Offsets into the source text: `start` inclusive, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * How an identifier was quoted; `'` where SQLite takes a string for a name; `none` for a bare word.
 */
export type Quote = 'none' | '"' | '`' | '[' | "'";

export type BinaryOperator =
  | 'OR'
  | 'AND'
  | '='
  | '<>'
  | '<'
  | '<='
  | '>'
  | '>='
  | '&'
  | '|'
  | '<<'
  | '>>'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '||'
  | '->'
  | '->>';

export type Expression =
  | NumberLiteral
  | TextLiteral
  | BlobLiteral
  | NullLiteral
  | Parameter
  | Clock
  | NameReference
  | UnaryExpression
  | BinaryExpression
  | CollateExpression
  | NullTest
  | IsExpression
  | PatternExpression
  | BetweenExpression
  | InExpression
  | CaseExpression
  | CastExpression
  | ExistsExpression
  | ScalarSubquery
  | RowValue
  | FunctionCall;

export interface NumberLiteral extends Span {
  readonly kind: 'number';
  readonly text: string;
}
export interface TextLiteral extends Span {
  readonly kind: 'text';
  readonly value: string;
}
export interface BlobLiteral extends Span {
  readonly kind: 'blob';
  readonly hex: string;
}
export interface NullLiteral extends Span {
  readonly kind: 'null';
}
export interface Parameter extends Span {
  readonly kind: 'parameter';
  readonly text: string;
}
export interface Clock extends Span {
  readonly kind: 'clock';
  readonly name: 'CURRENT_DATE' | 'CURRENT_TIME' | 'CURRENT_TIMESTAMP';
}
/** A column, or (quoted with `"` and unresolvable) a string: only the binder can tell. */
export interface NameReference extends Span {
  readonly kind: 'name';
  readonly schema?: string;
  readonly table?: string;
  readonly name: string;
  readonly quote: Quote;
}
export interface UnaryExpression extends Span {
  readonly kind: 'unary';
  readonly operator: '-' | '+' | '~' | 'NOT';
  readonly operand: Expression;
}
export interface BinaryExpression extends Span {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}
export interface CollateExpression extends Span {
  readonly kind: 'collate';
  readonly operand: Expression;
  readonly collation: string;
}
export interface NullTest extends Span {
  readonly kind: 'nullTest';
  readonly operand: Expression;
  readonly negated: boolean;
}
export interface IsExpression extends Span {
  readonly kind: 'is';
  readonly left: Expression;
  readonly right: Expression;
  readonly negated: boolean;
}
export interface PatternExpression extends Span {
  readonly kind: 'pattern';
  readonly operator: 'LIKE' | 'GLOB' | 'REGEXP' | 'MATCH';
  readonly negated: boolean;
  readonly operand: Expression;
  readonly pattern: Expression;
  readonly escape?: Expression;
}
export interface BetweenExpression extends Span {
  readonly kind: 'between';
  readonly negated: boolean;
  readonly operand: Expression;
  readonly low: Expression;
  readonly high: Expression;
}
export interface InExpression extends Span {
  readonly kind: 'in';
  readonly negated: boolean;
  readonly operand: Expression;
  readonly set:
    | { readonly kind: 'list'; readonly items: readonly Expression[] }
    | { readonly kind: 'query'; readonly query: SelectStatement }
    | { readonly kind: 'table'; readonly source: TableSource | TableFunction };
}
export interface CaseExpression extends Span {
  readonly kind: 'case';
  readonly subject?: Expression;
  readonly branches: readonly { readonly when: Expression; readonly then: Expression }[];
  readonly otherwise?: Expression;
}
export interface CastExpression extends Span {
  readonly kind: 'cast';
  readonly operand: Expression;
  readonly type: string;
}
export interface ExistsExpression extends Span {
  readonly kind: 'exists';
  readonly query: SelectStatement;
}
export interface ScalarSubquery extends Span {
  readonly kind: 'subquery';
  readonly query: SelectStatement;
}
export interface RowValue extends Span {
  readonly kind: 'row';
  readonly items: readonly Expression[];
}
export interface FunctionCall extends Span {
  readonly kind: 'call';
  readonly name: string;
  readonly star: boolean;
  readonly distinct: boolean;
  readonly args: readonly Expression[];
  readonly orderBy: readonly OrderTerm[];
  readonly filter?: Expression;
  readonly over?: WindowReference;
}

/** `OVER name`, or a definition in place. */
export type WindowReference =
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'inline'; readonly window: WindowDefinition };

export interface WindowDefinition {
  readonly base?: string;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly OrderTerm[];
  readonly frame?: WindowFrame;
}
export interface WindowFrame {
  readonly unit: 'ROWS' | 'RANGE' | 'GROUPS';
  readonly start: FrameBound;
  readonly end?: FrameBound;
  readonly exclude?: 'NO OTHERS' | 'CURRENT ROW' | 'GROUP' | 'TIES';
}
export type FrameBound =
  | { readonly kind: 'UNBOUNDED PRECEDING' | 'UNBOUNDED FOLLOWING' | 'CURRENT ROW' }
  | { readonly kind: 'PRECEDING' | 'FOLLOWING'; readonly offset: Expression };

export interface OrderTerm {
  readonly expression: Expression;
  readonly direction: 'ASC' | 'DESC';
  readonly nulls?: 'FIRST' | 'LAST';
}

export interface SelectStatement extends Span {
  readonly recursive: boolean;
  readonly with: readonly CommonTable[];
  readonly body: SelectBody;
  readonly orderBy: readonly OrderTerm[];
  readonly limit?: Expression;
  readonly offset?: Expression;
}
export interface CommonTable {
  readonly name: string;
  readonly columns?: readonly string[];
  readonly materialized?: boolean;
  readonly query: SelectStatement;
}
export type SelectBody = SelectCore | ValuesBody | CompoundBody;
export type CompoundOperator = 'UNION' | 'UNION ALL' | 'INTERSECT' | 'EXCEPT';
/** Compounds associate to the left, whatever their operators. */
export interface CompoundBody {
  readonly kind: 'compound';
  readonly operator: CompoundOperator;
  readonly left: SelectBody;
  readonly right: SelectCore | ValuesBody;
}
export interface ValuesBody {
  readonly kind: 'values';
  readonly rows: readonly (readonly Expression[])[];
}
export interface SelectCore {
  readonly kind: 'select';
  readonly distinct: boolean;
  readonly items: readonly SelectItem[];
  readonly from?: FromItem;
  readonly where?: Expression;
  readonly groupBy: readonly Expression[];
  readonly having?: Expression;
  readonly windows: readonly { readonly name: string; readonly window: WindowDefinition }[];
}
export type SelectItem =
  | { readonly kind: 'star'; readonly table?: string }
  /** `text` is the source text of the expression: SQLite's name for a column without alias. */
  | {
      readonly kind: 'expression';
      readonly expression: Expression;
      readonly alias?: string;
      readonly text: string;
    };

export type FromItem = TableSource | TableFunction | DerivedTable | NestedJoin | JoinItem;
export interface TableSource extends Span {
  readonly kind: 'table';
  readonly schema?: string;
  readonly name: string;
  readonly alias?: string;
  /** `INDEXED BY name`; null for `NOT INDEXED`. */
  readonly indexedBy?: string | null;
}
export interface TableFunction extends Span {
  readonly kind: 'tableFunction';
  readonly name: string;
  readonly args: readonly Expression[];
  readonly alias?: string;
}
export interface DerivedTable extends Span {
  readonly kind: 'derived';
  readonly query: SelectStatement;
  readonly alias?: string;
}
export interface NestedJoin extends Span {
  readonly kind: 'nested';
  readonly from: FromItem;
  readonly alias?: string;
}
export type JoinKind = 'COMMA' | 'INNER' | 'CROSS' | 'LEFT' | 'RIGHT' | 'FULL';
export interface JoinItem extends Span {
  readonly kind: 'join';
  readonly join: JoinKind;
  readonly natural: boolean;
  readonly left: FromItem;
  readonly right: FromItem;
  readonly on?: Expression;
  readonly using?: readonly string[];
}
