/**
 * What a hint calculates or compares, as BIRD writes it: SQL, and function names in its place
 * (`DIVIDE(COUNT(x where y = 'z'), COUNT(x))`).
 */
export type Formula =
  | Literal
  | Prose
  | Numeral
  | Bare
  | ColumnName
  | Comparison
  | Logic
  | NullTest
  | Range
  | List
  | Pattern
  | Arithmetic
  | Where
  | Call
  | Negation
  | Group;

/** Quoted text, as it stands there. */
export interface Literal {
  readonly kind: 'literal';
  readonly source: string;
  readonly value: string;
}
/** With the percent sign behind it, if there is one. */
export interface Numeral {
  readonly kind: 'number';
  readonly source: string;
}
/** A word that names nothing: a value without quotes, `*`, or a type. */
export interface Bare {
  readonly kind: 'bare';
  readonly source: string;
}
/** Words in place of a column or of a condition, with the formulas among them. */
export interface Prose {
  readonly kind: 'prose';
  readonly parts: readonly (string | Formula)[];
}
export interface ColumnName {
  readonly kind: 'column';
  readonly source: string;
  readonly table?: string;
  readonly column: string;
  readonly start: number;
  /** What it is compared with. */
  readonly constant?: string;
  /** The aggregate that is taken of it. */
  readonly within?: string;
}
export interface Comparison {
  readonly kind: 'compare';
  readonly left: Formula;
  readonly operator: '=' | '!=' | '<' | '<=' | '>' | '>=';
  /** As it stands there: `refers to`, `is`. */
  readonly source: string;
  readonly right: Formula;
}
export interface Logic {
  readonly kind: 'logic';
  readonly operator: 'and' | 'or';
  readonly operands: readonly Formula[];
}
export interface NullTest {
  readonly kind: 'null';
  readonly operand: Formula;
  /** As it stands there, with the keyword in lower case: `is not null`, `are empty`. */
  readonly source: string;
}
export interface Range {
  readonly kind: 'range';
  readonly operand: Formula;
  readonly low: Formula;
  readonly high: Formula;
  readonly negated: boolean;
}
export interface List {
  readonly kind: 'list';
  readonly operand: Formula;
  readonly items: readonly Formula[];
  readonly negated: boolean;
}
export interface Pattern {
  readonly kind: 'pattern';
  readonly operand: Formula;
  readonly pattern: Literal;
  readonly negated: boolean;
}
export interface Arithmetic {
  readonly kind: 'arithmetic';
  readonly operator: '+' | '-' | '*' | '/' | '%' | '||';
  readonly left: Formula;
  readonly right: Formula;
}
/** A value over the rows for which a condition is true. */
export interface Where {
  readonly kind: 'where';
  readonly value: Formula;
  readonly condition: Formula;
}
export interface Call {
  readonly kind: 'call';
  /** In lower case. */
  readonly name: string;
  readonly source: string;
  readonly args: readonly Formula[];
  readonly distinct: boolean;
}
export interface Negation {
  readonly kind: 'negate';
  readonly operand: Formula;
}
/** Parentheses or brackets of the hint. */
export interface Group {
  readonly kind: 'group';
  readonly operand: Formula;
}

export function partsOf(formula: Formula): readonly Formula[] {
  switch (formula.kind) {
    case 'literal':
    case 'number':
    case 'bare':
    case 'column':
      return [];
    case 'compare':
    case 'arithmetic':
      return [formula.left, formula.right];
    case 'prose':
      return formula.parts.filter((part) => typeof part !== 'string');
    case 'logic':
      return formula.operands;
    case 'null':
    case 'negate':
    case 'group':
      return [formula.operand];
    case 'range':
      return [formula.operand, formula.low, formula.high];
    case 'list':
      return [formula.operand, ...formula.items];
    case 'pattern':
      return [formula.operand, formula.pattern];
    case 'where':
      return [formula.value, formula.condition];
    case 'call':
      return formula.args;
  }
}

export function* columnsIn(formula: Formula): Generator<ColumnName> {
  if (formula.kind === 'column') yield formula;
  for (const part of partsOf(formula)) yield* columnsIn(part);
}

/** A formula that is true or false. */
export const isCondition = (formula: Formula): boolean =>
  ['compare', 'logic', 'null', 'range', 'list', 'pattern'].includes(formula.kind) ||
  (formula.kind === 'group' && isCondition(formula.operand));
