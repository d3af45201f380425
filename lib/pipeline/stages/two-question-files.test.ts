import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { itemKey, readItems, readResults } from '../../bundle/bundled-items';
import { verifyBundle } from '../../bundle/verify';
import { ConversionWorld } from './test/bundle-fixture';

let world: ConversionWorld;
beforeAll(async () => {
  world = await ConversionWorld.start();
});
afterAll(() => world.close());

/** Ids of both files are the same; no two items ask the same. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  mini_dev_mysql: ['SELECT a, id FROM t', 'SELECT COUNT(*) FROM t', 'SELECT NO_SUCH(a) FROM t'],
  mini_dev_sqlite: ['SELECT a FROM t', 'SELECT MAX(id) FROM t', "SELECT id FROM t WHERE a = 'x'"],
};

const DDL =
  "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'x'), (2, " +
  "'y'), (3, 'x')";

test('equal ids in two question files: each ships its own question, evidence, gold and rows under its own id', async () => {
  const converted = await world.convert('d', DDL, FILES);
  expect(converted.benchmark.problems).toEqual([]);
  const out = path.join(world.folder, 'bundle');
  expect(await world.export(out, converted, ['review'])).toEqual([]);
  expect(await verifyBundle(out, world)).toMatchObject({ problems: [], gold: 5, equal: 5 });
  const problems: string[] = [];
  const items = readItems(out, problems);
  const results = await readResults(out, problems);
  expect(problems).toEqual([]);
  expect(
    items.map(({ split, question_id, SQL, question, evidence }) => [
      split,
      question_id,
      SQL,
      question,
      evidence,
    ]),
  ).toEqual(
    Object.entries(FILES).flatMap(([file, queries]) =>
      queries.map((sql, id) => [file, String(id), sql, `${file} ${id}`, `hint of ${file} ${id}`]),
    ),
  );
  expect(items.filter(({ status }) => status !== 'translated').map(({ SQL }) => SQL)).toEqual([
    'SELECT NO_SUCH(a) FROM t',
  ]);
  const rowsOf = (file: string, id: string): unknown =>
    results.get(itemKey(file, 'd', id))?.rows.map((row) => Object.values(row).map(String));
  expect([rowsOf('mini_dev_mysql', '0'), rowsOf('mini_dev_sqlite', '0')]).toEqual([
    [
      ['x', '1'],
      ['y', '2'],
      ['x', '3'],
    ],
    [['x'], ['y'], ['x']],
  ]);
  expect([rowsOf('mini_dev_mysql', '1'), rowsOf('mini_dev_sqlite', '1')]).toEqual([
    [['3']],
    [['3']],
  ]);
});
