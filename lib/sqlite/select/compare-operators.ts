import type { CompareOperator } from './bound';

/** `a < b` as `b > a`. */
export const MIRRORED: Record<CompareOperator, CompareOperator> = {
  '=': '=',
  '<>': '<>',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

/** The operator that is true where this one is false, of values that are not null. */
export const NEGATED: Record<CompareOperator, CompareOperator> = {
  '=': '<>',
  '<>': '=',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
};
