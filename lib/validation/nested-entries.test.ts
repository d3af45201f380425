import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConversionFixture } from './test/conversion-fixture';
import { readPlaces, ValueIds } from './document-places';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

/** Three levels whose rows differ in their keys alone; one row of each level has nothing below. */
const sql = `
  CREATE TABLE a (id INTEGER PRIMARY KEY, n TEXT);
  CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER NOT NULL REFERENCES a(id), n TEXT, "toString" TEXT);
  CREATE TABLE c (id INTEGER PRIMARY KEY, b_id INTEGER NOT NULL REFERENCES b(id), n TEXT);
  CREATE TABLE d (id INTEGER PRIMARY KEY, c_id INTEGER NOT NULL REFERENCES c(id), n TEXT);
  INSERT INTO a VALUES (1, 'x'), (2, 'x'), (3, 'x');
  INSERT INTO b VALUES (1, 1, 'x', 'y'), (2, 1, 'x', NULL), (3, 2, 'x', 'y'), (4, 1, 'x', 'y');
  INSERT INTO c VALUES (1, 1, 'x'), (2, 1, 'x'), (3, 2, 'x'), (4, 3, 'x');
  INSERT INTO d VALUES (1, 1, 'x'), (2, 1, 'x'), (3, 2, 'x'), (4, 3, 'x'), (5, 4, 'x');`;

interface Entry {
  b: Entry[];
  c: Entry[];
  d: Entry[];
}

const converted = () => fixture.convert(sql, { strategy: 'fk-embedding' });

test('rows nested three deep: every mapping passes, every planted fault is caught', async () => {
  const source = await converted();
  expect(await source.failing()).toEqual([]);
  const { faults } = (await source.validate()).collections[0]!;
  expect(faults.holes).toEqual([]);
  expect(await source.db.collection('a').findOne({ _id: 1 as never })).toMatchObject({
    b: [
      {
        id: 1,
        c: [
          { id: 1, d: [{ id: 1 }, { id: 2 }] },
          { id: 2, d: [{ id: 3 }] },
        ],
      },
      { id: 2 },
      { id: 4, c: [] },
    ],
  });
});

test.each<[string, (document: Entry) => unknown]>([
  ['a row moved to a sibling of its parent', ({ b }) => b[0]!.c[1]!.d.push(b[0]!.c[0]!.d.pop()!)],
  ['a row moved to a row of another parent', ({ b }) => b[1]!.c[0]!.d.push(b[0]!.c[0]!.d.pop()!)],
  ['a row with all below it moved', ({ b }) => b[1]!.c.push(b[0]!.c.pop()!)],
  ['entries in another order', ({ b }) => b[0]!.c[0]!.d.reverse()],
  ['rows in another order', ({ b }) => b.reverse()],
  ['an array without entries gone', ({ b }) => Reflect.deleteProperty(b[2]!, 'c')],
  ['an array without entries made null', ({ b }) => Object.assign(b[2]!, { c: null })],
  ['an array of one entry made that entry', ({ b }) => Object.assign(b[1]!, { c: b[1]!.c[0] })],
  [
    'a field named as what every object has gone',
    ({ b }) => Reflect.deleteProperty(b[0]!, 'toString'),
  ],
])('%s is seen', async (_, edit) => {
  const source = await converted();
  const collection = source.db.collection<{ _id: number } & Entry>('a');
  const document = (await collection.findOne({ _id: 1 }))!;
  edit(document);
  await collection.replaceOne({ _id: 1 }, document);
  expect(await source.failing()).not.toEqual([]);
  await source.db.dropDatabase();
});

test('an array in a document in a document: its entries are rows once, however deep', async () => {
  const depth = 14;
  const chain = Array.from(
    { length: depth },
    (_, index) =>
      `CREATE TABLE t${index} (id INTEGER PRIMARY KEY${index > 0 ? ` REFERENCES t${index - 1}(id)` : ''}, ` +
      `v TEXT); INSERT INTO t${index} VALUES (1, 'a${index}'), (2, 'b${index}');`,
  ).join(' ');
  const source = await fixture.convert(
    `${chain} CREATE TABLE leaf (t_id INTEGER NOT NULL REFERENCES t${depth - 1}(id), n TEXT); ` +
      `INSERT INTO leaf VALUES (1, 'x'), (1, 'y'), (2, 'z');`,
    { strategy: 'fk-embedding' },
  );
  const ids = new ValueIds();
  const places = await readPlaces(source.db, ids, new AbortController().signal);
  expect(places.map(({ name, rows }) => [name.split('.').length, rows])).toEqual([
    ...Array.from({ length: depth }, (_, index) => [index + 1, 2]),
    [depth + 1, 3],
  ]);
  expect(await source.failing()).toEqual([]);
}, 60_000);
