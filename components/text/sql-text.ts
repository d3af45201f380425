import { tokenize, type Token } from '../../lib/sqlite/select/lexer';

// What half of a screen of 1280 px shows.
const WIDTH = 60;
const CLAUSES = new Set([
  'FROM',
  'WHERE',
  'GROUP',
  'HAVING',
  'WINDOW',
  'ORDER',
  'LIMIT',
  'UNION',
  'INTERSECT',
  'EXCEPT',
]);
const JOIN_WORDS = new Set(['NATURAL', 'LEFT', 'RIGHT', 'FULL', 'INNER', 'CROSS', 'OUTER']);
const QUERIES = new Set(['SELECT', 'WITH', 'VALUES']);

/**
 * SQL of ours, written without line ends, a clause a line and subqueries indented; not a character
 * but blanks differs.
 */
export function sqlText(sql: string): string {
  let tokens: Token[];
  try {
    tokens = tokenize(sql).filter(({ kind }) => kind !== 'end');
  } catch {
    return sql;
  }
  const lines: Line[] = [];
  let line: Line = { depth: 0, parts: [''] };
  const open: ('query' | 'other')[] = [];
  const depth = (): number => open.filter((kind) => kind === 'query').length;
  const next = (): void => {
    if (line.parts.some((part) => part !== '')) lines.push(line);
    line = { depth: depth(), parts: [''] };
  };
  tokens.forEach((token, at) => {
    const before = tokens[at - 1];
    const inClause = open.at(-1) !== 'other';
    if (token.value === ')' && token.kind === 'symbol' && open.pop() === 'query') next();
    else if (inClause && beginsLine(token, before, tokens[at + 1])) next();
    const gap = before && before.end < token.start && line.parts.at(-1) !== '' ? ' ' : '';
    line.parts[line.parts.length - 1] += gap + sql.slice(token.start, token.end);
    if (token.kind !== 'symbol') return;
    if (token.value === ',' && open.at(-1) !== 'other') line.parts.push('');
    if (token.value !== '(') return;
    const isQuery = QUERIES.has(tokens[at + 1]?.keyword ?? '');
    open.push(isQuery ? 'query' : 'other');
    if (isQuery) next();
  });
  next();
  return lines.map(written).join('\n');
}

interface Line {
  readonly depth: number;
  /** Where it may be broken: behind the commas of a list. */
  readonly parts: string[];
}

function beginsLine(
  { keyword }: Token,
  before: Token | undefined,
  after: Token | undefined,
): boolean {
  if (!before) return false;
  if (CLAUSES.has(keyword)) return true;
  if (QUERIES.has(keyword)) return before.keyword !== '';
  const isJoin =
    keyword === 'JOIN' ||
    (JOIN_WORDS.has(keyword) &&
      (after?.keyword === 'JOIN' || JOIN_WORDS.has(after?.keyword ?? '')));
  return isJoin && !JOIN_WORDS.has(before.keyword);
}

function written({ depth, parts }: Line): string {
  const pad = '  '.repeat(depth);
  const rows: string[] = [];
  let row = pad;
  for (const part of parts.filter((text) => text !== '')) {
    if (row.trim() !== '' && row.length + 1 + part.length > WIDTH) {
      rows.push(row);
      row = `${pad}  ${part}`;
    } else row += row.trim() === '' ? part : ` ${part}`;
  }
  return [...rows, row].join('\n');
}
