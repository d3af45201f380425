import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonSchema } from '../bundle/json-schema';
import type {
  ColumnField,
  DocumentDesign,
  Field,
  OutlierField,
} from '../design/model/document-design';
import { forecastCollections } from '../design/limits/forecast';
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
  INSERT INTO p VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four'), (5, 'five');
  INSERT INTO c VALUES ('a', 1, 5, '2024-01-02', 'b'), ('b', 1, 7, '2024-01-02', 'A'), ('c', 1, 7, NULL, 'a'), ('d', 2, NULL, '2023-01-02', 'B'), ('e', 2, 1, '2022-01-02', NULL), ('f', 4, 9, '2021-01-02', 'n'), ('g', 9, 8, '2020-01-02', 'o'),
    ('h', 5, 1, NULL, 'x'), ('i', 5, 1, NULL, 'x'), ('j', 5, 2, '2020-01-02', 'y');`;

const date = { kind: 'date', format: 'YYYY-MM-DD' } as const;
const outlier: OutlierField = {
  kind: 'outlier',
  name: 'sales',
  flag: 'sales_elsewhere',
  table: 'c',
  relationship: 'c(p_id)->p(id)',
  join: [{ parent: 'id', child: 'p_id' }],
  limit: 2,
  fields: [
    { kind: 'column', name: '_id', column: 'cid', transform: identity },
    { kind: 'column', name: 'price', column: 'price', transform: identity },
    { kind: 'column', name: 'day', column: 'day', transform: date },
  ],
};
const withOutlier = (design: DocumentDesign, field: OutlierField = outlier): DocumentDesign => ({
  ...design,
  logical: design.logical.map((logical) => ({
    ...logical,
    fields: [
      ...logical.fields.map((own) =>
        own.kind === 'column' && own.column === 'day' ? { ...own, transform: date } : own,
      ),
      ...(logical.rootTable === 'p' ? [field] : []),
    ],
  })),
});
const converted = (): Promise<ConvertedSource> =>
  fixture.convert(sql, { strategy: 'one-to-one', change: withOutlier });

test('all children of each parent in order, but of those that have too many none, and their key in the flag', async () => {
  const source = await converted();
  expect(source.problems).toEqual([]);
  const documents = await source.db.collection('p').find().sort({ _id: 1 }).toArray();
  expect(documents).toEqual([
    { _id: 1, name: 'one', sales: [], sales_elsewhere: 1 },
    {
      _id: 2,
      name: 'two',
      sales: [
        { _id: 'd', price: null, day: new Date('2023-01-02') },
        { _id: 'e', price: 1, day: new Date('2022-01-02') },
      ],
    },
    { _id: 3, name: 'three', sales: [] },
    { _id: 4, name: 'four', sales: [{ _id: 'f', price: 9, day: new Date('2021-01-02') }] },
    { _id: 5, name: 'five', sales: [], sales_elsewhere: 5 },
  ]);
  expect(await source.db.collection('c').countDocuments()).toBe(10);
  expect(await source.failing()).toEqual([]);
  const collection = (await source.validate()).collections.find(
    (entry) => entry.collection === 'p',
  )!;
  expect(collection.coverage).toMatchObject({
    'sales._id': ['p.sales: all rows of c up to 2'],
    'sales.price': ['p.sales: all rows of c up to 2'],
    sales_elsewhere: ['p.sales_elsewhere: more than 2 rows of c'],
  });
  expect(collection.faults.holes).toEqual([]);
  expect(Object.keys(collection.faults.caught)).toEqual(
    expect.arrayContaining([
      'p.sales: all rows of c up to 2',
      'p.sales_elsewhere: more than 2 rows of c',
    ]),
  );
  expect(collection.faults.caught['p.sales_elsewhere: more than 2 rows of c']).toContainEqual({
    kind: 'field dropped',
    path: 'sales_elsewhere',
  });
  expect(Object.values(collection.faults.caught).flat()).toHaveLength(collection.faults.planted);
});

test('a parent’s key by its bytes and a child’s by a collation: the parent’s decides, as where documents are made', async () => {
  const cased = `CREATE TABLE p (id TEXT PRIMARY KEY, name TEXT); INSERT INTO p VALUES ('a', 'one'), ('A', 'two');
    CREATE TABLE c (cid INTEGER PRIMARY KEY, p_id TEXT NOT NULL COLLATE NOCASE REFERENCES p(id), price REAL); INSERT INTO c VALUES (1, 'a', 1), (2, 'A', 2), (3, 'a', 3), (4, 'A', 4), (5, 'A', 5);`;
  const price: ColumnField = {
    kind: 'column',
    name: 'price',
    column: 'price',
    transform: identity,
  };
  const common = {
    table: 'c',
    relationship: 'c(p_id)->p(id)',
    join: [{ parent: 'id', child: 'p_id' }],
    fields: [price],
  };
  const kept: Field[] = [
    { kind: 'outlier', name: 'all', flag: 'elsewhere', limit: 2, ...common },
    {
      kind: 'subset',
      name: 'dearest',
      limit: 1,
      orderBy: [{ column: 'price', direction: 'desc' }],
      ...common,
    },
  ];
  const source = await fixture.convert(cased, {
    strategy: 'one-to-one',
    change: (design) => ({
      ...design,
      logical: design.logical.map((logical) =>
        logical.rootTable === 'p' ? { ...logical, fields: [...logical.fields, ...kept] } : logical,
      ),
    }),
  });
  expect(await source.db.collection('p').find().sort({ _id: 1 }).toArray()).toEqual([
    { _id: 'A', name: 'two', all: [], elsewhere: 'A', dearest: [{ price: 5 }] },
    { _id: 'a', name: 'one', all: [{ price: 1 }, { price: 3 }], dearest: [{ price: 3 }] },
  ]);
  expect(await source.failing()).toEqual([]);
});

test('a parent whose rows are embedded, a key that is no _id, and types that are not the source’s', async () => {
  const nested = `
    CREATE TABLE g (gid INTEGER PRIMARY KEY);
    INSERT INTO g VALUES (1), (2);
    CREATE TABLE p (n INTEGER PRIMARY KEY, code INTEGER NOT NULL UNIQUE, g_id INTEGER NOT NULL REFERENCES g(gid));
    INSERT INTO p VALUES (1, 10, 1), (2, 20, 1), (3, 30, 2);
    CREATE TABLE c (cid INTEGER PRIMARY KEY, code INTEGER NOT NULL REFERENCES p(code), v TEXT);
    INSERT INTO c VALUES (1, 10, 'a'), (2, 10, 'b'), (3, 20, 'c'), (4, 10, 'd');`;
  const text = { kind: 'string', from: 'integer' } as const;
  const own = (name: string, transform: typeof text | typeof identity = identity): Field => ({
    kind: 'column',
    name,
    column: name,
    transform,
  });
  const field: OutlierField = {
    ...outlier,
    name: 'cs',
    flag: 'elsewhere',
    relationship: 'c(code)->p(code)',
    join: [{ parent: 'code', child: 'code' }],
    fields: [{ kind: 'column', name: 'v', column: 'v', transform: identity }],
  };
  const change = (design: DocumentDesign): DocumentDesign => ({
    ...design,
    conceptual: {
      ...design.conceptual,
      collections: design.conceptual.collections.filter(({ rootTable }) => rootTable !== 'p'),
    },
    logical: design.logical.flatMap((logical) => {
      if (logical.rootTable === 'c') return [{ ...logical, fields: [own('code', text), own('v')] }];
      if (logical.rootTable === 'p') return [];
      return [
        {
          ...logical,
          fields: [
            {
              kind: 'embedMany' as const,
              name: 'ps',
              table: 'p',
              relationship: 'p(g_id)->g(gid)',
              join: [{ parent: 'gid', child: 'g_id' }],
              orderBy: [],
              fields: [own('n'), own('code', text), field],
            },
          ],
        },
      ];
    }),
  });
  const source = await fixture.convert(nested, { strategy: 'one-to-one', change });
  expect(source.problems).toEqual([]);
  expect(await source.db.collection('g').find().sort({ _id: 1 }).toArray()).toEqual([
    {
      _id: 1,
      ps: [
        { n: 1, code: '10', cs: [], elsewhere: '10' },
        { n: 2, code: '20', cs: [{ v: 'c' }] },
      ],
    },
    { _id: 2, ps: [{ n: 3, code: '30', cs: [] }] },
  ]);
  expect(await source.failing()).toEqual([]);
  await source.db
    .collection<{ _id: number }>('g')
    .updateOne({ _id: 1 }, { $unset: { 'ps.0.elsewhere': '' }, $set: { 'ps.1.elsewhere': '10' } });
  expect(await source.failing()).toContain('collection: g.ps.elsewhere: more than 2 rows of c');
});

const at = (_id: number, update: object) => (db: Db) =>
  db.collection<{ _id: number }>('p').updateOne({ _id }, update);
const COPIED = ', all copied up to 2';
const LENGTH = ', all of them up to 2, of more none';
const FLAGS = ', flagged where there are more than 2';
describe('faults are caught', () => {
  test.each<[string, (db: Db) => Promise<unknown>, readonly string[]]>([
    ['an altered entry', at(2, { $set: { 'sales.1.price': 8 } }), [COPIED]],
    ['an altered key', at(2, { $set: { 'sales.1._id': 'x' } }), [COPIED]],
    [
      'an entry of another parent',
      at(4, { $set: { 'sales.0': { _id: 'e', price: 1, day: new Date('2022-01-02') } } }),
      [COPIED],
    ],
    ['an entry too few', at(2, { $pop: { sales: 1 } }), [LENGTH]],
    [
      'an entry twice',
      at(4, { $push: { sales: { _id: 'f', price: 9, day: new Date('2021-01-02') } } } as never),
      [LENGTH],
    ],
    ['no array', at(3, { $unset: { sales: '' } }), [LENGTH]],
    [
      'an outlier’s array filled',
      at(1, { $set: { sales: [{ _id: 'a', price: 5, day: new Date('2024-01-02') }] } }),
      [LENGTH],
    ],
    ['no flag', at(1, { $unset: { sales_elsewhere: '' } }), [FLAGS]],
    ['a flag that is null', at(1, { $set: { sales_elsewhere: null } }), [FLAGS]],
    ['a flag with another key', at(1, { $set: { sales_elsewhere: 5 } }), [FLAGS]],
    ['a flag where there are few', at(2, { $set: { sales_elsewhere: 2 } }), [FLAGS]],
    ['a null where there is no flag', at(3, { $set: { sales_elsewhere: null } }), [FLAGS]],
    [
      'entries in another order',
      at(2, {
        $set: {
          sales: [
            { _id: 'e', price: 1, day: new Date('2022-01-02') },
            { _id: 'd', price: null, day: new Date('2023-01-02') },
          ],
        },
      }),
      [],
    ],
    [
      'an original that changed',
      (db) => db.collection<{ _id: string }>('c').updateOne({ _id: 'e' }, { $set: { price: 6 } }),
      [COPIED],
    ],
    [
      'an original more',
      (db) =>
        db
          .collection<{ _id: string }>('c')
          .insertOne({ _id: 'z', p_id: 3, price: 6, day: null } as never),
      [LENGTH],
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
    expect(await source.failing()).not.toEqual([]);
    await source.db.dropDatabase();
  });
});

test('it stands in the CSV, the schema and the forecast; what is none is refused', () => {
  const { design, profile } = fixture.plan(sql, { strategy: 'one-to-one', change: withOutlier });
  const logical = design.logical.find(({ rootTable }) => rootTable === 'p')!;
  const csv = logicalCsv(logical);
  expect(csv).toContain(
    '"c","p.sales","Outlier","all rows of c where p_id = parent id, if 2 at most; else none, and ' +
      'the key in ""sales_elsewhere""; relationship ""c(p_id)->p(id)"""',
  );
  expect(parseLogicalCsv(csv)).toEqual(logical);
  expect(() => parseLogicalCsv(csv.replace('if 2 at most', 'if few'))).toThrow('line 4');
  expect(() => parseLogicalCsv(csv.replace('if 2 at most', 'if 0 at most'))).toThrow('line 4');
  expect(() => parseLogicalCsv(csv.replace('; relationship', ' somewhere; relationship'))).toThrow(
    'line 4',
  );
  expect(documentDesignSchema.parse(design)).toEqual(design);
  expect(
    documentDesignSchema.safeParse(
      withOutlier(design, {
        ...outlier,
        join: [...outlier.join, { parent: 'name', child: 'label' }],
      }),
    ).success,
  ).toBe(false);
  expect(jsonSchema(logical, profile)).toMatchObject({
    required: ['_id', 'name', 'sales'],
    properties: {
      sales: { bsonType: 'array', maxItems: 2, items: { required: ['_id', 'price', 'day'] } },
      sales_elsewhere: { bsonType: ['int', 'long'] },
    },
  });
  expect(
    forecastCollections(design, profile).find(({ collection }) => collection === 'p'),
  ).toMatchObject({ longestArrays: { sales: 2 } });
});

describe('the loss check', () => {
  const problems = (field: Partial<OutlierField>, source = sql): string[] => {
    const { design, catalog, profile } = fixture.plan(source, { strategy: 'one-to-one' });
    return checkDesign(
      withOutlier(design, { ...outlier, ...field }),
      catalog,
      profile,
      testLimits,
    ).map(({ kind, detail }) => `${kind}: ${detail}`);
  };
  test.each<[string, Partial<OutlierField>, string, string | undefined]>([
    ['finds nothing', {}, sql, undefined],
    [
      'knows the limit of arrays',
      { limit: 5000 },
      sql,
      'limit: an array of 5000 entries; the limit is 1000',
    ],
    [
      'wants the types of the originals',
      { fields: outlier.fields.map((field) => ({ ...field, transform: identity })) },
      sql,
      'broken: a copy has the type of its original',
    ],
    [
      'wants a relationship',
      { relationship: 'x' },
      sql,
      'broken: x is no relationship of p with c',
    ],
    ['wants a flag of its own', { flag: 'name' }, sql, 'broken: two fields have this path'],
    [
      'lets no child be without a key',
      {},
      `${sql} INSERT INTO c VALUES ('n', NULL, 1, '2020-01-01', 'x');`,
      'broken: 1 rows of c have no key, and a parent without a flag would find them',
    ],
    [
      'wants keys that are stored alike',
      {},
      sql.replace('p_id INTEGER', 'p_id TEXT'),
      'broken: p_id is stored otherwise than its parent’s key, so the flag would not find the ' +
        'children',
    ],
  ])('%s', (_, field, source, expected) => {
    expect(problems(field, source)).toEqual(expected === undefined ? [] : [expected]);
  });

  test('wants keys of one type in the documents, and children that are documents', () => {
    const { design, catalog, profile } = fixture.plan(sql, {
      strategy: 'one-to-one',
      change: withOutlier,
    });
    const retyped = {
      ...design,
      logical: design.logical.map((logical) => ({
        ...logical,
        fields: logical.fields.map((field) =>
          field.kind === 'column' && field.column === 'p_id'
            ? { ...field, transform: { kind: 'string', from: 'integer' } as const }
            : field,
        ),
      })),
    };
    expect(checkDesign(retyped, catalog, profile, testLimits).map(({ detail }) => detail)).toEqual([
      'p_id has another type than its parent’s key, so the flag would not find the children',
    ]);
    const table = design.logical.find(({ rootTable }) => rootTable === 'c')!;
    const within = {
      ...design,
      logical: [
        {
          ...table,
          collection: 'x',
          rootTable: 'x',
          fields: [
            {
              kind: 'embedMany' as const,
              name: 'cs',
              table: 'c',
              relationship: 'none',
              join: [],
              orderBy: [],
              fields: [
                { kind: 'column' as const, name: 'cid', column: 'cid', transform: identity },
                ...table.fields,
              ],
            },
          ],
        },
        ...design.logical.filter(({ rootTable }) => rootTable === 'p'),
      ],
    };
    expect(checkDesign(within, catalog, profile, testLimits).map(({ detail }) => detail)).toContain(
      'the rows of c are no documents of their own, so the flag would not find the children',
    );
  });
});
