import { columnsIn, isCondition, partsOf, type Comparison, type Formula } from '../formula/formula';
import { INTRODUCES, textBefore, textBehind, type Place } from './place';
import type { ColumnResolver } from './resolve-column';
import type { SourceNames } from './source-names';
import type { Token } from '../formula/tokens';

/** Whether what reads like a formula is one: not "average height = AVG(height)" from its second word. */
export function isFormula(
  formula: Formula,
  place: Place,
  end: number,
  names: SourceNames,
  resolver: ColumnResolver,
): boolean {
  if (!hasColumn(formula) && !countsRows(formula)) return false;
  // "A's date > B's date"
  if (/^['’]\p{L}/u.test(textBehind(place.tokens, end))) return false;
  const first = firstOf(formula);
  switch (first.kind) {
    case 'group':
      return !isNameInBrackets(first);
    case 'compare':
      return isComparison(first, place, end, names, resolver);
    case 'arithmetic':
      // "position/location" is prose, unless the SQL reads them.
      return (
        isCalculation(first) &&
        // "consumption for 2013 - consumption for 2012"
        !(beginsWithValue(first) && isDefined(place.tokens, place.index)) &&
        (INTRODUCES.test(textBefore(place.tokens, place.index)) ||
          [first.left, first.right].every(
            (side) =>
              side.kind !== 'column' ||
              names.isPlainlyWritten(side.source) ||
              resolver.isRead(side.column),
          ))
      );
    case 'where':
      // "the number where a = 3"
      return (
        first.value.kind !== 'column' ||
        names.isPlainlyWritten(first.value.source) ||
        resolver.isRead(first.value.column)
      );
    default:
      return first.kind !== 'negate';
  }
}

/** What a formula begins with: its first condition, or what it limits. */
function firstOf(formula: Formula): Formula {
  if (formula.kind === 'where') {
    const value = firstOf(formula.value);
    return value.kind === 'compare' ? value : formula;
  }
  return formula.kind === 'logic' ? firstOf(formula.operands[0]!) : formula;
}

function isComparison(
  { left, operator, source, right }: Comparison,
  { tokens, index }: Place,
  end: number,
  names: SourceNames,
  resolver: ColumnResolver,
): boolean {
  // "aged 5-17 = `Enrollment`": what is defined there is no number.
  if (operator === '=' && !hasColumn(left)) return countsRows(left);
  if (left.kind !== 'column') return true;
  // "Percent Eligible (K-12) = a / b": a term that is called like a column, which nobody reads.
  if (operator === '=' && isCalculation(right) && !resolver.isRead(left.column)) return false;
  if (names.isPlainlyWritten(left.source)) return true;
  const isIntroduced = INTRODUCES.test(textBefore(tokens, index));
  // "the issued date < 1998": a word that is a column of another table only.
  if (!isIntroduced && left.table === undefined && !names.isUsed(left.column)) return false;
  const follows = /^\s*[\p{L}\p{N}]+/u.exec(textBehind(tokens, end))?.[0].trim() ?? '';
  if (
    right.kind === 'bare' &&
    !/^null$/i.test(right.source) &&
    !isIntroduced &&
    !ENDS_VALUE.test(follows)
  )
    return false;
  // "promotional name is 'x'" says what something is called.
  if (/^is\b/.test(source) && isDefined(tokens, index)) return false;
  const isValue =
    ['literal', 'number'].includes(right.kind) ||
    (right.kind === 'bare' && /^null$/i.test(right.source));
  return isValue || operator !== '=' || !isDefined(tokens, index);
}

/** Behind a value without quotes. */
const ENDS_VALUE = /^(?:and|or|where|when|means?|refers?|stands?|is|are|represents?|denotes?|)$/i;

/** Words before an equals sign are what it defines. */
function isDefined(tokens: readonly Token[], index: number): boolean {
  const before = textBefore(tokens, index);
  const word = /([\p{L}\p{N}]+)\s*$/u.exec(before)?.[1];
  return word !== undefined && !/^(?:to|and|or|where|when|is|means?|by|not)$/i.test(word);
}

const beginsWithValue = (formula: Formula): boolean =>
  formula.kind === 'arithmetic'
    ? beginsWithValue(formula.left)
    : formula.kind === 'number' || formula.kind === 'literal';

const isCalculation = (formula: Formula): boolean =>
  [...columnsIn(formula)].length > 1 ||
  formula.kind === 'call' ||
  isCondition(formula) ||
  partsOf(formula).some((part) => part.kind === 'number' || isCalculation(part));

const isNameInBrackets = (formula: Formula): boolean =>
  formula.kind === 'group'
    ? isNameInBrackets(formula.operand)
    : formula.kind === 'column' || formula.kind === 'literal';

const hasColumn = (formula: Formula): boolean => columnsIn(formula).next().done === false;

/** `COUNT(*)` names no column, and is a formula all the same. */
const countsRows = (formula: Formula): boolean =>
  (formula.kind === 'call' && formula.name === 'count') || partsOf(formula).some(countsRows);
