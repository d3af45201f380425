import { expect, test } from 'vitest';
import type { Catalog } from '../catalog';
import { SqlBindError } from './bind-error';
import { readSql, tryReadSql } from './read-sql';
import { SqlSyntaxError } from './syntax-error';

const table = (name: string, column: string) => ({
  name,
  columns: [
    {
      name: column,
      declaredType: 'INTEGER',
      affinity: 'INTEGER' as const,
      collation: 'BINARY',
      notNull: false,
      primaryKey: 0,
    },
  ],
  primaryKey: [],
  foreignKeys: [],
  uniques: [],
});
const catalogWith = (name: string, column: string): Catalog =>
  ({ database: 'd', tables: [table(name, column)], views: [] }) as unknown as Catalog;

test('the same text on the same catalog is read once', () => {
  const catalog = catalogWith('t', 'a');
  expect(readSql('SELECT a FROM t', catalog)).toBe(readSql('SELECT a FROM t', catalog));
});

test('each catalog has its own trees', () => {
  const [first, second] = [catalogWith('t', 'a'), catalogWith('t', 'b')];
  expect(readSql('SELECT * FROM t', first).binding.query.columns[0]?.name).toBe('a');
  expect(readSql('SELECT * FROM t', second).binding.query.columns[0]?.name).toBe('b');
});

test('what was forgotten is read again, and equal', () => {
  const catalog = catalogWith('t', 'a');
  const first = readSql('SELECT a FROM t', catalog);
  for (let n = 0; n < 300; n++) readSql(`SELECT a + ${n} FROM t`, catalog);
  const again = readSql('SELECT a FROM t', catalog);
  expect(again).not.toBe(first);
  expect(again.statement).toEqual(first.statement);
});

test('a text that cannot be read fails every time, or is undefined', () => {
  const catalog = catalogWith('t', 'a');
  for (let n = 0; n < 2; n++) {
    expect(() => readSql('SELECT FROM', catalog)).toThrow(SqlSyntaxError);
    expect(() => readSql('SELECT missing FROM t', catalog)).toThrow(SqlBindError);
  }
  expect(tryReadSql('SELECT missing FROM t', catalog)).toBeUndefined();
});
