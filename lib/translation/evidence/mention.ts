import { columnsIn, isCondition, partsOf, type ColumnName, type Formula } from './formula';
import type { ColumnResolver } from './resolve-column';
import { isUnmistakable, type SourceNames } from './source-names';
import type { Token } from './tokens';

/** A token of a hint, and whether a list of columns leads up to it. */
export interface Place {
  readonly tokens: readonly Token[];
  readonly index: number;
  readonly inList: boolean;
}

/** Behind these words a hint says which column it means. */
const INTRODUCES =
  /(?:\b(?:refer(?:s|es)?|refers? to|mapp?s)(?: to)?|\bmeans?|\bstands? for|\brepresents?|\brepresented by|\bimpl(?:y|ies)(?: that)?|\bcalled|\bdenotes?|\bindicates?|\b(?:where|when|by|for each|per|distinct)|:)\s*(?:the\s+)?\(?\s*$/i;
const NAMES_TERM =
  /(?:^|[;,\n]|\.\s|\band\b)\s*([^;,\n]{1,80}?)\s+(?:(?:is|are)\s+(?:(?:the|a|an|one of|also)(?:\s+(?:name|value|code)\s+of(?:\s+the)?)?)|refers?\s+to(?:\s+the)?)\s+$/i;

/**
 * Whether a word is meant as the column that is called so. Names that are no ordinary words always
 * are; others where the hint introduces them, compares them, or says whose value a term is.
 */
export function isMentioned(
  { source, table, column }: ColumnName,
  { tokens, index, inList }: Place,
  end: number,
  names: SourceNames,
  resolver: ColumnResolver,
): boolean {
  const written = tokens[index]!;
  if (/^[`[]/.test(source) || table !== undefined) return true;
  if (written.kind === 'literal') return false;
  const isUnmistaken = isPlainlyNamed(source, names);
  const after = textBehind(tokens, end);
  if (isUnmistaken) return !/^\s*refers?\b/i.test(after) || resolver.isRead(column);
  const before = textBefore(tokens, index);
  const term = NAMES_TERM.exec(before)?.[1];
  if (term !== undefined && resolver.isCompared(column, unquoted(term))) return true;
  const endsHere =
    /^\s*(?:$|[;,.)\n]|(?:and|or|where|when|in|of|is|from|for|contains?|has|values?)\b)/i.test(
      after,
    );
  // "the Date values in the table"
  const isIntroduced = inList || INTRODUCES.test(before) || /^\s+values?\b/i.test(after);
  return isIntroduced && endsHere && (resolver.isRead(column) || isCapital(column, names));
}

/**
 * A column that words spell, such as `full name` for `full_name`, where the hint says that a term
 * is its value and the SQL compares it with that term.
 */
export function spelledColumn(
  { tokens, index }: Place,
  names: SourceNames,
  resolver: ColumnResolver,
): { readonly column: ColumnName; readonly end: number } | undefined {
  const term = NAMES_TERM.exec(textBefore(tokens, index))?.[1];
  if (term === undefined) return undefined;
  for (const count of [3, 2]) {
    const words = tokens.slice(index, index + 2 * count - 1);
    const isSpelled = words.every(({ kind }, nth) => kind === (nth % 2 === 0 ? 'word' : 'space'));
    const column = isSpelled
      ? names.spelled(words.filter(({ kind }) => kind === 'word').map(({ value }) => value))
      : undefined;
    if (column === undefined || !resolver.isCompared(column, unquoted(term))) continue;
    const { start } = tokens[index]!;
    const name = { kind: 'column', source: textOf(words), column, start } as const;
    return { column: name, end: index + words.length };
  }
  return undefined;
}

/** Written as the column is called, and not as a word of a sentence is. */
const isCapital = (column: string, names: SourceNames): boolean =>
  names.isExact(column) && /\p{Lu}/u.test(column);

/** Whether what reads like a formula is one: not "average height = AVG(height)" from its second word. */
export function isFormula(
  formula: Formula,
  { tokens, index }: Place,
  end: number,
  names: SourceNames,
): boolean {
  if (!hasColumn(formula) && !countsRows(formula)) return false;
  if (formula.kind === 'group') return !isNameInBrackets(formula);
  // "aged 5-17 = `Enrollment`": what is defined there is no number.
  if (formula.kind === 'compare' && formula.operator === '=' && !hasColumn(formula.left))
    return countsRows(formula.left);
  if (formula.kind === 'compare' && formula.left.kind === 'column') {
    if (isPlainlyNamed(formula.left.source, names)) return true;
    const isValue = ['literal', 'number'].includes(formula.right.kind);
    const follows = /^\s*[\p{L}\p{N}]+/u.exec(textBehind(tokens, end))?.[0].trim() ?? '';
    if (
      formula.right.kind === 'bare' &&
      !/^(?:and|or|where|when|means?|refers?|stands?|is|are|represents?|denotes?|)$/i.test(follows)
    )
      return false;
    // "promotional name is 'x'" says what something is called.
    if (/^is\b/.test(formula.source) && isDefined(tokens, index)) return false;
    return isValue || formula.operator !== '=' || !isDefined(tokens, index);
  }
  if (formula.kind === 'arithmetic') return isCalculation(formula);
  return formula.kind !== 'negate';
}

/** Words before an equals sign are what it defines. */
function isDefined(tokens: readonly Token[], index: number): boolean {
  const before = textBefore(tokens, index);
  const word = /([\p{L}\p{N}]+)\s*$/u.exec(before)?.[1];
  return word !== undefined && !/^(?:to|and|or|where|when|is|means?|by|not)$/i.test(word);
}

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
const textOf = (tokens: readonly Token[]): string => tokens.map(({ source }) => source).join('');

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
