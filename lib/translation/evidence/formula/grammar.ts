import type { ColumnName, Formula } from './formula';
import type { FormulaCursor } from './formula-cursor';
import type { Token } from './tokens';

/** The column that tokens name from here on, with how many they are. */
export type ColumnAt = (
  tokens: readonly Token[],
  index: number,
) => { readonly column: ColumnName; readonly length: number } | undefined;

/** What a parser has to know of the names of the source. */
export interface FormulaNames {
  readonly columnAt: ColumnAt;
  /** A table that the SQL asks has a column of this name. */
  isUsed(column: string): boolean;
  /** The word is a column of such a table, and no word of a sentence. */
  isPlain(word: string): boolean;
}

/** What a call is made of. */
export interface Productions {
  readonly cursor: FormulaCursor;
  readonly names: FormulaNames;
  whole(): Formula | undefined;
  disjunction(): Formula | undefined;
  sum(): Formula | undefined;
  bareValue(): Formula | undefined;
}

export interface Parsed {
  readonly formula: Formula;
  /** Behind its last token. */
  readonly end: number;
  /** A parenthesis was missing, or stood elsewhere than it should. */
  readonly isRepaired: boolean;
}
