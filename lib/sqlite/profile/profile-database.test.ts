import Database from 'better-sqlite3';
import { beforeAll, describe, expect, test } from 'vitest';
import { DistinctSketch } from './distinct-sketch';
import { catalogOf } from '../schema/introspect';
import { profileDatabase } from './profile-database';
import type { ColumnProfile, Profile, Relationship } from './profile';

function profileOf(sql: string, fill?: (sqlite: Database.Database) => void): Profile {
  const sqlite = new Database(':memory:');
  try {
    sqlite.pragma('foreign_keys = OFF');
    sqlite.exec(sql);
    if (fill) sqlite.transaction(fill)(sqlite);
    sqlite.defaultSafeIntegers(true);
    return profileDatabase(sqlite, catalogOf(sqlite, { name: 'x', sha256: '', descriptions: {} }));
  } finally {
    sqlite.close();
  }
}

const column = (profile: Profile, name: string, table = 't'): ColumnProfile =>
  profile.tables
    .find((entry) => entry.table === table)!
    .columns.find((entry) => entry.column === name)!;
const only = (values: string): ColumnProfile =>
  column(profileOf(`CREATE TABLE t (v); INSERT INTO t VALUES ${values};`), 'v');

describe('values as stored', () => {
  test.each<[string, string, Partial<ColumnProfile>]>([
    [
      'storage classes, nulls, bounds',
      "(1), (2.5), ('a'), (x'00'), (NULL)",
      {
        stored: { null: 1, integer: 1, real: 1, text: 1, blob: 1 },
        distinct: 4,
        min: 1n,
        max: Buffer.from([0]),
      },
    ],
    ['1 and 1.0 are equal, 1 and text are not', "(1), (1.0), ('1')", { distinct: 2 }],
    ['a text is never a blob', "('a'), (x'61'), (char(0) || 'b61')", { distinct: 3 }],
    [
      'bounds of 64 bits',
      '(9223372036854775807), (-9223372036854775808), (9223372036854775806)',
      { distinct: 3, min: -(2n ** 63n), max: 2n ** 63n - 1n },
    ],
    ['infinities', '(9e999), (-9e999), (1.5)', { nonFinite: 2 }],
    ['trailing blanks', "('a '), ('b' || char(9)), (' c'), ('')", { trailingBlanks: 2 }],
    ['bytes that are no text', "(CAST(x'41ff' AS TEXT)), ('\ufffd'), ('ä')", { invalidUtf8: 1 }],
    [
      'texts above the surrogates are ordered as SQLite orders them',
      "('\ue000'), ('\u{1f600}'), ('a')",
      { min: 'a', max: '\u{1f600}' },
    ],
    [
      'the most frequent values',
      "('a'), ('b'), ('b'), (7), (NULL), (NULL)",
      {
        topValues: [
          { value: 'b', count: 2 },
          { value: 'a', count: 1 },
          { value: 7n, count: 1 },
        ],
      },
    ],
    [
      'bytes as BSON carries them',
      "('ää'), (1), (3000000000), (1.5)",
      { maxBytes: 8, meanBytes: 6 },
    ],
  ])('%s', (_, values, expected) => {
    expect(only(values)).toMatchObject(expected);
  });

  test.each<[string, Partial<Record<string, number>>]>([
    [
      "('2024-02-29'), ('2023-02-29'), ('2024-01-01 10:00:00')",
      { 'iso-date': 1, 'iso-datetime': 1, 'iso-seconds': 1 },
    ],
    [
      "('1/2/2024'), ('1.2.2024'), ('2024/01/02'), ('2024-01'), ('202401'), (202412), (202413)",
      {
        'us-date': 1,
        'dotted-date': 1,
        'slashed-date': 1,
        'year-month': 1,
        'compact-month': 2,
        integer: 1,
      },
    ],
    ["('10:30'), ('23:59:59.5'), ('24:00')", { 'time-of-day': 2 }],
    ["('yes'), ('F'), ('1'), (0), (2)", { boolean: 2, 'boolean-digit': 2, integer: 1 }],
    [
      "('-12'), ('012'), ('1.50'), ('$1,200.5'), ('[1]'), ('[1'), ('')",
      { integer: 1, decimal: 1, money: 1, json: 1, empty: 1 },
    ],
  ])('formats of %s', (values, counts) => {
    expect(only(values).formatCounts).toEqual(counts);
  });

  test('a format of every text is one of the column; one other text ends that', () => {
    expect(only("('2024-01-02'), (NULL), ('2024-01-03')").formats).toEqual(['iso-date']);
    expect(only("('2024-01-02'), ('x')").formats).toEqual([]);
    expect(only("('')").formats).toEqual(['empty']);
    expect(only('(0), (1)').formats).toEqual([]);
  });
});

describe('long columns', () => {
  let profile: Profile;
  beforeAll(() => {
    profile = profileOf(
      'CREATE TABLE t (id INTEGER PRIMARY KEY, one TEXT, twice TEXT, many INTEGER, day TEXT);',
      (sqlite) => {
        const insert = sqlite.prepare('INSERT INTO t VALUES (?, ?, ?, ?, ?)');
        for (let n = 0; n < 120_000; n++)
          insert.run(
            n,
            `k${n}`,
            `k${n === 119_999 ? 119_998 : n}`,
            n % 40_000,
            n === 119_999 ? 'never' : '2024-01-02',
          );
      },
    );
  });

  test('a key is told from a column with one value twice, however late', () => {
    expect(profile.tables[0]!.keys).toEqual([['id'], ['one']]);
    expect(column(profile, 'one')).toMatchObject({ distinct: 120_000 });
    expect(column(profile, 'twice')).toMatchObject({ distinct: 119_999 });
    expect(column(profile, 'one').distinctEstimated).toBeUndefined();
  });

  test('what cannot be a key is estimated, and says so', () => {
    const { distinct, distinctEstimated } = column(profile, 'many');
    expect(distinctEstimated).toBe(true);
    expect(Math.abs(distinct / 40_000 - 1)).toBeLessThan(0.05);
  });

  test('storage and formats are exact all the same', () => {
    expect(column(profile, 'day')).toMatchObject({
      formats: [],
      formatCounts: { 'iso-date': 119_999 },
    });
  });

  test.each([100, 5000, 300_000])('%i distinct values are estimated within 5 %', (n) => {
    const [numbers, texts] = [new DistinctSketch(), new DistinctSketch()];
    for (let index = 0; index < n; index++)
      for (let twice = 0; twice < 2; twice++) [numbers.add(index * 3), texts.add(`value ${index}`)];
    expect(Math.abs(numbers.estimate() / n - 1)).toBeLessThan(0.05);
    expect(Math.abs(texts.estimate() / n - 1)).toBeLessThan(0.05);
  });
});

describe('functional dependencies', () => {
  const cities = (rows: number, last = ''): Profile =>
    profileOf(
      'CREATE TABLE t (id INTEGER PRIMARY KEY, zip TEXT, city TEXT, country TEXT, note TEXT);',
      (sqlite) => {
        const insert = sqlite.prepare('INSERT INTO t VALUES (?, ?, ?, ?, ?)');
        for (let n = 0; n < rows; n++)
          insert.run(
            n,
            `z${n % 100}`,
            n === rows - 1 && last ? last : `c${n % 20}`,
            'X',
            n % 7 ? `n${n % 13}` : null,
          );
      },
    );

  test('a zip determines its city, a constant is no dependent, a key no determinant', () => {
    const [table] = cities(1000).tables;
    expect(table).toMatchObject({
      constants: ['country'],
      functionalDependencies: [{ determinant: ['zip'], dependents: ['city'] }],
      dependencySearch: { columns: 3, rows: 1000 },
    });
  });

  test('beyond the sample, the last row still refutes', () => {
    expect(cities(20_000).tables[0]!.functionalDependencies).toEqual([
      { determinant: ['zip'], dependents: ['city'] },
    ]);
    expect(cities(20_000, 'elsewhere').tables[0]).toMatchObject({
      functionalDependencies: [],
      dependencySearch: { rows: 5000 },
    });
  });

  test('hardly any repeated value: nothing is claimed', () => {
    expect(
      profileOf(
        "CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES ('1', 'x'), ('1', 'x'), ('2', " +
          "'y'), ('3', 'z');",
      ).tables[0]!.functionalDependencies,
    ).toEqual([]);
  });

  test('a table of 500 columns is bounded, and says so', () => {
    const names = Array.from({ length: 500 }, (_, index) => `c${index}`);
    const started = performance.now();
    const [table] = profileOf(`CREATE TABLE t (${names.join(',')});`, (sqlite) => {
      const insert = sqlite.prepare(`INSERT INTO t VALUES (${names.map(() => '?').join(',')})`);
      for (let row = 0; row < 500; row++)
        insert.run(names.map((_, index) => (row * (index + 3)) % 17));
    }).tables;
    expect(table!.dependencySearch).toEqual({ columns: 64, rows: 500 });
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

test('circles of relationships, each once; a self-reference is one of its own', () => {
  const { cycles } = profileOf(`
    CREATE TABLE a (id INTEGER PRIMARY KEY, b_id REFERENCES b(id), boss REFERENCES a(id));
    CREATE TABLE b (id INTEGER PRIMARY KEY, c_id REFERENCES c(id));
    CREATE TABLE c (id INTEGER PRIMARY KEY, a_id REFERENCES a(id), b_id REFERENCES b(id));
    CREATE TABLE d (id INTEGER PRIMARY KEY, a_id REFERENCES a(id));`);
  expect(cycles.map((cycle) => [...cycle].sort())).toEqual([
    ['a(b_id)->b(id)', 'b(c_id)->c(id)', 'c(a_id)->a(id)'],
    ['a(boss)->a(id)'],
    ['b(c_id)->c(id)', 'c(b_id)->b(id)'],
  ]);
});

test('fan-out by the bytes of keys where a collation takes several for one', () => {
  const fanOutOf = (child: string, parent: string): Relationship => {
    const sqlite = new Database(':memory:');
    sqlite.exec(`CREATE TABLE p (code TEXT PRIMARY KEY ${parent}); CREATE TABLE c (id INTEGER PRIMARY KEY, code TEXT ${child} REFERENCES p(code));
      INSERT INTO p VALUES ('a'), ('b')${parent === '' ? ", ('A')" : ''}; INSERT INTO c (code) VALUES ('a'), ('a'), ('A'), ('A'), ('A'), ('b');`);
    sqlite.defaultSafeIntegers(true);
    return profileDatabase(sqlite, catalogOf(sqlite, { name: 'db', sha256: 'x', descriptions: {} }))
      .relationships[0]!;
  };
  expect(fanOutOf('COLLATE NOCASE', '')).toMatchObject({
    orphans: 0,
    parentIsKey: true,
    fanOut: { max: 3, mean: 2, childlessParents: 0 },
  });
  expect(fanOutOf('', '')).toMatchObject({
    orphans: 0,
    parentIsKey: true,
    fanOut: { max: 3, mean: 2, childlessParents: 0 },
  });
  // The parent's collation decides what `=` finds: one row then has both spellings.
  expect(fanOutOf('', 'COLLATE NOCASE')).toMatchObject({
    orphans: 0,
    parentIsKey: true,
    fanOut: { max: 5, mean: 3, childlessParents: 0 },
  });
});
