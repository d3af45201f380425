import type { Column } from '../catalog';
import { tokensIfAny, type Token } from '../select/lexer';

/**
 * What SQLite reports by no PRAGMA and is read from the tokens of a declaration: linear, whatever
 * its text is.
 */

/** The query of a CREATE VIEW; undefined where the text cannot be read. */
export function viewSelect(sql: string): string | undefined {
  let depth = 0;
  for (const { kind, value, keyword, end } of tokensIfAny(sql)) {
    depth += nesting(kind, value);
    // A column list is in parentheses, and a name that is the word AS is quoted.
    if (depth === 0 && keyword === 'AS') return sql.slice(end).trim();
  }
  return undefined;
}

const COLLATIONS: readonly Column['collation'][] = ['BINARY', 'NOCASE', 'RTRIM'];
const TABLE_CONSTRAINTS = new Set(['CONSTRAINT', 'PRIMARY', 'UNIQUE', 'CHECK', 'FOREIGN']);

/** The collations that the columns of a CREATE TABLE name; the last one of a column counts. */
export function declaredCollations(sql: string): Map<string, Column['collation']> {
  const found = new Map<string, Column['collation']>();
  const tokens = tokensIfAny(sql);
  let depth = 0;
  let column: string | undefined;
  let isStart = false;
  for (const [index, { kind, value, keyword }] of tokens.entries()) {
    const isColumn = isStart && depth === 1 && !TABLE_CONSTRAINTS.has(keyword);
    if (isStart) column = isColumn ? value : undefined;
    depth += nesting(kind, value);
    isStart = depth === 1 && kind === 'symbol' && (value === '(' || value === ',');
    if (depth !== 1 || keyword !== 'COLLATE' || column === undefined) continue;
    const named = tokens[index + 1]?.value.toUpperCase();
    const collation = COLLATIONS.find((name) => name === named);
    if (collation) found.set(column, collation);
  }
  return found;
}

function nesting(kind: Token['kind'], value: string): number {
  if (kind !== 'symbol') return 0;
  return Number(value === '(') - Number(value === ')');
}
