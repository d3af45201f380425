import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Field } from '../design/document-design';
import { ConversionFixture, type ConvertedSource } from './conversion-fixture';

let fixture: ConversionFixture;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
});
afterAll(() => fixture.stop());

/** Values of two columns that are the same taken alone, and told apart by their rows only. */
const crossed = "CREATE TABLE t (a TEXT, b TEXT, c TEXT, d TEXT); INSERT INTO t VALUES ('1', '2', '3', '4'), ('2', '1', '4', '3');";
const renamed = (names: Record<string, string>) => (design: ConvertedSource['design']): ConvertedSource['design'] => ({
  ...design,
  logical: design.logical.map((logical) => ({ ...logical, fields: logical.fields.map((field): Field => (field.kind === 'column' ? { ...field, name: names[field.column] ?? field.name } : field)) })),
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
  const source = await fixture.convert('CREATE TABLE t (v REAL); INSERT INTO t VALUES (0.1), (0.30000000000000004);');
  await source.db.collection('t').updateOne({ v: 0.30000000000000004 }, { $set: { v: 0.3 } });
  expect((await source.validate()).tables[0]!.flags).toMatchObject([{ column: 'v', values: 1, class: 'genuine_loss' }]);
});

test('a table left out of the design is found, by this pass alone', async () => {
  const source = await fixture.convert("CREATE TABLE t (v TEXT); CREATE TABLE u (w TEXT); INSERT INTO t VALUES ('a'); INSERT INTO u VALUES ('b');", {
    change: (design) => ({ conceptual: { ...design.conceptual, collections: design.conceptual.collections.filter(({ rootTable }) => rootTable !== 'u') }, logical: design.logical.filter(({ rootTable }) => rootTable !== 'u') }),
  });
  expect(source.problems).toMatchObject([{ kind: 'loss', subject: 'u' }]);
  expect(await source.failing()).toEqual(['rows lost: u', 'table: u']);
});

test('a boolean of any two words is an intentional transformation', async () => {
  const source = await fixture.convert("CREATE TABLE t (id INTEGER PRIMARY KEY, ok TEXT); INSERT INTO t VALUES (1, 'ja'), (2, 'nein'), (3, NULL), (4, 'ja');", {
    change: (design) => ({ ...design, logical: design.logical.map((logical) => ({ ...logical, fields: logical.fields.map((field): Field => (field.kind === 'column' ? { ...field, transform: { kind: 'bool', true: 'ja', false: 'nein' } } : field)) })) }),
  });
  expect((await source.validate()).tables[0]!.flags).toMatchObject([{ column: 'ok', class: 'intentional_transformation', explanation: 'bool("ja", "nein")' }]);
});
