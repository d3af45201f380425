import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkDesign } from '../design/limits/loss-check';
import type { DocumentDesign } from '../design/model/document-design';
import { logicalCsv, parseLogicalCsv } from '../design/logical/logical-csv';
import { identity } from '../design/model/transform';
import { type Transform } from '../design/model/transform-kind';
import { collectionMappings } from '../validation/collection-validation';
import { plantFaults } from '../validation/planted-faults';
import {
  ConversionFixture,
  testLimits,
  type ConvertedSource,
} from '../validation/test/conversion-fixture';
import { migrate } from './migrate';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

const convert = (
  sql: string,
  change: (design: DocumentDesign) => DocumentDesign = (design) => design,
): Promise<ConvertedSource> => fixture.convert(sql, { change });

const family = `
  CREATE TABLE g (id INTEGER PRIMARY KEY, v TEXT);
  CREATE TABLE p (id INTEGER PRIMARY KEY, g_id INTEGER REFERENCES g(id), v TEXT);
  CREATE TABLE c (p_id INTEGER REFERENCES p(id), v TEXT, n REAL);
  INSERT INTO g VALUES (3, 'g3'), (1, 'g1'), (2, 'g2');
  INSERT INTO p VALUES (10, 3, 'p10'), (11, 1, 'p11'), (12, 3, 'p12');
  INSERT INTO c VALUES (12, 'a', 1.5), (10, 'b', 2.0), (12, 'c', NULL), (11, 'a', 1.5), (12, 'a', 1.5);`;

describe('sources that lose data elsewhere', () => {
  test.each<[string, string]>([
    ['three levels, children out of order, repeated rows', family],
    [
      '64-bit bounds, NaN-free reals, empty strings, trailing blanks, blobs, mixed types',
      `
      CREATE TABLE t (id INTEGER PRIMARY KEY, v);
      INSERT INTO t VALUES (1, 9223372036854775807), (2, -9223372036854775808), (3, 1.5), (4, ''), (5, 'x '), (6, x'00ff'), (7, NULL), (8, '1'), (9, 1), (10, 1e300), (11, 2147483648), (12, '1.0');`,
    ],
    [
      'a table without any key, with identical rows',
      "CREATE TABLE t (a TEXT, b INTEGER); INSERT INTO t VALUES ('x', 1), ('x', 1), (NULL, NULL);",
    ],
    [
      'a primary key that holds nulls and duplicates by affinity',
      "CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT); INSERT INTO t VALUES (NULL, 'a'), (NULL, " +
        "'b'), ('x', 'c');",
    ],
    [
      'WITHOUT ROWID and a composite key',
      'CREATE TABLE t (a TEXT, b INTEGER, v TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID; INSERT INTO ' +
        "t VALUES ('z', 1, 'p'), ('a', 2, 'q');",
    ],
    [
      'columns that hide the rowid',
      "CREATE TABLE t (rowid TEXT, oid TEXT, v TEXT); INSERT INTO t VALUES ('b', 'c', '1'), " +
        "('a', 'd', '2');",
    ],
    [
      'names with dots, dollars, blanks, quotes, unicode and digits',
      'CREATE TABLE "a.b $c" ("x.y" TEXT, "$z" TEXT, "p q" TEXT, "12" TEXT, "größe" TEXT, "a""b" ' +
        "TEXT, \"_id\" INTEGER); INSERT INTO \"a.b $c\" VALUES ('1', '2', '3', '4', '5', '6', 7);",
    ],
    [
      'collections and fields that differ in case only after repair',
      'CREATE TABLE "t a" ("x y" TEXT, xY TEXT); CREATE TABLE ta (v TEXT); INSERT INTO "t a" ' +
        "VALUES ('1', '2'); INSERT INTO ta VALUES ('3');",
    ],
    [
      'orphans and null keys',
      `CREATE TABLE p (id TEXT PRIMARY KEY, v TEXT); CREATE TABLE c (p_id TEXT REFERENCES p(id), v TEXT);
      INSERT INTO p VALUES ('a', 'x'); INSERT INTO c VALUES ('a', '1'), ('zz', '2'), (NULL, '3');`,
    ],
    [
      'text keys that refer to integer keys',
      'CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE c (p_id TEXT REFERENCES ' +
        "p(id), v TEXT); INSERT INTO p VALUES (1, 'x'), (2, 'y'); INSERT INTO c VALUES ('1', " +
        "'a'), ('2', 'b'), ('1', 'c');",
    ],
    [
      'columns named like what every object has',
      'CREATE TABLE t ("toString" TEXT, "hasOwnProperty" TEXT, "valueOf" INTEGER); INSERT INTO t ' +
        "VALUES ('a', 'b', 1);",
    ],
    [
      'generated columns',
      'CREATE TABLE t (a INTEGER, b INTEGER GENERATED ALWAYS AS (a + 1) STORED, c TEXT GENERATED ' +
        "ALWAYS AS (a || 'v') VIRTUAL); INSERT INTO t (a) VALUES (1), (2);",
    ],
    ['an empty database', 'CREATE TABLE t (a TEXT, b INTEGER PRIMARY KEY);'],
    [
      'values that look like MongoDB’s own',
      "CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('$v'), ('$$ROOT'), ('{\"$ne\": 1}'), " +
        "('a\u0001b');",
    ],
    [
      'one child at most, and parents without one',
      'CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE c (p_id INTEGER PRIMARY KEY ' +
        "REFERENCES p(id), w TEXT); INSERT INTO p VALUES (1, 'a'), (2, 'b'); INSERT INTO c " +
        "VALUES (2, 'x');",
    ],
  ])('%s', async (_, sql) => {
    const { problems, failing, migration, profile } = await convert(sql);
    expect(problems).toEqual([]);
    expect(await failing()).toEqual([]);
    for (const table of profile.tables) expect(migration.rows[table.table]).toBe(table.rowCount);
  });

  test('embedded rows keep the source’s order, deep arrays included', async () => {
    const { db, design } = await convert(family);
    expect(design.logical).toHaveLength(1);
    const documents = await db
      .collection('g')
      .find({}, { sort: { _id: 1 } })
      .toArray();
    expect(
      documents.map((document) => [
        document._id,
        (document.p as { id: number; c: { v: string }[] }[]).map((p) => [
          p.id,
          p.c.map((c) => c.v),
        ]),
      ]),
    ).toEqual([
      [1, [[11, ['a']]]],
      [2, []],
      [
        3,
        [
          [10, ['b']],
          [12, ['a', 'c', 'a']],
        ],
      ],
    ]);
  });

  test('integers are stored as int or long, reals as double', async () => {
    const { db } = await convert(
      'CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 1), (2, 3000000000), ' +
        '(3, 1.0);',
    );
    const documents = await db
      .collection('t')
      .find({}, { sort: { _id: 1 }, promoteValues: false })
      .toArray();
    expect(documents.map((document) => (document.v as { _bsontype: string })._bsontype)).toEqual([
      'Int32',
      'Long',
      'Double',
    ]);
  });

  test('a copy of a retyped column is retyped with it, and checked against it', async () => {
    const day = { kind: 'date', format: 'YYYY-MM-DD' } as const;
    const ddl = `CREATE TABLE p (id INTEGER PRIMARY KEY, day TEXT); CREATE TABLE c (id INTEGER PRIMARY KEY, p_id INTEGER REFERENCES p(id));
      INSERT INTO p VALUES (1, '2024-01-02'), (2, NULL); INSERT INTO c VALUES (7, 1), (8, 2), (9, NULL);`;
    const retyped = (design: DocumentDesign, copied: Transform): DocumentDesign => ({
      ...design,
      logical: design.logical.map((logical) => ({
        ...logical,
        fields: [
          ...logical.fields.map((field) =>
            field.kind === 'column' && field.column === 'day'
              ? { ...field, transform: day }
              : field,
          ),
          ...(logical.rootTable === 'c'
            ? [
                {
                  kind: 'extendedReference' as const,
                  name: 'p',
                  table: 'p',
                  relationship: 'c(p_id)->p(id)',
                  join: [{ parent: 'id', child: 'p_id' }],
                  fields: [
                    { kind: 'column' as const, name: 'day', column: 'day', transform: copied },
                  ],
                },
              ]
            : []),
        ],
      })),
    });
    const { problems, failing, db } = await convert(ddl, (design) => retyped(design, day));
    expect(problems).toEqual([]);
    expect(await db.collection<{ _id: number }>('c').findOne({ _id: 7 })).toMatchObject({
      p: { day: new Date('2024-01-02') },
    });
    expect(await failing()).toEqual([]);
    await db
      .collection<{ _id: number }>('c')
      .updateOne({ _id: 7 }, { $set: { 'p.day': new Date('2024-01-03') } });
    expect(await failing()).not.toEqual([]);
    expect(
      (await convert(ddl, (design) => retyped(design, identity))).problems.map(
        ({ detail }) => detail,
      ),
    ).toContain('a copy has the type of its original');
  });

  test('retyped columns are compared through their transform', async () => {
    const { problems, failing, db, validate } = await convert(
      'CREATE TABLE t (id INTEGER PRIMARY KEY, ok TEXT, day TEXT); INSERT INTO t VALUES (1, ' +
        "'TRUE', '2024-01-02'), (2, 'FALSE', NULL);",
      (design) => {
        const [logical] = design.logical;
        const fields = logical!.fields.map((field) =>
          field.kind !== 'column'
            ? field
            : {
                ...field,
                transform:
                  field.column === 'ok'
                    ? ({ kind: 'bool', true: 'TRUE', false: 'FALSE' } as const)
                    : ({ kind: 'date', format: 'YYYY-MM-DD' } as const),
              },
        );
        return { ...design, logical: [{ ...logical!, fields }] };
      },
    );
    expect(problems).toEqual([]);
    expect(await db.collection<{ _id: number }>('t').findOne({ _id: 1 })).toMatchObject({
      ok: true,
      day: new Date('2024-01-02'),
    });
    expect(await failing()).toEqual([]);
    const flags = (await validate()).tables[0]!.flags;
    expect(flags.map((flag) => [flag.column, flag.class])).toEqual([
      ['ok', 'intentional_transformation'],
      ['day', 'intentional_transformation'],
    ]);
  });
});

describe('faults planted in the documents are caught', () => {
  test.each<[string, (db: ConvertedSource['db']) => Promise<unknown>]>([
    ['a field dropped', (db) => db.collection('g').updateOne({}, { $unset: { v: '' } })],
    [
      'a value altered',
      (db) =>
        db.collection<{ _id: number }>('g').updateOne({ _id: 3 }, { $set: { 'p.0.c.0.v': 'B' } }),
    ],
    ['a row lost', (db) => db.collection<{ _id: number }>('g').deleteOne({ _id: 2 })],
    ['a row doubled', (db) => db.collection<{ _id: number }>('g').insertOne({ _id: 99 })],
    [
      'two values swapped between rows',
      async (db) => {
        await db.collection<{ _id: number }>('g').updateOne({ _id: 1 }, { $set: { v: 'g2' } });
        await db.collection<{ _id: number }>('g').updateOne({ _id: 2 }, { $set: { v: 'g1' } });
      },
    ],
    [
      'an array shortened',
      (db) => db.collection<{ _id: number }>('g').updateOne({ _id: 3 }, { $pop: { p: 1 } }),
    ],
    [
      'a value of another type',
      (db) =>
        db.collection<{ _id: number }>('g').updateOne({ _id: 3 }, { $set: { 'p.0.id': '10' } }),
    ],
  ])('%s', async (_, plant) => {
    const { db, failing } = await convert(family);
    expect(await failing()).toEqual([]);
    await plant(db);
    expect(await failing()).not.toEqual([]);
  });

  test('table validation finds a column that the design forgot, which the other passes cannot', async () => {
    const { problems, failing } = await convert(family, (design) => {
      const [logical] = design.logical;
      return {
        ...design,
        logical: [{ ...logical!, fields: logical!.fields.filter((field) => field.name !== 'v') }],
      };
    });
    expect(problems.map((problem) => problem.kind)).toContain('loss');
    expect(await failing()).toEqual(['table: g']);
  });

  test('table validation finds values that came apart', async () => {
    const { db, validate } = await convert(
      "CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES ('1', 'x'), ('2', 'y');",
    );
    await db.collection('t').updateOne({ a: '1' }, { $set: { b: 'y' } });
    await db.collection('t').updateOne({ a: '2' }, { $set: { b: 'x' } });
    expect((await validate()).tables[0]).toMatchObject({ rowsApart: 2 });
  });
});

describe('copies', () => {
  const withCopies = (design: DocumentDesign): DocumentDesign => ({
    ...design,
    logical: design.logical.map((logical) => {
      const relationship = 'c(p_id)->p(id)';
      const join = [{ parent: 'id', child: 'p_id' }];
      const identity = { kind: 'identity' } as const;
      if (logical.rootTable === 'c')
        return {
          ...logical,
          fields: [
            ...logical.fields,
            {
              kind: 'extendedReference',
              name: 'parent',
              table: 'p',
              relationship,
              join,
              fields: [{ kind: 'column', name: 'v', column: 'v', transform: identity }],
            },
          ],
        };
      return {
        ...logical,
        fields: [
          ...logical.fields,
          {
            kind: 'computed',
            name: 'children',
            table: 'c',
            relationship,
            join,
            aggregate: 'count',
          },
          {
            kind: 'computed',
            name: 'total',
            table: 'c',
            relationship,
            join,
            aggregate: 'sum',
            column: 'n',
          },
        ],
      };
    }),
  });
  const sql = `CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE c (p_id INTEGER REFERENCES p(id), n INTEGER);
    INSERT INTO p VALUES (1, 'a'), (2, NULL), (3, 'c'); INSERT INTO c VALUES (1, 5), (1, 7), (2, NULL), (NULL, 1), (9, 1);`;

  test('an extended reference is absent without a parent; aggregates are stored; all is validated', async () => {
    const { problems, failing, db } = await convert(sql, withCopies);
    expect(problems).toEqual([]);
    expect(
      await db
        .collection('c')
        .find({}, { projection: { _id: 0, p_id: 1, parent: 1 } })
        .toArray(),
    ).toEqual([
      { p_id: 1, parent: { v: 'a' } },
      { p_id: 1, parent: { v: 'a' } },
      { p_id: 2, parent: { v: null } },
      { p_id: null },
      { p_id: 9 },
    ]);
    expect(
      await db
        .collection('p')
        .find({}, { projection: { _id: 0, children: 1, total: 1 } })
        .toArray(),
    ).toEqual([
      { children: 2, total: 12 },
      { children: 1, total: null },
      { children: 0, total: null },
    ]);
    expect(await failing()).toEqual([]);
  });

  test.each<[string, string, object, object]>([
    ['a stale copy', 'c', { p_id: 1 }, { $set: { 'parent.v': 'old' } }],
    ['a copy that is missing', 'c', { p_id: 2 }, { $unset: { parent: '' } }],
    ['a copy without a parent', 'c', { p_id: 9 }, { $set: { parent: { v: 'x' } } }],
    ['a miscounted aggregate', 'p', { _id: 1 }, { $set: { children: 3 } }],
  ])('%s is caught', async (_, collection, filter, update) => {
    const { db, failing } = await convert(sql, withCopies);
    await db.collection(collection).updateOne(filter, update);
    expect((await failing()).join()).toMatch(/^collection:/);
  });

  test('the CSV of a design with copies reads back the same, and a copy along no relationship is refused', async () => {
    const { design, catalog, profile } = await convert(sql, withCopies);
    for (const logical of design.logical)
      expect(parseLogicalCsv(logicalCsv(logical))).toEqual(logical);
    const broken = JSON.parse(
      JSON.stringify(design).replaceAll('"child":"p_id"', '"child":"n"'),
    ) as DocumentDesign;
    expect(
      checkDesign(broken, catalog, profile, testLimits)
        .map((problem) => problem.detail)
        .join(),
    ).toMatch(/its join is not/);
  });
});

test('a fault that no mapping reads is reported as a hole', async () => {
  const { db, design, catalog, input } = await convert(family);
  const mappings = collectionMappings(design.logical[0]!, catalog).filter(
    (mapping) => !mapping.covers.includes('p.c.v'),
  );
  const { planted, holes, caught } = await plantFaults(
    design.logical[0]!,
    mappings,
    db,
    fixture.mongo,
    input.signal,
  );
  expect(planted).toBeGreaterThan(15);
  expect(holes.map((fault) => `${fault.kind} ${fault.path}`).sort()).toEqual([
    'array shortened p.c',
    'entries reordered p.c',
    'field dropped p.c.n',
    'field dropped p.c.v',
    'value altered p.c.n',
    'value altered p.c.v',
    'values swapped between rows p.c.n',
    'values swapped between rows p.c.v',
  ]);
  expect(Object.values(caught).flat()).toHaveLength(planted - holes.length);
});

test.each([
  ['fts5', 'CREATE VIRTUAL TABLE f USING fts5(body)', "INSERT INTO f VALUES ('hello')"],
  [
    'rtree',
    'CREATE VIRTUAL TABLE "f" USING rtree(id, x0, x1)',
    'INSERT INTO f VALUES (1, 0.0, 1.0)',
  ],
])(
  'a virtual table is left out and named with its shadow tables, the others are migrated: %s',
  async (_, create, insert) => {
    const { catalog, migration } = await convert(
      `CREATE TABLE n (id INTEGER PRIMARY KEY, v); INSERT INTO n VALUES (1, 'a'), (2, 'b'); ` +
        `${create}; ${insert};`,
    );
    expect(catalog.leftOut).toEqual(['f']);
    expect(catalog.tables.map(({ name }) => name)).toEqual(['n']);
    expect(migration.collections).toMatchObject([{ name: 'n', documents: 2 }]);
  },
);

test('repeating a finished migration changes nothing; an unfinished one starts over', async () => {
  const { input, migration, db } = await convert(family);
  const again = await migrate(input);
  expect(again).toEqual(migration);
  await db.collection<{ _id: number }>('g').deleteOne({ _id: 1 });
  await migrate(input);
  expect(await db.collection('g').countDocuments()).toBe(3);
});

test('a cancelled migration stops and leaves no record', async () => {
  const { input } = await convert(family);
  const controller = new AbortController();
  controller.abort(new Error('cancelled'));
  const other = {
    ...input,
    catalog: { ...input.catalog, sha256: 'other' },
    signal: controller.signal,
  };
  await expect(migrate(other)).rejects.toThrow('cancelled');
  expect((await migrate({ ...other, signal: new AbortController().signal })).rows.g).toBe(3);
});
