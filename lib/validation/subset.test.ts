import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DocumentDesign, SubsetField } from '../design/model/document-design';
import { logicalCsv, parseLogicalCsv } from '../design/logical/logical-csv';
import { checkDesign } from '../design/limits/loss-check';
import { documentDesignSchema } from '../design/model/schema';
import { identity } from '../design/model/transform';
import { ConversionFixture, testLimits, type ConvertedSource } from './test/conversion-fixture';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

const sql = `
  CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE c (cid TEXT PRIMARY KEY, p_id INTEGER REFERENCES p(id), price REAL, day TEXT, label TEXT COLLATE NOCASE) WITHOUT ROWID;
  INSERT INTO p VALUES (1, 'one'), (2, 'two'), (3, 'three');
  INSERT INTO c VALUES ('a', 1, 5, '2024-01-02', 'b'), ('b', 1, 7, '2024-01-02', 'A'), ('c', 1, 7, NULL, 'a'), ('d', 1, NULL, '2023-01-02', 'B'), ('e', 2, 1, '2022-01-02', NULL), ('f', NULL, 9, '2021-01-02', 'n'), ('g', 9, 8, '2020-01-02', 'o');`;

const subset: SubsetField = {
  kind: 'subset',
  name: 'dearest',
  table: 'c',
  relationship: 'c(p_id)->p(id)',
  join: [{ parent: 'id', child: 'p_id' }],
  limit: 2,
  orderBy: [{ column: 'price', direction: 'desc' }],
  fields: [
    { kind: 'column', name: 'price', column: 'price', transform: identity },
    {
      kind: 'column',
      name: 'day',
      column: 'day',
      transform: { kind: 'date', format: 'YYYY-MM-DD' },
    },
    { kind: 'column', name: 'what', column: 'label', transform: identity },
  ],
};
const withSubset = (design: DocumentDesign, field: SubsetField = subset): DocumentDesign => ({
  ...design,
  logical: design.logical.map((logical) => ({
    ...logical,
    fields: [
      ...logical.fields.map((own) =>
        own.kind === 'column' && own.column === 'day'
          ? { ...own, transform: { kind: 'date', format: 'YYYY-MM-DD' } as const }
          : own,
      ),
      ...(logical.rootTable === 'p' ? [field] : []),
    ],
  })),
});
const converted = (): Promise<ConvertedSource> =>
  fixture.convert(sql, { strategy: 'one-to-one', change: withSubset });

test('the first children of each parent, in order; all others only in their own collection', async () => {
  const source = await converted();
  expect(source.problems).toEqual([]);
  const documents = await source.db.collection('p').find().sort({ _id: 1 }).toArray();
  expect(documents.map(({ dearest }) => dearest as unknown)).toEqual([
    [
      { price: 7, day: new Date('2024-01-02'), what: 'A' },
      { price: 7, day: null, what: 'a' },
    ],
    [{ price: 1, day: new Date('2022-01-02'), what: null }],
    [],
  ]);
  expect(await source.db.collection('c').countDocuments()).toBe(7);
  expect(await source.failing()).toEqual([]);
  const [collection] = (await source.validate()).collections;
  expect(collection!.coverage).toMatchObject({
    'dearest.price': ['p.dearest: first 2 rows of c'],
    'dearest.what': ['p.dearest: first 2 rows of c'],
  });
  expect(collection!.faults.holes).toEqual([]);
});

const first = (update: object) => (db: Db) =>
  db.collection<{ _id: number }>('p').updateOne({ _id: 1 }, update);
describe('faults are caught', () => {
  test.each<[string, (db: Db) => Promise<unknown>, readonly string[]]>([
    ['an altered entry', first({ $set: { 'dearest.0.price': 8 } }), [', first 2 copied']],
    [
      'an entry of another parent',
      first({ $set: { 'dearest.1': { price: 1, day: new Date('2022-01-02'), what: null } } }),
      [', first 2 copied'],
    ],
    ['an entry too few', first({ $pop: { dearest: 1 } }), [', as many as there are up to 2']],
    [
      'an entry too many',
      first({ $push: { dearest: { price: 5, day: new Date('2024-01-02'), what: 'b' } } } as never),
      [', as many as there are up to 2'],
    ],
    ['no array', first({ $unset: { dearest: '' } }), [', as many as there are up to 2']],
    [
      'entries in another order',
      first({
        $set: {
          dearest: [
            { price: 7, day: null, what: 'a' },
            { price: 7, day: new Date('2024-01-02'), what: 'A' },
          ],
        },
      }),
      [],
    ],
    [
      'a later entry in the place of an earlier',
      first({ $set: { 'dearest.1': { price: 5, day: new Date('2024-01-02'), what: 'b' } } }),
      [],
    ],
    [
      'an original that changed',
      (db) => db.collection<{ _id: string }>('c').updateOne({ _id: 'b' }, { $set: { price: 6 } }),
      [', first 2 copied'],
    ],
  ])('%s', async (_, fault, references) => {
    const source = await converted();
    await fault(source.db);
    const found = await source.validate();
    expect(
      found.references
        .filter(({ holds }) => !holds)
        .map(({ relationship }) => relationship.replace('c(p_id)->p(id)', '')),
    ).toEqual(references);
    // What the documents say of each other cannot show the order: the source does.
    expect(await source.failing()).not.toEqual([]);
    await source.db.dropDatabase();
  });
});

test('it stands in the CSV and the schema; what is none is refused', () => {
  const { design, catalog, profile } = fixture.plan(sql, {
    strategy: 'one-to-one',
    change: withSubset,
  });
  const logical = design.logical.find(({ rootTable }) => rootTable === 'p')!;
  const csv = logicalCsv(logical);
  expect(csv).toContain(
    '"c","p.dearest","Subset","first 2 rows of c where p_id = parent id; order: price desc; ' +
      'relationship ""c(p_id)->p(id)"""',
  );
  expect(parseLogicalCsv(csv)).toEqual(logical);
  expect(() => parseLogicalCsv(csv.replace('first 2 rows', 'some rows'))).toThrow('line 4');
  expect(documentDesignSchema.parse(design)).toEqual(design);
  const problems = (field: Partial<SubsetField>) =>
    checkDesign(
      withSubset(fixture.plan(sql, { strategy: 'one-to-one' }).design, { ...subset, ...field }),
      catalog,
      profile,
      testLimits,
    ).map(({ kind, detail }) => `${kind}: ${detail}`);
  expect(problems({})).toEqual([]);
  expect(problems({ orderBy: [{ column: 'nothing', direction: 'asc' }] })).toEqual([
    'broken: c has no column nothing to sort by',
  ]);
  expect(problems({ limit: 5000 })).toEqual(['limit: an array of 5000 entries; the limit is 1000']);
  expect(
    problems({ fields: subset.fields.map((field) => ({ ...field, transform: identity })) }),
  ).toEqual(['broken: a copy has the type of its original']);
  expect(problems({ relationship: 'x' })[0]).toContain('broken: x is no relationship');
});
