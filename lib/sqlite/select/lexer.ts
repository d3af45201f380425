import type { Quote } from './ast';
import { SqlSyntaxError } from './syntax-error';

export type TokenKind =
  'word' | 'quoted' | 'text' | 'number' | 'blob' | 'parameter' | 'symbol' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** Unquoted content; for a symbol the symbol itself. */
  readonly value: string;
  /** Upper case of a bare word, so that keywords compare; empty for everything else. */
  readonly keyword: string;
  readonly quote: Quote;
  readonly start: number;
  readonly end: number;
}

const SPACE = /[\s\uFEFF]+/y;
const LINE_COMMENT = /--[^\n]*/y;
const BLOCK_COMMENT = /\/\*[\s\S]*?(?:\*\/|$)/y;
const BLOB = /[xX]'((?:[0-9a-fA-F]{2})*)'/y;
const NUMBER =
  /0[xX][0-9a-fA-F]+|(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?/y;
const WORD = /[A-Za-z_\u0080-\uFFFF][A-Za-z0-9_$\u0080-\uFFFF]*/y;
const PARAMETER = /\?\d*|[:@$][A-Za-z0-9_\u0080-\uFFFF]+/y;
const SYMBOL = /->>|->|\|\||<=|>=|<>|!=|==|<<|>>|[()*,.;+\-/%&|~<>=]/y;
const WORD_PART = /[A-Za-z0-9_$\u0080-\uFFFF]/;

/**
 * Splits SQL text into tokens by https://www.sqlite.org/lang_keywords.html and tokenize.c's
 * documented rules.
 */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(sql);
  };
  const push = (
    kind: TokenKind,
    value: string,
    length: number,
    extra: { keyword?: string; quote?: Quote } = {},
  ): void => {
    tokens.push({
      kind,
      value,
      keyword: extra.keyword ?? '',
      quote: extra.quote ?? 'none',
      start: at,
      end: at + length,
    });
    at += length;
  };
  while (at < sql.length) {
    const blank = match(SPACE) ?? match(LINE_COMMENT) ?? match(BLOCK_COMMENT);
    if (blank) {
      at += blank[0].length;
      continue;
    }
    const first = sql[at] ?? '';
    if (first === "'" || first === '"' || first === '`') {
      const end = closingQuote(sql, at);
      const value = sql.slice(at + 1, end).replaceAll(first + first, first);
      push(first === "'" ? 'text' : 'quoted', value, end + 1 - at, { quote: first });
      continue;
    }
    if (first === '[') {
      const end = sql.indexOf(']', at);
      if (end < 0) throw new SqlSyntaxError('this [ is never closed', at);
      push('quoted', sql.slice(at + 1, end), end + 1 - at, { quote: '[' });
      continue;
    }
    const blob = match(BLOB);
    if (blob) {
      push('blob', blob[1] ?? '', blob[0].length);
      continue;
    }
    const number = match(NUMBER);
    if (number) {
      if (WORD_PART.test(sql[at + number[0].length] ?? ''))
        throw new SqlSyntaxError('a number runs into a word', at);
      push('number', number[0], number[0].length);
      continue;
    }
    const word = match(WORD);
    if (word) {
      push('word', word[0], word[0].length, { keyword: word[0].toUpperCase() });
      continue;
    }
    const parameter = match(PARAMETER);
    if (parameter) {
      push('parameter', parameter[0], parameter[0].length);
      continue;
    }
    const symbol = match(SYMBOL);
    if (!symbol) throw new SqlSyntaxError(`unrecognised character ${JSON.stringify(first)}`, at);
    push('symbol', symbol[0], symbol[0].length);
  }
  push('end', '', 0);
  return tokens;
}

/** The tokens of a text that may be no SQL at all; then there are none. */
export function tokensIfAny(sql: string): Token[] {
  try {
    return tokenize(sql);
  } catch (error) {
    if (error instanceof SqlSyntaxError) return [];
    throw error;
  }
}

// A doubled quote stands for itself; the first single one closes.
function closingQuote(sql: string, open: number): number {
  const quote = sql[open] ?? '';
  for (let index = open + 1; index < sql.length; index++) {
    if (sql[index] !== quote) continue;
    if (sql[index + 1] !== quote) return index;
    index++;
  }
  throw new SqlSyntaxError(`this ${quote} is never closed`, open);
}
