import {
  columnsIn,
  isCondition,
  partsOf,
  type ColumnName,
  type Comparison,
  type Formula,
} from './formula';
import type { ColumnResolver } from './resolve-column';
import { isUnmistakable, SPELLED_WORDS, textOf, type SourceNames } from './source-names';
import type { Token } from './tokens';

/** A token of a hint, and whether a list of columns leads up to it. */
export interface Place {
  readonly tokens: readonly Token[];
  readonly index: number;
  readonly inList: boolean;
}

/** Behind these words a hint says which column it means. */
const INTRODUCES =
  /(?:\b(?:refer(?:s|es)?|refers? to|mapp?s)(?: to)?|\bmeans?|\bstands? for|\brepresents?|\brepresented by|\bimpl(?:y|ies)(?: that)?|\bcalled|\bdenotes?|\bindicates?|\bincludes?|\bhas|\bhave|\b(?:where|when|by|for each|per|distinct)|:)\s*(?:the\s+)?\(?\s*$/i;
/** Between a term and the column that it is a value of. */
const IS_VALUE_OF =
  /^(?:(?:is|are)(?:\s+(?:the|a|an|one of|also|both))?(?:\s+\p{L}+)??(?:\s+(?:name|value|code)\s+of(?:\s+the)?)?|refers?\s+to(?:\s+the)?)\s+$/iu;
const IS_VALUE_OF_TOKENS = 12;

/** The term that a hint says is a value of the column here: `"Vienna, Austria" is the Location`. */
export function termOf({ tokens, index }: Place): string | undefined {
  const least = Math.max(0, index - IS_VALUE_OF_TOKENS);
  for (let verb = index - 1; verb >= least; verb--) {
    if (!/^(?:is|are|refers?)$/i.test(tokens[verb]!.source)) continue;
    if (!IS_VALUE_OF.test(textOf(tokens.slice(verb, index)))) continue;
    const last = tokens.slice(0, verb).findLast(({ kind }) => kind !== 'space');
    if (last?.kind === 'literal') return last.value;
    const words = /(?:^|[;,\n]|\.\s|\band\b)\s*([^;,\n]{1,80}?)\s+$/i.exec(
      textBefore(tokens, verb),
    );
    return words?.[1] === undefined ? undefined : unquoted(words[1]);
  }
  return undefined;
}

/**
 * Whether a word is meant as the column that is called so. Names that are no ordinary words always
 * are; others where the hint introduces them, compares them, or says whose value a term is.
 */
export function isMentioned(
  { source, table, column }: ColumnName,
  place: Place,
  end: number,
  names: SourceNames,
  resolver: ColumnResolver,
): boolean {
  const { tokens, index } = place;
  const written = tokens[index]!;
  if (/^[`[]/.test(source) || table !== undefined) return true;
  if (written.kind === 'literal')
    return names.isPlain(column) && INTRODUCES.test(textBefore(tokens, index));
  const after = textBehind(tokens, end);
  // "all P only ANA Pattern refers to …" explains a term that ends like a column.
  if (isPlainlyNamed(source, names))
    return (
      !/^\s*(?:refers?|can be)\b/i.test(after) ||
      (resolver.isRead(column) && /(?:^|[;,.\n]|\band)\s*$/i.test(textBefore(tokens, index)))
    );
  const term = termOf(place);
  if (term !== undefined && resolver.isCompared(column, term)) return true;
  const value = valueBehind(tokens, end);
  if (value !== undefined && resolver.isCompared(column, value)) return true;
  if (!resolver.isRead(column) && !isCapital(column, names)) return false;
  return (isIntroduced(place, after) || isNamedValue(place, column, names)) && endsHere(after);
}

/** '"thank you" is the Text of comment': written as it is called, behind a quoted value. */
const isNamedValue = ({ tokens, index }: Place, column: string, names: SourceNames): boolean =>
  isCapital(column, names) &&
  /["'”’]\s+(?:is|are)(?:\s+(?:the|both))?\s+$/i.test(textBefore(tokens, index));

/** "name of the card = 'x'": what a column is said to be, with words between. */
function valueBehind(tokens: readonly Token[], end: number): string | undefined {
  const clause = tokens.slice(end, end + VALUE_TOKENS);
  const literal = clause.findIndex(({ kind }) => kind === 'literal');
  const between = textOf(clause.slice(0, Math.max(0, literal)));
  return /^\s+(?:of(?:\s+(?!refers?\b)\p{L}+){1,4}\s*=|(?:(?:that|which)\s+)?(?:contains?|includes?))\s*$/iu.test(
    between,
  )
    ? clause[literal]?.value
    : undefined;
}
const VALUE_TOKENS = 14;

function isIntroduced({ tokens, index, inList }: Place, after: string): boolean {
  // "full name = forename, surname"
  const isDefinition = /=\s*$/.test(textBefore(tokens, index)) && /^\s*(?:[,;]|$)/.test(after);
  // "the Date values in the table"
  return (
    inList ||
    isDefinition ||
    INTRODUCES.test(textBefore(tokens, index)) ||
    /^\s+values?\b/i.test(after)
  );
}

/** The name ends here, and is not the first word of a term that the hint explains. */
const endsHere = (after: string): boolean =>
  /^\s*(?:$|[;,.)\n]|(?:and|or|where|when|in|of|is|from|for|contains?|has|values?|numbers?|codes?|columns?|fields?)\b)/i.test(
    after,
  ) && !/^[^;,.\n]*\b(?:refers?|means?|stands? for)\b/i.test(after);

/**
 * A column that words spell, such as `full name` for `full_name`, where the hint introduces it, or
 * says that a term is its value and the SQL compares it with that term.
 */
export function spelledColumn(
  place: Place,
  names: SourceNames,
  resolver: ColumnResolver,
): { readonly column: ColumnName; readonly end: number } | undefined {
  const { tokens, index } = place;
  for (const count of SPELLED_WORDS) {
    const spelled = names.spelledAt(tokens, index, count);
    if (!spelled) continue;
    const { column, length } = spelled;
    const end = index + length;
    const after = textBehind(tokens, end);
    const term = termOf(place);
    const isValue = term !== undefined && resolver.isCompared(column.column, term);
    const isRead = isIntroduced(place, after) && endsHere(after) && resolver.isRead(column.column);
    if (isValue || isRead) return { column, end };
  }
  return undefined;
}

/** Written as the column is called, and not as a word of a sentence is. */
const isCapital = (column: string, names: SourceNames): boolean =>
  names.isExact(column) && /\p{Lu}/u.test(column);

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
              isPlainlyNamed(side.source, names) ||
              resolver.isRead(side.column),
          ))
      );
    case 'where':
      // "the number where a = 3"
      return (
        first.value.kind !== 'column' ||
        isPlainlyNamed(first.value.source, names) ||
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
  if (isPlainlyNamed(left.source, names)) return true;
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

/** Written as it is called, and unlike any word. */
const isPlainlyNamed = (source: string, names: SourceNames): boolean => {
  const name = source.slice(source.lastIndexOf('.') + 1).replace(/^[`["]|[`\]"]$/g, '');
  return names.isExact(name) && isUnmistakable(name);
};

const isNameInBrackets = (formula: Formula): boolean =>
  formula.kind === 'group'
    ? isNameInBrackets(formula.operand)
    : formula.kind === 'column' || formula.kind === 'literal';

const hasColumn = (formula: Formula): boolean => columnsIn(formula).next().done === false;

/** `COUNT(*)` names no column, and is a formula all the same. */
const countsRows = (formula: Formula): boolean =>
  (formula.kind === 'call' && formula.name === 'count') || partsOf(formula).some(countsRows);

/** Tokens before and behind a word that say what it means: a long hint is not read for each word. */
const REACH = 48;

const textBefore = (tokens: readonly Token[], index: number): string =>
  textOf(tokens.slice(Math.max(0, index - REACH), index));
const textBehind = (tokens: readonly Token[], end: number): string =>
  textOf(tokens.slice(end, end + REACH));

const unquoted = (text: string): string => text.trim().replace(/^['"‘“]+|['"’”]+$/g, '');

/** Words of SQL that stand outside of formulas. */
const PHRASES: readonly (readonly [readonly string[], string])[] = [
  [['PARTITION', 'BY'], 'grouped by'],
  [['GROUP', 'BY'], 'grouped by'],
  [['ORDER', 'BY'], 'sorted by'],
  [['WHERE'], 'where'],
  [['HAVING'], 'having'],
  [['DESC'], 'in descending order'],
  [['ASC'], 'in ascending order'],
  [['LIMIT'], 'limited to'],
];

/** A word of SQL at a token, in words; in capitals, since "order by" can be prose. */
export function phraseAt(
  tokens: readonly Token[],
  index: number,
): { readonly text: string; readonly end: number } | undefined {
  for (const [words, text] of PHRASES) {
    let position = index;
    const isHere = words.every((word, nth) => {
      if (nth > 0 && tokens[position]?.kind === 'space') position++;
      return tokens[position++]?.source === word;
    });
    if (isHere) return { text, end: position };
  }
  return undefined;
}
