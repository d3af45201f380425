/** A piece of a hint. Together, in their order, the sources are the whole text. */
export interface Token {
  readonly kind:
    | 'space'
    | 'word'
    | 'number'
    /** Quoted text: its `value` is never touched. */
    | 'literal'
    /** Quoted as a name, or a name that is no single word. */
    | 'name'
    | 'operator'
    | 'mark';
  readonly source: string;
  /** Without quotes; of an operator, without spaces in it. */
  readonly value: string;
  readonly start: number;
}

/** Length of the name that begins here and that is no single word, such as `Free Meal Count (K-12)`. */
export type LongName = (text: string, start: number) => number | undefined;

const WORD = /[\p{L}_][\p{L}\p{N}_]*/uy;
/** A date without quotes is one value as well. */
const NUMBER = /(?:\d{1,4}([-/])\d{1,2}\1\d{1,4}|\d+(?:\.\d+)?)(?![\p{L}\p{N}_])/uy;
const OPERATOR = /!\s*=|<\s*=|>\s*=|<>|==|\|\||[=<>+\-*/%]/y;
const SPACE = /\s+/y;
/** Behind a word of SQL a quote opens a literal: `BETWEEN'2019'`. */
const SQL_WORD = /(?:^|[^\p{L}\p{N}_])(?:between|like|in|and|or|is|not)$/iu;
const OPENS_NEXT = /\s(?:and|or)\s.*[=<>]\s*$/i;
/** Behind a literal without a space: `'M'OR x`. */
const CONNECTIVE = /^(?:AND|OR|THEN|WHERE|WHEN|ELSE|END)\b/;
const LONGEST_SQL_WORD = 'between'.length + 1;
/** Marks as Chinese keyboards write them. */
const WIDE: Readonly<Record<string, string>> = { '，': ',', '；': ';', '（': '(', '）': ')' };
const CLOSING: Readonly<Record<string, string>> = {
  "'": "'",
  '"': '"',
  '‘': '’',
  '’': '’',
  '“': '”',
  '`': '`',
};

/**
 * Splits a hint into tokens. A quote that nobody closes ends where its clause or its parenthesis
 * does: half a hint must not be taken for one literal.
 */
export function tokensOf(text: string, longName: LongName): Token[] {
  const tokens: Token[] = [];
  let start = 0;
  while (start < text.length) {
    const token = tokenAt(text, start, longName);
    tokens.push(token);
    start += token.source.length;
  }
  return tokens;
}

function tokenAt(text: string, start: number, longName: LongName): Token {
  const token = (kind: Token['kind'], source: string, value = source): Token => ({
    kind,
    source,
    value,
    start,
  });
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = start;
    return pattern.exec(text)?.[0];
  };
  const space = match(SPACE);
  if (space !== undefined) return token('space', space);
  const quoted = quotedAt(text, start);
  if (quoted) return token(text[start] === '`' ? 'name' : 'literal', quoted.source, quoted.value);
  if (!/[\p{L}\p{N}_]/u.test(text[start - 1] ?? '')) {
    const length = longName(text, start);
    if (length !== undefined) {
      const source = text.slice(start, start + length);
      return token('name', source, source.replace(/^\[|\]$/g, ''));
    }
  }
  const number = match(NUMBER);
  if (number !== undefined) return token('number', number);
  const word = match(WORD);
  if (word !== undefined) return token('word', word);
  const operator = match(OPERATOR);
  if (operator !== undefined) return token('operator', operator, operator.replace(/\s/g, ''));
  const mark = text[start] ?? '';
  return token('mark', mark, WIDE[mark] ?? mark);
}

function quotedAt(
  text: string,
  start: number,
): { readonly source: string; readonly value: string } | undefined {
  const closing = CLOSING[text[start] ?? ''];
  // Within a word it is an apostrophe.
  const isInWord =
    /[\p{L}\p{N}]/u.test(text[start - 1] ?? '') &&
    !SQL_WORD.test(text.slice(Math.max(0, start - LONGEST_SQL_WORD), start));
  if (closing === undefined || isInWord) return undefined;
  for (let end = start + 1; end < text.length && text[end] !== '\n'; end++) {
    if (text[end] !== closing) continue;
    if (text[end + 1] === closing) {
      end++;
      continue;
    }
    // The quote that opens the next literal closes none.
    if (OPENS_NEXT.test(text.slice(start + 1, end)) && /[^\s;,)]/.test(text[end + 1] ?? ' '))
      return unclosed(text, start);
    const isLetter = /[\p{L}\p{N}]/u.test(text[end + 1] ?? '');
    if (closing !== '"' && isLetter && !CONNECTIVE.test(text.slice(end + 1, end + 7))) continue;
    const source = text.slice(start, end + 1);
    const value = source.slice(1, -1).replaceAll(closing + closing, closing);
    return isBalanced(value) ? { source, value } : unclosed(text, start);
  }
  return unclosed(text, start);
}

/** A literal that takes in the end of a call, and what follows it, was closed by another's quote. */
const isBalanced = (value: string): boolean => !/\)\s*[;,].*[(=]/.test(value);

/** Prose goes on behind what was quoted. */
const GOES_ON = /\s(?:is|are|refers?)\s/;

function unclosed(
  text: string,
  start: number,
): { readonly source: string; readonly value: string } | undefined {
  const clause = /^.[^;,\n]*/.exec(text.slice(start))?.[0] ?? '';
  const within = clause.slice(0, endOfBrackets(clause));
  // `'6.5 and sex = …`: the next condition is no part of it.
  const source = /^.*?(?=\s(?:and|or)\s[^'"]*[=<>])/i.exec(within)?.[0] ?? within;
  // Alone before a space it is a mark of prose, such as a foot.
  if (/^.\s*$/.test(source) || GOES_ON.test(source)) return undefined;
  return { source, value: source.slice(1).trim() };
}

/** Where the first parenthesis is closed that the text did not open. */
function endOfBrackets(text: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '(') depth++;
    if (text[index] === ')' && --depth < 0) return index;
  }
  return text.length;
}
