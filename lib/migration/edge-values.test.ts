import type Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConversionFixture } from '../validation/test/conversion-fixture';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

type Source = string | ((sqlite: Database.Database) => void);
const wide =
  (count: number): Source =>
  (sqlite) => {
    const names = Array.from({ length: count }, (_, index) => `c${index}`);
    sqlite.exec(`CREATE TABLE t (${names.join(',')})`);
    const insert = sqlite.prepare(`INSERT INTO t VALUES (${names.map(() => '?').join(',')})`);
    for (let row = 0; row < 20; row++)
      insert.run(names.map((_, index) => (index % 3 ? `v${row * index}` : row)));
  };

/**
 * Every kind of value, key and name that loses data somewhere, each with its rule. All of them go
 * through design, migration and the three validations under access-pattern and under one-to-one,
 * and come out lossless.
 */
const carried: [string, Source][] = [
  [
    'orphans are kept: their table stays a collection',
    'CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE c (p_id REFERENCES p(id), v ' +
      "TEXT); INSERT INTO p VALUES (1, 'x'); INSERT INTO c VALUES (1, 'a'), (7, 'b'), (7, 'b');",
  ],
  [
    'null keys are kept, in children and in primary keys',
    'CREATE TABLE p (id TEXT PRIMARY KEY, v TEXT); CREATE TABLE c (p_id REFERENCES p(id), v ' +
      "TEXT); INSERT INTO p VALUES (NULL, 'x'), (NULL, 'y'), ('a', 'z'); INSERT INTO c VALUES " +
      "(NULL, 'a'), ('a', 'b');",
  ],
  [
    'composite keys with nulls in them',
    'CREATE TABLE p (a TEXT, b TEXT, PRIMARY KEY (a, b)); CREATE TABLE c (a TEXT, b TEXT, v ' +
      "TEXT, FOREIGN KEY (a, b) REFERENCES p(a, b)); INSERT INTO p VALUES ('x', 'y'), ('x', " +
      "NULL); INSERT INTO c VALUES ('x', 'y', '1'), ('x', NULL, '2'), ('x', 'q', '3');",
  ],
  [
    'keys that repeat: a reference to a column that is none',
    'CREATE TABLE p (id INTEGER, v TEXT); CREATE TABLE c (p_id REFERENCES p(id), v TEXT); INSERT ' +
      "INTO p VALUES (1, 'x'), (1, 'y'), (2, 'z'); INSERT INTO c VALUES (1, 'a'), (2, 'b');",
  ],
  [
    'keys that are equal by affinity only',
    'CREATE TABLE p (id PRIMARY KEY, v TEXT); CREATE TABLE c (p_id INTEGER REFERENCES p(id), v ' +
      "TEXT); INSERT INTO p VALUES (1, 'x'), ('1', 'y'), ('01', 'z'); INSERT INTO c VALUES (1, " +
      "'a'), (1, 'b');",
  ],
  [
    'keys as text with blanks around them',
    'CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE c (p_id TEXT REFERENCES ' +
      "p(id), v TEXT); INSERT INTO p VALUES (1, 'x'), (3, 'y'); INSERT INTO c VALUES ('1', 'a'), " +
      "(' 3', 'b'), ('3 ', 'c');",
  ],
  [
    'keys that are equal by collation only',
    'CREATE TABLE p (id TEXT COLLATE NOCASE PRIMARY KEY, v TEXT); CREATE TABLE c (p_id TEXT ' +
      "REFERENCES p(id), v TEXT); INSERT INTO p VALUES ('A', 'x'), ('b', 'y'); INSERT INTO c " +
      "VALUES ('a', '1'), ('A', '2'), ('B', '3');",
  ],
  [
    'a table without a key, its rows repeated',
    "CREATE TABLE t (a TEXT, b REAL); INSERT INTO t VALUES ('x', 1.5), ('x', 1.5), (NULL, NULL), " +
      '(NULL, NULL);',
  ],
  [
    'mixed types in a column, equal as text',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 1), (2, 1.5), (3, ' +
      "'1'), (4, '1.5'), (5, x'31'), (6, NULL), (7, ''), (8, x''), (9, 'null');",
  ],
  [
    'mixed types in a primary key',
    "CREATE TABLE t (k PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a'), ('1', 'b'), (x'31', " +
      "'c'), (1.5, 'd');",
  ],
  [
    'NaN, which SQLite stores as null',
    (sqlite) => (
      sqlite.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, v REAL)'),
      sqlite.prepare('INSERT INTO t VALUES (1, ?), (2, ?)').run(NaN, 0)
    ),
  ],
  [
    'infinities and the ends of doubles',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, v REAL); INSERT INTO t VALUES (1, 9e999), (2, ' +
      '-9e999), (3, 1.7976931348623157e308), (4, 5e-324), (5, 0.1), (6, 1e15), (7, ' +
      '123456789012345678);',
  ],
  [
    'the ends of 64 and of 32 bits',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t VALUES ' +
      '(9223372036854775807, -9223372036854775808), (-9223372036854775808, 9223372036854775807), ' +
      '(2147483648, -2147483649), (9007199254740993, 9007199254740992);',
  ],
  [
    'large reals beside large integers',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 9007199254740993), (2, ' +
      '9007199254740992.0), (3, 9223372036854775807), (4, 9.223372036854775807e18);',
  ],
  [
    'blobs: empty, of zeros, of bytes that are no text',
    "CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB); INSERT INTO t VALUES (1, x''), (2, " +
      "zeroblob(40)), (3, x'fffe00c0'), (4, NULL);",
  ],
  [
    'a blob just below 16 MB',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB); INSERT INTO t VALUES (1, ' +
      'zeroblob(16777000));',
  ],
  [
    'blobs as keys of documents and of references',
    'CREATE TABLE p (id BLOB PRIMARY KEY, v TEXT); CREATE TABLE c (p_id BLOB REFERENCES p(id), v ' +
      "TEXT); INSERT INTO p VALUES (x'01', 'a'), (x'0100', 'b'); INSERT INTO c VALUES (x'01', " +
      "'x'), (x'0100', 'y');",
  ],
  [
    'empty strings against nulls',
    "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, w TEXT); INSERT INTO t VALUES (1, '', " +
      "NULL), (2, NULL, ''), (3, ' ', '0');",
  ],
  [
    'blanks at both ends, line ends, tabs',
    "CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT); INSERT INTO t VALUES ('a', 'x'), ('a ', 'x '), " +
      "(' a', ' x'), ('a' || char(10), char(13, 10)), ('a' || char(9), '');",
  ],
  [
    'NUL and control characters in text',
    "CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT); INSERT INTO t VALUES ('a' || char(0) || 'b', " +
      "'x' || char(0)), ('a', char(0)), ('a' || char(0), char(1, 31, 127));",
  ],
  [
    'U+FFFD as the source wrote it, unicode in two forms, beyond the first plane',
    "CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT); INSERT INTO t VALUES ('\ufffd', '\u00e9'), " +
      "('e\u0301', '\u{1f600}'), ('\u00e9', '\ufeffx'), ('\ue000', '\u{10ffff}');",
  ],
  [
    'texts that look like queries, numbers, dates',
    "CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('$v'), ('$$ROOT'), ('{\"$ne\": 1}'), " +
      "('007'), ('1e3'), ('2024-02-30'), ('true'), ('Infinity'), ('-0');",
  ],
  [
    'minus zero',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, v REAL); INSERT INTO t VALUES (1, -0.0), (2, ' +
      '0.0), (3, 0);',
  ],
  [
    'names with dots and dollars, as tables and columns',
    'CREATE TABLE "a.b" ("x.y" TEXT, "$z" TEXT, "$" TEXT, "." TEXT, "a.$b" TEXT); CREATE TABLE ' +
      '"$&" ("$\'" TEXT, "$1" TEXT); CREATE TABLE "system.users" (v TEXT); INSERT INTO ' +
      "\"a.b\" VALUES ('1', '2', '3', '4', '5'); INSERT INTO \"$&\" VALUES ('1', '2'); INSERT " +
      'INTO "system.users" VALUES (\'1\');',
  ],
  ['empty names', 'CREATE TABLE "" ("" TEXT, " " TEXT); INSERT INTO "" VALUES (\'1\', \'2\');'],
  [
    'names that differ in case only, beyond ASCII and after repair',
    'CREATE TABLE "\u00e4" ("\u00f6" TEXT, "\u00d6" TEXT); CREATE TABLE "\u00c4" ("a b" TEXT, aB ' +
      'TEXT, "A-B" TEXT); INSERT INTO "\u00e4" VALUES (\'1\', \'2\'); INSERT INTO "\u00c4" ' +
      "VALUES ('3', '4', '5');",
  ],
  [
    'quotes, brackets, backslashes, slashes and line ends in names',
    'CREATE TABLE "a""b]`" ("c""]`" TEXT, "d\\e" TEXT, "f/g" TEXT, "h\ni" TEXT); INSERT INTO ' +
      "\"a\"\"b]`\" VALUES ('1', '2', '3', '4');",
  ],
  [
    'names that objects and SQL have',
    'CREATE TABLE "select" ("__proto__" TEXT, "constructor" TEXT, _id TEXT, "t0" TEXT, "value?" ' +
      'TEXT, "ordinal?" TEXT); CREATE TABLE "__proto__" ("group" TEXT); CREATE TABLE t1 (v ' +
      "TEXT); INSERT INTO \"select\" VALUES ('1', '2', '3', '4', '5', '6'); INSERT INTO " +
      "\"__proto__\" VALUES ('1'); INSERT INTO t1 VALUES ('1');",
  ],
  [
    'a name of 200 characters',
    `CREATE TABLE "${'t'.repeat(200)}" ("${'c'.repeat(300)}" TEXT); INSERT INTO ` +
      `"${'t'.repeat(200)}" VALUES ('1');`,
  ],
  [
    'columns that hide the rowid, with a key',
    'CREATE TABLE t (rowid TEXT, _rowid_ TEXT, oid INTEGER PRIMARY KEY); INSERT INTO t VALUES ' +
      "('b', 'x', 2), ('a', 'x', 1);",
  ],
  [
    'keys that are stored in descending order',
    'CREATE TABLE t (a INTEGER, b TEXT, PRIMARY KEY (a DESC, b)) WITHOUT ROWID; CREATE TABLE u ' +
      "(id INTEGER PRIMARY KEY DESC, v TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y'); INSERT " +
      "INTO u VALUES (1, 'x'), (2, 'y');",
  ],
  [
    'a reference to itself and a circle',
    'CREATE TABLE a (id INTEGER PRIMARY KEY, b_id REFERENCES b(id), boss REFERENCES a(id)); ' +
      'CREATE TABLE b (id INTEGER PRIMARY KEY, a_id REFERENCES a(id)); INSERT INTO a VALUES (1, ' +
      '1, 2), (2, 1, 2); INSERT INTO b VALUES (1, 2);',
  ],
  [
    'text whose bytes are no text, beside such as reads the same',
    "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, w); INSERT INTO t VALUES (1, CAST(x'41ff' " +
      "AS TEXT), x'41ff'), (2, 'A\ufffd', CAST(x'c0' AS TEXT)), (3, NULL, 1), (4, CAST(x'41fe' " +
      "AS TEXT), ''), (5, '', 2.5);",
  ],
  [
    'bytes that are no text as keys, of which two read the same',
    'CREATE TABLE p (id TEXT PRIMARY KEY, v TEXT); CREATE TABLE c (p_id TEXT REFERENCES p(id), v ' +
      "TEXT, v_bytes TEXT); INSERT INTO p VALUES (CAST(x'ff' AS TEXT), 'x'), (CAST(x'fe' AS " +
      "TEXT), 'y'); INSERT INTO c VALUES (CAST(x'ff' AS TEXT), CAST(x'fd' AS TEXT), '1'), " +
      "(CAST(x'fe' AS TEXT), 'b', '2');",
  ],
  [
    'lone surrogates in UTF-16',
    (sqlite) => (
      sqlite.pragma("encoding = 'UTF-16le'"),
      sqlite.exec(
        'CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, ' +
          "CAST(x'00d84100' AS TEXT)), (2, '\u{1f600}'), (3, 'x')",
      )
    ),
  ],
  ['500 columns', wide(500)],
];

describe('carried without loss', () => {
  test.each(carried)(
    '%s',
    async (_, source) => {
      const converted = await fixture.convert(source);
      expect(converted.problems).toEqual([]);
      expect(await converted.failing()).toEqual([]);
      const plain = await fixture.convert(source, { strategy: 'one-to-one' });
      expect(plain.problems).toEqual([]);
      expect(await plain.failing()).toEqual([]);
    },
    60_000,
  );
});

test('2,000 columns, as many as SQLite takes', async () => {
  const converted = await fixture.convert(wide(2000));
  expect(converted.problems).toEqual([]);
  expect(await converted.failing()).toEqual([]);
}, 120_000);

describe('refused by name before a row moves', () => {
  test.each<[string, Source, string]>([
    [
      'a value of more than 16 MB',
      'CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB); INSERT INTO t VALUES (1, ' +
        'zeroblob(16777200));',
      't: limit',
    ],
    [
      'a row of more than 16 MB, though no value is',
      'CREATE TABLE t (a BLOB, b BLOB); INSERT INTO t VALUES (zeroblob(9000000), ' +
        "zeroblob(9000000)), (NULL, x'01');",
      't: limit',
    ],
    [
      'rows that nothing tells apart',
      "CREATE TABLE t (rowid TEXT, _rowid_ TEXT, oid TEXT); INSERT INTO t VALUES ('a', 'b', 'c');",
      't: broken',
    ],
  ])('%s', (_, source, expected) => {
    const { problems } = fixture.plan(source);
    expect(problems.map(({ subject, kind }) => `${subject}: ${kind}`)).toEqual([expected]);
  });

  test('two large values in different rows are no large row', () => {
    expect(
      fixture.plan(
        'CREATE TABLE t (a BLOB, b BLOB); INSERT INTO t VALUES (zeroblob(9000000), NULL), (NULL, ' +
          'zeroblob(9000000));',
      ).problems,
    ).toEqual([]);
  });

  test('SQLite itself knows no name with NUL: what follows is no part of it', () => {
    const { catalog } = fixture.plan((sqlite) =>
      sqlite.prepare('CREATE TABLE t ("a" TEXT)\u0000, "b\u0000c" TEXT)').run(),
    );
    expect(catalog.tables[0]!.columns.map(({ name }) => name)).toEqual(['a']);
  });
});
