import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { catalogOf } from '../../sqlite/schema/introspect';
import { keyedSql } from './keyed-sql';

const sqlite = new Database(':memory:');
sqlite.defaultSafeIntegers(true);
sqlite.exec('CREATE TABLE t (a INTEGER, b TEXT)');
const catalog = catalogOf(sqlite, { name: 't', sha256: '', descriptions: {} });

it.each([
  [
    'SELECT a FROM t ORDER BY b LIMIT 2',
    { width: 1, keys: [1], limit: 2, offset: 0, ordered: true },
  ],
  ['SELECT a, b FROM t ORDER BY 2, a', { width: 2, keys: [1, 0], limit: undefined, ordered: true }],
  ['SELECT a AS x FROM t ORDER BY X DESC', { width: 1, keys: [0] }],
  ['SELECT DISTINCT t.a, t.b FROM t ORDER BY t.b', { width: 2, keys: [1] }],
  ['SELECT DISTINCT a + 1 FROM t ORDER BY A + 1', { width: 1, keys: [0] }],
  [
    'SELECT a FROM t UNION SELECT a FROM t ORDER BY 1',
    { width: 1, keys: [0], limit: undefined, ordered: true },
  ],
  [
    'SELECT a, b FROM t UNION ALL SELECT a, b FROM t ORDER BY b DESC, a LIMIT 2',
    { width: 2, keys: [1, 0], limit: 2, nullsFirst: false },
  ],
  [
    'SELECT DISTINCT a FROM t ORDER BY b',
    { width: 1, keys: [1], limit: undefined, ordered: true, isHidden: true },
  ],
  ['SELECT a FROM t LIMIT 1 OFFSET 3', { keys: [], limit: 1, offset: 3, ordered: false }],
])('the sort keys of %s are among its columns', (sql, keyed) => {
  expect(keyedSql(sql, catalog)).toMatchObject(keyed);
});

it.each([
  'SELECT DISTINCT a COLLATE NOCASE FROM t ORDER BY b',
  'SELECT a FROM t LIMIT a',
  'SELECT x FROM t',
  'SELEC',
])('%s cannot be keyed', (sql) => {
  expect(keyedSql(sql, catalog)).toBeUndefined();
});
