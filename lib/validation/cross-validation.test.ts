import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ComputedField, DocumentDesign, Field } from '../design/model/document-design';
import { identity } from '../design/model/transform';
import { ConversionFixture, type ConvertedSource } from './test/conversion-fixture';
import { SqlAggregate } from './sql-aggregate';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

const sql = `
  CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT, day TEXT);
  CREATE TABLE c (p_id INTEGER REFERENCES p(id), n, price REAL, label TEXT COLLATE NOCASE);
  INSERT INTO p VALUES (1, 'one', '2024-01-02'), (2, NULL, '2024-01-03'), (3, 'three', NULL);
  INSERT INTO c VALUES (1, 5, 0.1, 'b'), (1, 7, 0.2, 'A'), (1, '12', 0.3, 'a'), (2, NULL, NULL, NULL), (3, 2.5, 1e300, 'x '), (3, 'abc', -1e300, 'X'), (NULL, 1, 1, 'n'), (9, 1, 1, 'o');`;

const aggregates: [ComputedField['aggregate'], string?][] = [
  ['count'],
  ['count', 'n'],
  ['sum', 'n'],
  ['avg', 'n'],
  ['min', 'n'],
  ['max', 'n'],
  ['sum', 'price'],
  ['min', 'label'],
  ['max', 'label'],
];

/**
 * Both tables as collections; children carry a copy of their parent, parents every kind of
 * aggregate.
 */
const withCopies = (design: DocumentDesign): DocumentDesign => {
  const relationship = 'c(p_id)->p(id)';
  const join = [{ parent: 'id', child: 'p_id' }];
  const copy: Field = {
    kind: 'extendedReference',
    name: 'parent',
    table: 'p',
    relationship,
    join,
    fields: ['name', 'day'].map((column) => ({
      kind: 'column',
      name: column,
      column,
      transform: column === 'day' ? { kind: 'date', format: 'YYYY-MM-DD' } : identity,
    })),
  };
  const computed = aggregates.map(([aggregate, column]): Field => ({
    kind: 'computed',
    name: `${aggregate}_${column ?? 'rows'}`,
    table: 'c',
    relationship,
    join,
    aggregate,
    ...(column ? { column } : {}),
  }));
  return {
    ...design,
    logical: design.logical.map((logical) => ({
      ...logical,
      fields: [
        ...logical.fields.map((field): Field =>
          field.kind === 'column' && field.column === 'day'
            ? { ...field, transform: { kind: 'date', format: 'YYYY-MM-DD' } }
            : field,
        ),
        ...(logical.rootTable === 'c' ? [copy] : computed),
      ],
    })),
  };
};

const converted = (): Promise<ConvertedSource> =>
  fixture.convert(sql, { strategy: 'one-to-one', change: withCopies });
/** The claims that do not hold, with the number of values that only one side violates. */
const references = async (source: ConvertedSource): Promise<[string, number][]> =>
  (await source.validate()).references
    .filter(({ holds }) => !holds)
    .map(({ relationship, samples }) => [
      relationship,
      samples.filter(({ side }) => side !== 'both').length,
    ]);

test('references in both directions, copies and computed fields hold; orphans are the source’s own', async () => {
  const source = await converted();
  expect(await source.failing()).toEqual([]);
  const checks = (await source.validate()).references;
  expect(checks.map(({ relationship }) => relationship.replace('c(p_id)->p(id)', ''))).toEqual(
    [
      '',
      ', every parent has children',
      ', copied',
      ', copied wherever there is a row to copy',
      ...aggregates.map(
        ([aggregate, column]) =>
          `, ${aggregate} of ${column ?? 'rows'} in ${aggregate}_${column ?? 'rows'}`,
      ),
    ].sort(
      (a, b) =>
        checks.findIndex(({ relationship }) => relationship.endsWith(`)${a}`)) -
        checks.findIndex(({ relationship }) => relationship.endsWith(`)${b}`)),
    ),
  );
  expect(new Set(checks.map(({ relationship }) => relationship)).size).toBe(checks.length);
  expect(checks.find(({ relationship }) => relationship === 'c(p_id)->p(id)')).toMatchObject({
    violations: 1,
    sourceViolations: 1,
    samples: [{ value: [9n], side: 'both' }],
  });
});

test('orphans that a collation takes for one are told apart on both sides', async () => {
  const source = await fixture.convert(
    'CREATE TABLE p (code TEXT PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, code TEXT ' +
      "COLLATE NOCASE REFERENCES p(code)); INSERT INTO p VALUES ('a'); INSERT INTO c (code) " +
      "VALUES ('a'), ('x'), ('X'), ('A');",
    { strategy: 'one-to-one' },
  );
  expect((await source.validate()).references[0]).toMatchObject({
    violations: 3,
    sourceViolations: 3,
    holds: true,
  });
});

describe('faults in references and copies are caught, with their values', () => {
  test.each<[string, (db: Db) => Promise<unknown>, string]>([
    [
      'a reference that leads nowhere',
      (db) => db.collection('c').updateOne({ p_id: 2 }, { $set: { p_id: 77 } }),
      'c(p_id)->p(id)',
    ],
    [
      'an orphan of the source that is gone',
      (db) => db.collection('c').deleteOne({ p_id: 9 }),
      'c(p_id)->p(id)',
    ],
    [
      'a parent without its only child',
      (db) => db.collection('c').deleteOne({ p_id: 2 }),
      'c(p_id)->p(id), every parent has children',
    ],
    [
      'an altered copy',
      (db) => db.collection('c').updateOne({ p_id: 1 }, { $set: { 'parent.name': 'old' } }),
      'c(p_id)->p(id), copied',
    ],
    [
      'a copy of another row',
      (db) =>
        db
          .collection('c')
          .updateOne({ p_id: 1 }, { $set: { parent: { name: 'three', day: null } } }),
      'c(p_id)->p(id), copied',
    ],
    [
      'a copy gone stale, since its original changed',
      (db) =>
        db
          .collection<{ _id: number }>('p')
          .updateOne({ _id: 3 }, { $set: { day: new Date('2024-02-02') } }),
      'c(p_id)->p(id), copied',
    ],
    [
      'a copy for an orphan',
      (db) =>
        db.collection('c').updateOne({ p_id: 9 }, { $set: { parent: { name: 'x', day: null } } }),
      'c(p_id)->p(id), copied',
    ],
    [
      'a missing copy',
      (db) => db.collection('c').updateOne({ p_id: 2 }, { $unset: { parent: '' } }),
      'c(p_id)->p(id), copied wherever there is a row to copy',
    ],
    ...aggregates.map(([aggregate, column]): [string, (db: Db) => Promise<unknown>, string] => {
      const name = `${aggregate}_${column ?? 'rows'}`;
      return [
        `a stale ${name}`,
        (db) =>
          db
            .collection<{ _id: number }>('p')
            .updateOne(
              { _id: 1 },
              { $set: { [name]: aggregate === 'min' || aggregate === 'max' ? 'zz' : 4 } },
            ),
        `c(p_id)->p(id), ${aggregate} of ${column ?? 'rows'} in ${name}`,
      ];
    }),
    [
      'an aggregate over nothing that is not null',
      (db) => db.collection<{ _id: number }>('p').updateOne({ _id: 2 }, { $set: { sum_n: 0 } }),
      'c(p_id)->p(id), sum of n in sum_n',
    ],
  ])('%s', async (_, fault, expected) => {
    const source = await converted();
    await fault(source.db);
    const found = await references(source);
    expect(found.map(([relationship]) => relationship)).toContain(expected);
    expect(found.find(([relationship]) => relationship === expected)![1]).toBe(1);
    await source.db.dropDatabase();
  });

  test('a new child row makes every aggregate over it stale', async () => {
    const source = await converted();
    await source.db.collection('c').insertOne({
      p_id: 2,
      n: 1,
      price: 2,
      label: 'q',
      parent: { name: null, day: new Date('2024-01-03') },
    });
    expect((await references(source)).map(([relationship]) => relationship)).toHaveLength(
      aggregates.length,
    );
    await source.db.dropDatabase();
  });
});

test('text keys that refer to integer keys: copies and aggregates hold', async () => {
  const source = await fixture.convert(
    `CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT, day TEXT); CREATE TABLE c (p_id TEXT REFERENCES p(id), n, price REAL, label TEXT);
     INSERT INTO p VALUES (1, 'a', NULL), (2, 'b', NULL); INSERT INTO c VALUES ('1', 1, 1, 'x'), ('01', 2, 2, 'y'), (' 2', 3, 3, 'z'), ('2 ', 4, 4, 'z');`,
    { strategy: 'one-to-one', change: withCopies },
  );
  expect((await source.validate()).references.filter(({ holds }) => !holds)).toEqual([]);
});

test.each<[ComputedField['aggregate'], unknown[], unknown]>([
  ['sum', [1n, 2n], 3n],
  ['sum', [1n, 2.5], 3.5],
  ['sum', ['12', ' 3 ', '4.5x', 'x', null], 19.5],
  ['sum', ['12', '3'], 15n],
  ['avg', ['1', 2n], 1.5],
  ['sum', [null], null],
  ['count', [null, 1n], 1n],
  ['min', ['a', 1n, new Uint8Array([0])], 1n],
  ['max', ['a', 1n, new Uint8Array([0])], new Uint8Array([0])],
])('%s of %o is SQLite’s', (kind, values, expected) => {
  const aggregate = new SqlAggregate(kind);
  for (const value of values) aggregate.add(value as never);
  expect(aggregate.results()[0]).toEqual(expected);
});
