import { expect, test } from 'vitest';
import { sqlText } from './sql-text';

const squeezed = (sql: string): string =>
  sql.replaceAll(/\s+/g, ' ').replaceAll('( ', '(').replaceAll(' )', ')');

test('a clause a line, subqueries indented, long lists broken behind commas', () => {
  const columns = [
    ...Array.from({ length: 4 }, (_, at) => `t0."a long column name ${at}" AS "name ${at}"`),
    't0.short',
    't0.wide AS w',
  ].join(', ');
  const sql =
    `SELECT o.n AS "_key", ${columns} FROM "a, from (b" t0 JOIN (SELECT rowid AS k0, ` +
    'row_number() OVER (PARTITION BY x ORDER BY rowid) AS n FROM "a, from (b") o ON o.k0 = ' +
    `t0.rowid LEFT JOIN c ON c.x = 'SELECT FROM' WHERE o.n IN (1, 2) UNION ALL SELECT 1`;
  const text = sqlText(sql);
  expect(squeezed(text)).toBe(squeezed(sql));
  expect(text.split('\n')).toEqual([
    'SELECT o.n AS "_key", t0."a long column name 0" AS "name 0",',
    '  t0."a long column name 1" AS "name 1",',
    '  t0."a long column name 2" AS "name 2",',
    '  t0."a long column name 3" AS "name 3", t0.short,',
    '  t0.wide AS w',
    'FROM "a, from (b" t0',
    'JOIN (',
    '  SELECT rowid AS k0,',
    '    row_number() OVER (PARTITION BY x ORDER BY rowid) AS n',
    '  FROM "a, from (b"',
    ') o ON o.k0 = t0.rowid',
    "LEFT JOIN c ON c.x = 'SELECT FROM'",
    'WHERE o.n IN (1, 2)',
    'UNION ALL',
    'SELECT 1',
  ]);
});

test('what is no SQL stays as it is', () => {
  expect(sqlText('SELECT [never closed')).toBe('SELECT [never closed');
});
