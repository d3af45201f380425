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
const NUMBER = /\d+(?:\.\d+)?(?![\p{L}_])/uy;
const OPERATOR = /!\s*=|<\s*=|>\s*=|<>|==|\|\||[=<>+\-*/%]/y;
const SPACE = /\s+/y;
/** Behind a word of SQL a quote opens a literal: `BETWEEN'2019'`. */
const SQL_WORD = /(?:^|[^\p{L}\p{N}_])(?:between|like|in|and|or|is|not)$/iu;
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
    if (closing !== '"' && /[\p{L}\p{N}]/u.test(text[end + 1] ?? '')) continue;
    const source = text.slice(start, end + 1);
    const value = source.slice(1, -1).replaceAll(closing + closing, closing);
    return isBalanced(value) ? { source, value } : unclosed(text, start);
  }
  return unclosed(text, start);
}

/** A literal that takes in the end of a call, and what follows it, was closed by another's quote. */
const isBalanced = (value: string): boolean => !/\)\s*[;,].*[(=]/.test(value);

function unclosed(
  text: string,
  start: number,
): { readonly source: string; readonly value: string } | undefined {
  // Alone before a space it is a mark of prose, such as a foot.
  const source = /^.[^;),\n]*/.exec(text.slice(start))?.[0] ?? '';
  return /^.\s*$/.test(source) ? undefined : { source, value: source.slice(1).trim() };
}
