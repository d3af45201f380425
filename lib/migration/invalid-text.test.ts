import { Binary } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { logicalCsv, parseLogicalCsv } from '../design/logical/logical-csv';
import { checkDesign } from '../design/limits/loss-check';
import { ConversionFixture, testLimits } from '../validation/test/conversion-fixture';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

const source =
  "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, CAST(x'41ff' AS " +
  "TEXT)), (2, CAST(x'41fe' AS TEXT)), (3, 'x');";

test('a text that is none is readable in its field, and whole in the one beside it', async () => {
  const { db } = await fixture.convert(source);
  const documents = await db
    .collection('t')
    .find({}, { promoteBuffers: false })
    .sort({ _id: 1 })
    .toArray();
  expect(documents).toEqual([
    { _id: 1, v: 'A\ufffd', v_bytes: new Binary(Buffer.from([0x41, 0xff])) },
    { _id: 2, v: 'A\ufffd', v_bytes: new Binary(Buffer.from([0x41, 0xfe])) },
    { _id: 3, v: 'x', v_bytes: null },
  ]);
});

test('the field of the bytes stands in the CSV; a design without it loses', () => {
  const { design, catalog, profile } = fixture.plan(source);
  const [logical] = design.logical;
  const csv = logicalCsv(logical!);
  expect(csv).toContain('"t.v_bytes","Binary","bytes of what is no valid UTF-8"');
  expect(parseLogicalCsv(csv)).toEqual(logical);
  const without = {
    ...design,
    logical: [{ ...logical!, fields: logical!.fields.filter(({ name }) => name !== 'v_bytes') }],
  };
  expect(checkDesign(without, catalog, profile, testLimits)).toMatchObject([
    { kind: 'loss', subject: 't.v' },
  ]);
});

test.each([
  ['a byte altered', { $set: { v_bytes: new Binary(Buffer.from([0x41, 0xfd])) } }],
  ['the bytes lost', { $set: { v_bytes: null } }],
])('%s: a mapping sees it', async (_, update) => {
  const converted = await fixture.convert(source);
  await converted.db.collection<{ _id: number }>('t').updateOne({ _id: 1 }, update);
  expect(await converted.failing()).not.toEqual([]);
  await converted.db.dropDatabase();
});

test('texts that are none are no keys: as strings, two of them can be one', () => {
  const { design, profile } = fixture.plan(
    'CREATE TABLE p (id TEXT PRIMARY KEY, v TEXT); CREATE TABLE c (p_id TEXT REFERENCES p(id)); ' +
      "INSERT INTO p VALUES (CAST(x'ff' AS TEXT), 'x'), (CAST(x'fe' AS TEXT), 'y'); INSERT INTO " +
      "c VALUES (CAST(x'ff' AS TEXT));",
  );
  expect(profile.tables[0]!.keys).toEqual([['v']]);
  expect(profile.relationships).toMatchObject([{ parentIsKey: false }]);
  expect(design.logical.map(({ collection, id }) => [collection, id.kind])).toEqual([
    ['p', 'ordinal'],
    ['c', 'ordinal'],
  ]);
});
