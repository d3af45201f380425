import type { ColumnName } from '../formula/formula';
import { INTRODUCES, textBefore, textBehind, type Place } from './place';
import type { ColumnResolver } from './resolve-column';
import { SPELLED_WORDS, textOf, type SourceNames } from './source-names';
import type { Token } from '../formula/tokens';

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
  if (names.isPlainlyWritten(source))
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

const unquoted = (text: string): string => text.trim().replace(/^['"‘“]+|['"’”]+$/g, '');
