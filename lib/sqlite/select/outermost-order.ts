import { tokensIfAny } from './lexer';

/**
 * Whether the outermost SELECT has an ORDER BY, which is when the order of the rows counts. Read
 * from the tokens, so that it is also known of SQL that the parser does not read: an ORDER BY of a
 * window, of an aggregate or of a subquery is in parentheses, and one in a comment or a literal is
 * no token. False for what is not even tokens.
 */
export function isOutermostOrdered(sql: string): boolean {
  let depth = 0;
  let previous = '';
  for (const { kind, value, keyword } of tokensIfAny(sql)) {
    if (kind === 'symbol' && value === '(') depth++;
    if (kind === 'symbol' && value === ')') depth--;
    if (depth === 0 && previous === 'ORDER' && keyword === 'BY') return true;
    previous = keyword;
  }
  return false;
}
