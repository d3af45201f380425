import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonSchema } from '../bundle/json-schema';
import type { AttributeField, ColumnField, DocumentDesign } from '../design/model/document-design';
import { logicalCsv, parseLogicalCsv } from '../design/logical/logical-csv';
import { checkDesign } from '../design/limits/loss-check';
import { documentDesignSchema } from '../design/model/schema';
import { identity } from '../design/model/transform';
import { type Transform } from '../design/model/transform-kind';
import { ConversionFixture, testLimits, type ConvertedSource } from './test/conversion-fixture';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

/**
 * Values of every storage class, an empty text, a quote in a name, a row without any value, a table
 * without a key.
 */
const sql = `
  CREATE TABLE m (id INTEGER PRIMARY KEY, p1, p2, p3, "it's" TEXT, day TEXT, other TEXT);
  INSERT INTO m VALUES (1, 5, 9, 7, 'x', '2024-01-02', 'a'), (2, NULL, 2.5, 'text', '', NULL, 'b'), (3, NULL, NULL, NULL, NULL, NULL, 'c'), (4, 9007199254740993, x'00ff', 5, 'y', '2023-01-02', 'd');
  CREATE TABLE keyless (t1 TEXT, t2 TEXT);
  INSERT INTO keyless VALUES ('a', NULL), (NULL, 'b'), ('a', 'a'), ('a', 'a');`;
const date: Transform = { kind: 'date', format: 'YYYY-MM-DD' };
const NAMES: Readonly<Record<string, readonly string[]>> = {
  m: ['p2', 'p1', 'p3', 'itS', 'day'],
  keyless: ['t1', 't2'],
};

/** Names and values of some columns, in an order of their own, one of them retyped. */
function withAttributes(
  design: DocumentDesign,
  change: (field: AttributeField) => AttributeField = (field) => field,
): DocumentDesign {
  return {
    ...design,
    logical: design.logical.map((logical) => {
      const fields = logical.fields.map((field) =>
        field.kind === 'column' && field.column === 'day' ? { ...field, transform: date } : field,
      );
      const repeated = NAMES[logical.rootTable]!.map((name) =>
        fields.find(
          (field): field is ColumnField => field.kind === 'column' && field.name === name,
        )!,
      );
      return {
        ...logical,
        fields: [...fields, change({ kind: 'attribute', name: 'attributes', fields: repeated })],
      };
    }),
  };
}
const converted = (): Promise<ConvertedSource> =>
  fixture.convert(sql, { strategy: 'one-to-one', change: withAttributes });

test('an entry for each value that is not null, in the order of the columns; every value still under its own name', async () => {
  const source = await converted();
  expect(source.problems).toEqual([]);
  const documents = await source.db
    .collection<{ _id: number; attributes: { k: string }[] }>('m')
    .find()
    .sort({ _id: 1 })
    .toArray();
  expect(documents.map(({ attributes }) => attributes.map(({ k }) => k))).toEqual([
    ['p2', 'p1', 'p3', 'itS', 'day'],
    ['p2', 'p3', 'itS'],
    [],
    ['p2', 'p1', 'p3', 'itS', 'day'],
  ]);
  expect(documents[0]).toEqual({
    _id: 1,
    p1: 5,
    p2: 9,
    p3: 7,
    itS: 'x',
    day: new Date('2024-01-02'),
    other: 'a',
    attributes: [
      { k: 'p2', v: 9 },
      { k: 'p1', v: 5 },
      { k: 'p3', v: 7 },
      { k: 'itS', v: 'x' },
      { k: 'day', v: new Date('2024-01-02') },
    ],
  });
  expect(await source.failing()).toEqual([]);
  const [collection] = (await source.validate()).collections;
  expect(collection!.coverage).toMatchObject(
    Object.fromEntries(
      ['attributes.k', 'attributes.v'].map((path) => [
        path,
        ['m.attributes: names and values, 1 of 2', 'm.attributes: names and values, 2 of 2'],
      ]),
    ),
  );
  expect(collection!.faults).toMatchObject({ holes: [] });
  expect(collection!.faults.planted).toBeGreaterThan(20);
});

const ENTRY = ': every entry of attributes is a field’s name and value';
const VALUE = ': every value of 5 fields has its one entry in attributes';
const first = (update: object) => (db: Db) =>
  db.collection<{ _id: number }>('m').updateOne({ _id: 1 }, update as never);
describe('faults are caught', () => {
  test.each<[string, (db: Db) => Promise<unknown>, readonly string[]]>([
    ['an altered value', first({ $set: { 'attributes.1.v': 6 } }), [ENTRY, VALUE]],
    ['an altered name', first({ $set: { 'attributes.1.k': 'p4' } }), [ENTRY, VALUE]],
    ['a name without its value', first({ $unset: { 'attributes.1.v': '' } }), [ENTRY, VALUE]],
    ['an entry too few', first({ $pop: { attributes: 1 } }), [VALUE]],
    ['an entry too many', first({ $push: { attributes: { k: 'other', v: 'a' } } }), [ENTRY, VALUE]],
    ['an entry twice', first({ $push: { attributes: { k: 'p1', v: 5 } } }), [VALUE]],
    [
      'an entry for null',
      (db) =>
        db
          .collection<{ _id: number }>('m')
          .updateOne({ _id: 3 }, { $set: { attributes: [{ k: 'p1', v: null }] } }),
      [ENTRY, VALUE],
    ],
    ['no array', first({ $unset: { attributes: '' } }), [VALUE]],
    [
      'entries in another order',
      first({
        $set: {
          attributes: [
            { k: 'p1', v: 5 },
            { k: 'p2', v: 9 },
            { k: 'p3', v: 7 },
            { k: 'itS', v: 'x' },
            { k: 'day', v: new Date('2024-01-02') },
          ],
        },
      }),
      [],
    ],
    ['a field that changed', first({ $set: { p1: 6 } }), [ENTRY, VALUE]],
    ['a field that became null', first({ $set: { p1: null } }), [ENTRY, VALUE]],
  ])('%s', async (_, fault, references) => {
    const source = await converted();
    await fault(source.db);
    const found = await source.validate();
    expect(
      found.references
        .filter(({ holds }) => !holds)
        .map(({ relationship }) => relationship.replace(/^m/, '')),
    ).toEqual(references);
    expect(
      found.references.filter(({ relationship }) => relationship.includes('attributes')),
    ).toHaveLength(4);
    // What the documents say of each other cannot show the order: the source does.
    expect(await source.failing()).not.toEqual([]);
    await source.db.dropDatabase();
  });
});

test('it stands in the CSV and the schema; what is none is refused', () => {
  const planned = fixture.plan(sql, { strategy: 'one-to-one', change: withAttributes });
  const { design, catalog, profile } = planned;
  const logical = design.logical.find(({ rootTable }) => rootTable === 'm')!;
  const csv = logicalCsv(logical);
  expect(csv).toContain(
    '"m","m.attributes","Attribute","entries {k: name, v: value} of the fields below, without ' +
      'those that are null"\r\n"m.p2","m.attributes.p2","as stored","identity"',
  );
  expect(parseLogicalCsv(csv)).toEqual(logical);
  expect(() => parseLogicalCsv(csv.replace('without those', 'with those'))).toThrow(
    /^line 9: what the note says besides or otherwise would be ignored/,
  );
  expect(() =>
    parseLogicalCsv(csv.replace('"m","m.attributes"', '"keyless","m.attributes"')),
  ).toThrow(/^line 9: "attributes" repeats fields of the rows of m, not of keyless/);
  expect(documentDesignSchema.parse(design)).toEqual(design);
  expect(jsonSchema(logical, profile)).toMatchObject({
    required: ['_id', 'p1', 'p2', 'p3', 'itS', 'day', 'other', 'attributes'],
    properties: {
      attributes: {
        bsonType: 'array',
        maxItems: 5,
        items: {
          required: ['k', 'v'],
          properties: {
            k: { enum: NAMES['m'] },
            v: { bsonType: ['int', 'long', 'double', 'binData', 'string', 'date'] },
          },
        },
      },
    },
  });

  const plain = fixture.plan(sql, { strategy: 'one-to-one' }).design;
  const problems = (change: (field: AttributeField) => AttributeField, limits = testLimits) => [
    ...new Set(
      checkDesign(withAttributes(plain, change), catalog, profile, limits)
        .filter(({ subject }) => subject === 'm.attributes')
        .map(({ kind, detail }) => `${kind}: ${detail}`),
    ),
  ];
  const changed =
    (name: string, change: Partial<ColumnField>) =>
    (field: AttributeField): AttributeField => ({
      ...field,
      fields: field.fields.map((own) => (own.name === name ? { ...own, ...change } : own)),
    });
  expect(problems((field) => field)).toEqual([]);
  expect(problems(changed('day', { transform: identity }))).toEqual([
    'broken: a copy has the type of its original',
  ]);
  expect(problems(changed('p1', { name: 'nothing' }))).toEqual([
    'broken: there is no field nothing of p1 beside it',
  ]);
  expect(problems(changed('p1', { column: 'p2' }))).toEqual([
    'broken: there is no field p1 of p2 beside it',
  ]);
  expect(problems(changed('p1', { transform: { kind: 'bytes', encoding: 'UTF-8' } }))).toEqual([
    'broken: p1 holds bytes of texts, which nobody compares',
  ]);
  expect(problems((field) => ({ ...field, fields: [...field.fields, field.fields[0]!] }))).toEqual([
    'broken: it repeats p2 twice',
  ]);
  expect(problems((field) => field, { ...testLimits, maxArray: 4 })).toEqual([
    'limit: an array of 5 entries; the limit is 4',
  ]);
});

test('it is no field of embedded rows', () => {
  const { design, catalog, profile } = fixture.plan(
    'CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p_id INTEGER NOT NULL REFERENCES ' +
      "p(id), a TEXT, b TEXT); INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, 'x', 'y');",
    {
      change: (whole) => ({
        ...whole,
        logical: whole.logical.map((logical) => ({
          ...logical,
          fields: logical.fields.map((field) =>
            field.kind === 'embedMany'
              ? {
                  ...field,
                  fields: [
                    ...field.fields,
                    { kind: 'attribute', name: 'entries', fields: field.fields as ColumnField[] },
                  ],
                }
              : field,
          ),
        })),
      }),
    },
  );
  expect(design.logical).toHaveLength(1);
  expect(checkDesign(design, catalog, profile, testLimits)).toEqual([
    {
      kind: 'broken',
      subject: 'p.c.entries',
      detail: 'names and values are repeated of a document’s own columns, not of embedded rows',
    },
  ]);
});
