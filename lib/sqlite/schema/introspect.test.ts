import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { Catalog } from '../catalog';
import { declaredCollations, viewSelect } from './declaration';
import { catalogOf } from './introspect';

function catalog(sql: string): Catalog {
  const sqlite = new Database(':memory:');
  try {
    sqlite.exec(sql);
    sqlite.defaultSafeIntegers(true);
    return catalogOf(sqlite, { name: 'd', sha256: '', descriptions: {} });
  } finally {
    sqlite.close();
  }
}

describe('views are read by their tokens', () => {
  const base = 'CREATE TABLE t (a, b);';
  test.each<[string, string, string[], string]>([
    [
      'a column list',
      'CREATE VIEW v(x, y) AS SELECT a, b FROM t',
      ['x', 'y'],
      'SELECT a, b FROM t',
    ],
    [
      'columns named AS, quoted',
      'CREATE VIEW v("as", [b )]) AS SELECT a, b FROM t',
      ['as', 'b )'],
      'SELECT a, b FROM t',
    ],
    ['no column list', 'create view "v" as select a AS x FROM t', ['x'], 'select a AS x FROM t'],
    [
      'a comment with AS',
      'CREATE VIEW /* AS */ v -- AS\n (x) AS WITH c AS (SELECT a FROM t) SELECT a FROM c',
      ['x'],
      'WITH c AS (SELECT a FROM t) SELECT a FROM c',
    ],
    [
      'a comma and quotes in names',
      'CREATE VIEW v(`x,``y`, "z""") AS SELECT a, b FROM t',
      ['x,`y', 'z"'],
      'SELECT a, b FROM t',
    ],
  ])('%s', (_, sql, columns, select) =>
    expect(catalog(`${base}${sql}`).views).toEqual([{ name: 'v', columns, select }]),
  );

  test('a view of a table that is gone is left out', () => {
    expect(
      catalog(
        `${base} CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT a FROM t; DROP VIEW w`,
      ).views,
    ).toHaveLength(1);
    expect(catalog(`${base} CREATE VIEW v(x) AS SELECT a FROM gone`)).not.toHaveProperty('views');
  });
});

describe('collations are read by their tokens', () => {
  test.each<[string, string, Record<string, string>]>([
    ['plain', 'a TEXT COLLATE NOCASE, b', { a: 'NOCASE', b: 'BINARY' }],
    ['quoted', '"a b" TEXT COLLATE "nocase", [c] COLLATE [rtrim]', { 'a b': 'NOCASE', c: 'RTRIM' }],
    [
      'behind a type with a comma',
      'a DECIMAL(10, 2) NOT NULL COLLATE NOCASE, b COLLATE BINARY',
      { a: 'NOCASE', b: 'BINARY' },
    ],
    [
      'in a check, which is none of the column',
      "a TEXT CHECK (a = 'x' COLLATE NOCASE), b",
      { a: 'BINARY', b: 'BINARY' },
    ],
    [
      'in a key, which is none of the column',
      'a TEXT, b, PRIMARY KEY (a COLLATE NOCASE)',
      { a: 'BINARY', b: 'BINARY' },
    ],
    [
      'in a comment and in a text',
      "a TEXT /* COLLATE NOCASE */ DEFAULT 'COLLATE NOCASE'",
      { a: 'BINARY' },
    ],
    ['twice', 'a TEXT COLLATE NOCASE COLLATE RTRIM', { a: 'RTRIM' }],
  ])('%s', (_, columns, expected) => {
    const [table] = catalog(`CREATE TABLE "t, (" (${columns})`).tables;
    expect(
      Object.fromEntries(table!.columns.map(({ name, collation }) => [name, collation])),
    ).toEqual(expected);
  });
});

test.each<[string, string, string[]]>([
  ['STRICT: ANY has none', 'a ANY, b INTEGER, c any) STRICT', ['BLOB', 'INTEGER', 'BLOB']],
  ['not STRICT: ANY is NUMERIC', 'a ANY, b INTEGER)', ['NUMERIC', 'INTEGER']],
  ['STRICT without rowid', 'a ANY PRIMARY KEY, b TEXT) WITHOUT ROWID, STRICT', ['BLOB', 'TEXT']],
])('affinity: %s', (_, columns, affinities) =>
  expect(
    catalog(`CREATE TABLE t (${columns}`).tables[0]!.columns.map(({ affinity }) => affinity),
  ).toEqual(affinities),
);

test.each<[string, string]>([
  ['a view without AS', `CREATE VIEW v(${'a, '.repeat(60_000)}`],
  ['spaces', `CREATE VIEW v ${' '.repeat(200_000)}(`],
  ['quoted names', `CREATE VIEW v(${'"a""a",'.repeat(25_000)}`],
  ['collate without an end', `CREATE TABLE t (${'a b '.repeat(50_000)}`],
  ['columns with collate', `CREATE TABLE t (${'a COLLATE ('.repeat(18_000)}`],
])('a declaration of 200 kB is read at once: %s', (_, sql) => {
  const started = performance.now();
  expect(viewSelect(sql)).toBeUndefined();
  declaredCollations(sql);
  expect(performance.now() - started).toBeLessThan(1000);
});
