import type { Transform } from '../../../design/model/transform-kind';
import type { ColumnName, Formula } from '../formula/formula';

/** What a column became. */
export interface PrintedColumn {
  readonly text: string;
  readonly transform: Transform;
  /** It holds names or keys: nothing to add up. */
  readonly isName?: boolean;
}

/** How tightly a piece of text holds together; a looser one gets parentheses. */
export const LEVEL = {
  where: 0,
  or: 1,
  and: 2,
  condition: 3,
  phrase: 4,
  sum: 5,
  product: 6,
  atom: 7,
} as const;

/** A piece of text and its level. */
export interface Printed {
  readonly text: string;
  readonly level: number;
}

export const atom = (text: string): Printed => ({ text, level: LEVEL.atom });
export const phrase = (text: string): Printed => ({ text, level: LEVEL.phrase });
export const condition = (text: string): Printed => ({ text, level: LEVEL.condition });

/** Prints the parts of a formula. */
export interface FormulaPrinting {
  print(formula: Formula): Printed;
  /** With parentheses if it is looser than `least`. */
  at(formula: Formula, least: number): string;
  /** The field of a column. */
  column(column: ColumnName): PrintedColumn;
}
