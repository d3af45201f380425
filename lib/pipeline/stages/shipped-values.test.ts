import path from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { itemKey, readItems, readResults } from '../../bundle/bundled-items';
import { readBack } from '../../bundle/read-back';
import { verifyBundle } from '../../bundle/verify';
import { isIdentical } from '../../results/equality';
import { fromBson, type SqliteValue, type Value } from '../../results/value';
import { ConversionWorld } from './test/bundle-fixture';

let world: ConversionWorld;
beforeAll(async () => {
  world = await ConversionWorld.start();
});
afterAll(() => world.close());

const DDL = `
  CREATE TABLE thing(id INTEGER PRIMARY KEY, label TEXT, image BLOB, size REAL, big INTEGER, any);
  INSERT INTO thing VALUES
    (1, 'a', x'89504e47', 5.0, 9007199254740993, x''),
    (2, 'b', NULL, 0.5, -9223372036854775808, 2.0),
    (3, 'c', x'', 9223372036854775808.0, 9223372036854775807, 2),
    (4, 'd$', x'00', 1e300, 5000000000, '2'),
    (5, '', x'ff00', -0.0, 2147483648, NULL),
    (6, 'b', x'01', 9e999, NULL, -9e999);
  CREATE TABLE part(thing INTEGER REFERENCES thing(id), data BLOB, weight REAL);
  INSERT INTO part VALUES (1, x'0102', 1.0), (1, x'03', 2.0), (3, NULL, 3.0), (3, x'04', 4.5),
    (2, x'05', 1.5), (2, x'06', 1.5), (2, x'07', 1.5);
`;

const QUERIES = [
  'SELECT id, label, image FROM thing',
  'SELECT MAX(image), MIN(image) FROM thing WHERE id = 1',
  "SELECT x'4142', 5.0, 5, -0.0",
  'SELECT size FROM thing WHERE id <> 6',
  'SELECT size FROM thing ORDER BY size DESC',
  'SELECT big FROM thing ORDER BY id',
  'SELECT id, any FROM thing',
  'SELECT thing.label, part.data, part.weight FROM part JOIN thing ON thing.id = part.thing',
  'SELECT thing, SUM(weight), COUNT(data) FROM part GROUP BY thing ORDER BY thing',
  'SELECT label, COUNT(*) FROM thing GROUP BY label ORDER BY COUNT(*) DESC',
  'SELECT image FROM thing WHERE image IS NOT NULL ORDER BY label, id',
  'SELECT MAX(big), MIN(big) FROM thing',
  'SELECT id FROM thing WHERE id < 0',
  // Literals of more than 32 bits are longs, wherever they have been stored.
  'SELECT COUNT(DISTINCT big - 2147483648) FROM thing WHERE id IN (1, 4)',
  'SELECT id FROM thing WHERE big - 2147483648 = 9007197107257345',
  'SELECT id, id * 4503599627370496 + 4294967297 FROM thing',
  'SELECT SUM(big) + 2147483648 FROM thing WHERE id IN (1, 4)',
  // Several rows have the least weight: what ships is the one that SQLite takes.
  'SELECT thing, data, MIN(weight) FROM part GROUP BY thing',
  'SELECT t.label, p.data, MIN(p.weight) FROM part p JOIN thing t ON t.id = p.thing GROUP ' +
    'BY t.label',
];

const convert = (name: string) => world.convert(name, DDL, { dev: QUERIES });

test.each([
  ['draft', ['review']],
  ['final', undefined],
] as const)(
  'every expected value ships with the type that SQLite gave it: %s',
  async (name, missing) => {
    const converted = await convert(name);
    const { source, database } = converted;
    const untranslated = database.items.filter((item) => item.status !== 'translated');
    expect(untranslated.map(({ item, reason }) => [item.sql, reason])).toEqual([]);
    const out = path.join(world.folder, `${name}-bundle`);
    expect(await world.export(out, converted, missing)).toEqual([]);
    const verified = await verifyBundle(out, world);
    expect(verified).toMatchObject({
      problems: [],
      gold: QUERIES.length,
      equal: QUERIES.length,
      ties: 0,
    });

    const problems: string[] = [];
    const items = readItems(out, problems);
    const results = await readResults(out, problems);
    expect(problems).toEqual([]);
    const sqlite = new Sqlite(source.path, { readonly: true }).defaultSafeIntegers();
    for (const item of items) {
      const rows = sqlite.prepare(item.SQL!).raw(true).all() as SqliteValue[][];
      const { rows: shipped, rowCount } = results.get(
        itemKey(item.split, item.db_id, item.question_id),
      )!;
      expect(rowCount).toBe(rows.length);
      const read = shipped.map((row) => item.columns.map((column) => fromBson(row[column.path])));
      rows.forEach((row, index) =>
        expect(isIdentical(row, read[index]!), `${item.SQL}: ${String(row)}`).toBe(true),
      );
    }
    sqlite.close();
  },
);

test('reading back names what is not as it was meant', async () => {
  const converted = await convert('damaged');
  const { database } = converted;
  const out = path.join(world.folder, 'damaged-bundle');
  await world.export(out, converted, []);
  const [entry] = database.items;
  const read = (
    databases: readonly (typeof database)[],
    items: Parameters<typeof readBack>[1]['items'],
  ) => readBack(out, { databases, items, files: new Map(), publicKey: world.key.publicKey });
  const others = database.items.slice(1);
  const image = (...bytes: number[]): Uint8Array => new Uint8Array(bytes);
  const rows: Value[][] = [
    [1n, 'a', image(0x89, 0x50, 0x4e, 0x47)],
    [2n, 'b', null],
    [3n, 'c', image()],
    [4n, 'd$', image(0)],
    [5n, '', image(0xff, 0)],
    [6n, 'b', image(1)],
  ];
  const expected = { rowCount: 6, rows, tied: undefined };
  const found = async (...items: Parameters<typeof read>[1]): Promise<string> =>
    (await read([], items)).join('\n');
  expect(await found({ entry: entry!, expected })).not.toContain('damaged/0');
  const changed = (row: number, column: number, value: Value) => ({
    ...expected,
    rows: rows.map((cells, index) =>
      cells.map((cell, position) => (index === row && position === column ? value : cell)),
    ),
  });
  expect(await found({ entry: entry!, expected: changed(1, 0, 2) })).toContain(
    'row 2 is not what SQLite returned',
  );
  expect(await found({ entry: entry!, expected: changed(2, 2, null) })).toContain(
    'row 3 is not what SQLite returned',
  );
  expect(await found({ entry: entry!, expected: { ...expected, rows: rows.slice(1) } })).toContain(
    '6 rows ship instead of 5',
  );
  expect(await found({ entry: entry!, expected: { ...expected, rowCount: 7 } })).toContain(
    'row_count is 6 instead of 7',
  );
  expect(await found({ entry: entry!, expected: { ...expected, tied: [] } })).toContain(
    'tied_rows are others',
  );
  const choices = [{ rows: [0, 0] as const, among: rows }];
  expect(await found({ entry: entry!, expected: { ...expected, choices } })).toContain(
    'open_rows are others',
  );
  const pipeline = [...entry!.mql!.pipeline, { $limit: 5 }];
  expect(await found({ entry: { ...entry!, mql: { ...entry!.mql!, pipeline } } })).toMatch(
    /MQL reads as another pipeline[^]*MQL_text reads as another/,
  );
  expect(
    await found({ entry: { ...entry!, item: { ...entry!.item, sql: 'SELECT 1' } } }),
  ).toContain('SQL reads as another text');
  expect(
    await found({ entry: { ...entry!, item: { ...entry!.item, questionId: '99' } } }),
  ).toContain('does not hold item damaged/99');
  expect(await found(...others.map((other) => ({ entry: other })))).toContain(
    'an item that was not exported',
  );
  const [logical] = database.logical;
  const renamed = { ...database, logical: [{ ...logical!, fields: logical!.fields.slice(1) }] };
  expect((await read([renamed], [])).join('\n')).toContain('design.json: reads as another design');
  const short = {
    ...database,
    migration: {
      ...database.migration,
      collections: database.migration.collections.map((collection) => ({
        ...collection,
        documents: 1,
      })),
    },
  };
  expect((await read([short], [])).join('\n')).toMatch(/holds 6 documents instead of 1/);
});
