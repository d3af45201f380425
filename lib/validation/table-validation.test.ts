import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Field } from '../design/model/document-design';
import type { Transform } from '../design/model/transform-kind';
import { ConversionFixture, type ConvertedSource } from './test/conversion-fixture';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

/** Values of two columns that are the same taken alone, and told apart by their rows only. */
const crossed =
  "CREATE TABLE t (a TEXT, b TEXT, c TEXT, d TEXT); INSERT INTO t VALUES ('1', '2', '3', '4'), " +
  "('2', '1', '4', '3');";
const renamed =
  (names: Record<string, string>) =>
  (design: ConvertedSource['design']): ConvertedSource['design'] => ({
    ...design,
    logical: design.logical.map((logical) => ({
      ...logical,
      fields: logical.fields.map((field): Field =>
        field.kind === 'column' ? { ...field, name: names[field.column] ?? field.name } : field,
      ),
    })),
  });

test.each([
  ['as they are', {}],
  ['two names exchanged', { a: 'b', b: 'a' }],
  ['both pairs exchanged', { a: 'b', b: 'a', c: 'd', d: 'c' }],
  ['names that say nothing', { a: 'w', b: 'x', c: 'y', d: 'z' }],
])('fields with the same values are told apart by their rows: %s', async (_, names) => {
  const source = await fixture.convert(crossed, { change: renamed(names) });
  expect((await source.validate()).tables[0]).toMatchObject({ rowsApart: 0, flags: [] });
  expect(await source.failing()).toEqual([]);
});

test('values exchanged between such rows are found', async () => {
  const source = await fixture.convert(crossed);
  await source.db.collection('t').updateOne({ a: '1' }, { $set: { c: '4' } });
  await source.db.collection('t').updateOne({ a: '2' }, { $set: { c: '3' } });
  expect((await source.validate()).tables[0]).toMatchObject({ rowsApart: 2 });
});

test('a double altered in its last digit is found, which the comparison of results would let pass', async () => {
  const source = await fixture.convert(
    'CREATE TABLE t (v REAL); INSERT INTO t VALUES (0.1), (0.30000000000000004);',
  );
  await source.db.collection('t').updateOne({ v: 0.30000000000000004 }, { $set: { v: 0.3 } });
  expect((await source.validate()).tables[0]!.flags).toMatchObject([
    { column: 'v', values: 1, class: 'genuine_loss' },
  ]);
});

test('a table left out of the design is found, by this pass alone', async () => {
  const source = await fixture.convert(
    "CREATE TABLE t (v TEXT); CREATE TABLE u (w TEXT); INSERT INTO t VALUES ('a'); INSERT INTO u " +
      "VALUES ('b');",
    {
      change: (design) => ({
        conceptual: {
          ...design.conceptual,
          collections: design.conceptual.collections.filter(({ rootTable }) => rootTable !== 'u'),
        },
        logical: design.logical.filter(({ rootTable }) => rootTable !== 'u'),
      }),
    },
  );
  expect(source.problems).toMatchObject([{ kind: 'loss', subject: 'u' }]);
  expect(await source.failing()).toEqual(['rows lost: u', 'table: u']);
});

/** Leaves a table or a column out of a design in which every table is a collection. */
const without = (table: string, column?: string) => ({
  strategy: 'one-to-one' as const,
  change: ({ conceptual, logical }: ConvertedSource['design']): ConvertedSource['design'] =>
    column === undefined
      ? {
          conceptual: {
            ...conceptual,
            collections: conceptual.collections.filter(({ rootTable }) => rootTable !== table),
          },
          logical: logical.filter(({ rootTable }) => rootTable !== table),
        }
      : {
          conceptual,
          logical: logical.map((entry) =>
            entry.rootTable === table
              ? {
                  ...entry,
                  fields: entry.fields.filter(
                    (field) => field.kind !== 'column' || field.column !== column,
                  ),
                }
              : entry,
          ),
        },
});

const COPIES =
  'CREATE TABLE t_backup (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE t (id INTEGER PRIMARY ' +
  "KEY, v TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b'); INSERT INTO t_backup SELECT * FROM t;";

test('a table left out whose rows are those of another has no place of its own', async () => {
  const source = await fixture.convert(COPIES, without('t_backup'));
  const { tables } = await source.validate();
  expect(tables.find(({ table }) => table === 't')).toMatchObject({ place: 't', flags: [] });
  const explanation = 'no place of its own: its values are in t, which holds the rows of t';
  expect(tables.find(({ table }) => table === 't_backup')).toMatchObject({
    place: null,
    flags: [
      { column: 'id', values: 2, class: 'genuine_loss', explanation },
      { column: 'v', values: 2, class: 'genuine_loss', explanation },
    ],
  });
});

test('a table left out whose rows are some of another’s has no place of its own', async () => {
  const source = await fixture.convert(
    'CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE TABLE vip (id INTEGER PRIMARY KEY); INSERT ' +
      'INTO t VALUES (1), (2), (3); INSERT INTO vip VALUES (1), (3);',
    without('vip'),
  );
  expect((await source.validate()).tables.find(({ table }) => table === 'vip')).toMatchObject({
    flags: [
      {
        column: 'id',
        class: 'genuine_loss',
        explanation:
          'no place of its own: its values are in t, which has 3 rows where the table has 2',
      },
    ],
  });
});

test('a table of nulls that was left out is found by its rows', async () => {
  const source = await fixture.convert(
    'CREATE TABLE t (v TEXT); CREATE TABLE n (v TEXT, w TEXT); INSERT INTO t VALUES (NULL), ' +
      '(NULL), (NULL); INSERT INTO n VALUES (NULL, NULL), (NULL, NULL);',
    without('n'),
  );
  expect((await source.validate()).tables.find(({ table }) => table === 'n')).toMatchObject({
    flags: [{ column: 'v', values: 2, class: 'genuine_loss' }],
  });
});

test.each([
  ['names that say nothing', { t: 'x', t_backup: 'y' }],
  ['each the other’s name', { t: 't_backup', t_backup: 't' }],
])(
  'tables of the same contents have a place each: %s',
  async (_, names: Record<string, string>) => {
    const source = await fixture.convert(COPIES, {
      strategy: 'one-to-one',
      change: ({ conceptual, logical }) => ({
        conceptual: {
          ...conceptual,
          collections: conceptual.collections.map((entry) => ({
            ...entry,
            name: names[entry.rootTable]!,
          })),
        },
        logical: logical.map((entry) => ({ ...entry, collection: names[entry.rootTable]! })),
      }),
    });
    const { tables } = await source.validate();
    expect(tables.flatMap(({ flags }) => flags)).toEqual([]);
    expect(new Set(tables.map(({ place }) => place)).size).toBe(2);
  },
);

test('a table makes room for one that fits its place alone', async () => {
  // u is looked for in the first collection, which holds its values too, and s has no other.
  const source = await fixture.convert(
    "CREATE TABLE s (a TEXT, b TEXT); CREATE TABLE u (a TEXT); INSERT INTO s VALUES ('1', 'x'), " +
      "('2', 'y'); INSERT INTO u VALUES ('1'), ('2');",
    {
      strategy: 'one-to-one',
      change: ({ conceptual, logical }) => {
        const names: Record<string, string> = { s: 'a', u: 'b' };
        return {
          conceptual: {
            ...conceptual,
            collections: conceptual.collections.map((entry) => ({
              ...entry,
              name: names[entry.rootTable]!,
            })),
          },
          logical: logical.map((entry) => ({ ...entry, collection: names[entry.rootTable]! })),
        };
      },
    },
  );
  expect((await source.validate()).tables).toMatchObject([
    { table: 's', place: 'a', flags: [] },
    { table: 'u', place: 'b', flags: [] },
  ]);
});

test('a column left out whose values are those of another has no field of its own', async () => {
  const source = await fixture.convert(
    'CREATE TABLE t (pos INTEGER, id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1, 1), (2, 2);',
    without('t', 'pos'),
  );
  expect((await source.validate()).tables[0]).toMatchObject({
    place: 't',
    flags: [
      {
        column: 'pos',
        values: 2,
        class: 'genuine_loss',
        explanation: 'no field of its own: its values are in t._id, which holds id',
      },
    ],
  });
});

test('a column makes room for one that has no other field', async () => {
  const source = await fixture.convert(
    "CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES (NULL, 'x'), ('y', 'y');",
    { change: renamed({ a: 'w', b: 'a' }) },
  );
  expect((await source.validate()).tables[0]).toMatchObject({
    rowsApart: 0,
    flags: [],
    columns: [
      { column: 'a', destination: 't.w' },
      { column: 'b', destination: 't.a' },
    ],
  });
});

test('of two retyped columns neither is said to be lost: the other’s field may hold it under a type that it does not have', async () => {
  const bools: Record<string, Transform> = {
    a: { kind: 'bool', true: 'ja', false: 'nein' },
    b: { kind: 'bool', true: 'nein', false: 'ja' },
  };
  const source = await fixture.convert(
    "CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES ('ja', 'ja'), ('nein', 'nein'), " +
      "('nein', 'nein');",
    {
      change: (design) => ({
        ...design,
        logical: design.logical.map((logical) => ({
          ...logical,
          fields: logical.fields.map((field): Field =>
            field.kind === 'column' ? { ...field, transform: bools[field.column]! } : field,
          ),
        })),
      }),
    },
  );
  expect((await source.validate()).tables[0]).toMatchObject({
    rowsApart: 0,
    flags: [
      { column: 'a', class: 'intentional_transformation' },
      { column: 'b', class: 'intentional_transformation' },
    ],
  });
});

test('columns that are held by the same key of an ancestor lose nothing', async () => {
  const source = await fixture.convert(
    'CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE c (p_id INTEGER REFERENCES ' +
      'p(id), w TEXT); CREATE TABLE d (p_id INTEGER REFERENCES p(id), x TEXT); INSERT INTO p ' +
      'VALUES (1, NULL), (2, NULL); INSERT INTO c VALUES (1, NULL), (2, NULL); INSERT INTO d ' +
      'VALUES (1, NULL), (2, NULL);',
  );
  expect(await source.failing()).toEqual([]);
});

test('a boolean of any two words is an intentional transformation', async () => {
  const source = await fixture.convert(
    "CREATE TABLE t (id INTEGER PRIMARY KEY, ok TEXT); INSERT INTO t VALUES (1, 'ja'), (2, " +
      "'nein'), (3, NULL), (4, 'ja');",
    {
      change: (design) => ({
        ...design,
        logical: design.logical.map((logical) => ({
          ...logical,
          fields: logical.fields.map((field): Field =>
            field.kind === 'column'
              ? { ...field, transform: { kind: 'bool', true: 'ja', false: 'nein' } }
              : field,
          ),
        })),
      }),
    },
  );
  expect((await source.validate()).tables[0]!.flags).toMatchObject([
    {
      column: 'ok',
      class: 'intentional_transformation',
      explanation: 'bool("ja", "nein")',
      samples: ['ja', 'nein'],
      stored: [true, false],
    },
  ]);
});

/** Transforms of columns, and names of their fields. */
const retyped =
  (transforms: Record<string, Transform>, names: Record<string, string> = {}) =>
  (design: ConvertedSource['design']): ConvertedSource['design'] => ({
    ...design,
    logical: design.logical.map((logical) => ({
      ...logical,
      fields: logical.fields.map((field): Field =>
        field.kind === 'column'
          ? {
              ...field,
              name: names[field.column] ?? field.name,
              transform: transforms[field.column] ?? field.transform,
            }
          : field,
      ),
    })),
  });
const bool = (yes: string, no: string): Transform => ({ kind: 'bool', true: yes, false: no });
const day: Transform = { kind: 'date', format: 'YYYY-MM-DD' };

test.each<[string, string, (design: ConvertedSource['design']) => ConvertedSource['design']]>([
  [
    'the other word is true',
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'no'), (2, " +
      "'yes'), (3, 'no'), (4, 'yes')",
    retyped({ a: bool('yes', 'no') }),
  ],
  [
    'as often null',
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'no'), (2, " +
      "'yes'), (3, NULL), (4, NULL), (5, 'no'), (6, 'yes')",
    retyped({ a: bool('yes', 'no') }),
  ],
  [
    'no key',
    "CREATE TABLE t (x TEXT, a TEXT); INSERT INTO t VALUES ('p', 'no'), ('p', 'no'), ('q', " +
      "'yes'), ('q', 'yes'), (NULL, 'no'), (NULL, 'yes')",
    retyped({ a: bool('yes', 'no') }),
  ],
  [
    'two columns with words swapped',
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT); INSERT INTO t VALUES (1, 'no', " +
      "'no'), (2, 'yes', 'no'), (3, 'no', 'yes'), (4, 'yes', 'yes')",
    retyped({ a: bool('yes', 'no'), b: bool('no', 'yes') }),
  ],
  [
    'two columns, each under the other’s name',
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT); INSERT INTO t VALUES (1, 'no', " +
      "'no'), (2, 'yes', 'no'), (3, 'no', 'yes'), (4, 'yes', 'yes')",
    retyped({ a: bool('yes', 'no'), b: bool('yes', 'no') }, { a: 'b', b: 'a' }),
  ],
  [
    'four columns without a key',
    "CREATE TABLE t (a TEXT, b TEXT, c TEXT, d TEXT); INSERT INTO t VALUES ('n', 'n', 'y', 'y'), " +
      "('y', 'n', 'n', 'n'), ('n', 'y', 'n', 'y'), ('y', 'y', 'y', 'n')",
    retyped(
      { a: bool('y', 'n'), b: bool('n', 'y'), c: bool('y', 'n'), d: bool('n', 'y') },
      { a: 'p', b: 'q', c: 'r', d: 's' },
    ),
  ],
  [
    'a text with the same words beside it',
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT); INSERT INTO t VALUES (1, 'no', " +
      "'yes'), (2, 'yes', 'yes'), (3, 'no', 'no'), (4, 'yes', 'no')",
    retyped({ a: bool('yes', 'no') }),
  ],
  [
    'dates that occur equally often, each under the other’s name',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT); INSERT INTO t VALUES (1, ' +
      "'2020-01-01', '2020-01-02'), (2, '2020-01-02', '2020-01-02'), (3, '2020-01-02', " +
      "'2020-01-01'), (4, '2020-01-01', '2020-01-01')",
    retyped({ a: day, b: day }, { a: 'b', b: 'a' }),
  ],
  [
    'a date and a text with equal values',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT); INSERT INTO t VALUES (1, ' +
      "'2020-01-01', '2020-01-02'), (2, '2020-01-02', '2020-01-01')",
    retyped({ a: day }),
  ],
])('rows decide what counts leave open: %s', async (_, sql, change) => {
  const source = await fixture.convert(sql, { change });
  const [table] = (await source.validate()).tables;
  expect(table).toMatchObject({ place: 't', rowsApart: 0 });
  expect(table!.flags.map((flag) => flag.class)).not.toContain('genuine_loss');
  expect(await source.failing()).toEqual([]);
});

test('the transformation that the rows show is the one that is named', async () => {
  const source = await fixture.convert(
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'no'), (2, " +
      "'yes'), (3, 'no'), (4, 'yes')",
    { change: retyped({ a: bool('yes', 'no') }) },
  );
  expect((await source.validate()).tables[0]!.flags).toMatchObject([
    {
      column: 'a',
      values: 4,
      explanation: 'bool("yes", "no")',
      samples: ['no', 'yes'],
      stored: [false, true],
    },
  ]);
});

test('booleans exchanged between two rows are found', async () => {
  const source = await fixture.convert(
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'no'), (2, " +
      "'yes'), (3, 'no'), (4, 'yes')",
    { change: retyped({ a: bool('yes', 'no') }) },
  );
  await source.db.collection<{ _id: number }>('t').updateOne({ _id: 1 }, { $set: { a: true } });
  await source.db.collection<{ _id: number }>('t').updateOne({ _id: 2 }, { $set: { a: false } });
  expect((await source.validate()).tables[0]).toMatchObject({ rowsApart: 2 });
});
