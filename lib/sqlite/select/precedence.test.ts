import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseSelect } from './parse-select';
import { printSelect } from './print-select';
import { SqlSyntaxError } from './syntax-error';

// SQLite is the oracle: a text without parentheses must mean the same once every operator has its
// own.
const atom = fc.constantFrom(
  '1',
  '2',
  '0',
  '-3',
  '2.5',
  "'2'",
  "'a'",
  'NULL',
  '(1 + 1)',
  'x',
  'y COLLATE NOCASE',
  'abs(-2)',
  'CASE WHEN 1 THEN 0 ELSE 2 END',
  'CAST(2.5 AS INTEGER)',
  "x'41'",
);
const infix = fc.constantFrom(
  ...[
    'OR',
    'AND',
    '=',
    '==',
    '<>',
    '!=',
    '<',
    '<=',
    '>',
    '>=',
    '&',
    '|',
    '<<',
    '>>',
    '+',
    '-',
    '*',
    '/',
    '%',
    '||',
    'IS',
    'IS NOT',
    'IS DISTINCT FROM',
    'IS NOT DISTINCT FROM',
    'LIKE',
    'NOT LIKE',
    'GLOB',
  ],
);
const prefix = fc.constantFrom('', '', '', '', '-', '~', 'NOT ', '- -', '+');
const suffix = fc.constantFrom(
  '',
  '',
  '',
  '',
  '',
  ' ISNULL',
  ' NOTNULL',
  ' NOT NULL',
  ' COLLATE NOCASE',
  ' IN (1, 2)',
  ' NOT IN (0, NULL)',
  ' BETWEEN 0 AND 2',
  ' NOT BETWEEN 1 AND 3',
  " LIKE '2%' ESCAPE '!'",
);
const term = fc.tuple(prefix, atom, suffix).map((parts) => parts.join(''));
const expression = fc
  .tuple(term, fc.array(fc.tuple(infix, term), { maxLength: 5 }))
  .map(([first, rest]) => [first, ...rest.flat()].join(' '));

it('reads operators with the precedence of SQLite', () => {
  const sqlite = new Database(':memory:');
  const run = (sql: string): unknown => {
    try {
      return sqlite.prepare(`${sql} FROM (SELECT 2 AS x, 'A' AS y)`).raw(true).all();
    } catch (error) {
      return `refused: ${error instanceof Error ? error.message.replace(/near ".*/, 'near') : String(error)}`;
    }
  };
  fc.assert(
    fc.property(expression, (text) => {
      const expected = run(`SELECT ${text}`);
      if (typeof expected === 'string') return;
      expect(run(printSelect(parseSelect(`SELECT ${text}`))), text).toEqual(expected);
    }),
    { numRuns: 4000 },
  );
  sqlite.close();
});

it('refuses what SQLite refuses for its depth, and does not overflow', () => {
  const sqlite = new Database(':memory:');
  for (const sql of [
    `SELECT ${'('.repeat(5000)}1${')'.repeat(5000)}`,
    `SELECT 1${' + 1'.repeat(5000)}`,
    `SELECT ${'NOT '.repeat(5000)}1`,
    `SELECT ${'- '.repeat(5000)}1`,
  ]) {
    expect(() => parseSelect(sql)).toThrow(SqlSyntaxError);
  }
  const chain = `SELECT 1${' + 1'.repeat(900)}`;
  expect(
    sqlite
      .prepare(printSelect(parseSelect(chain)))
      .raw(true)
      .all(),
  ).toEqual([[901]]);
  sqlite.close();
});
