import { afterAll, beforeAll, expect, it } from 'vitest';
import { mutationsOf } from '../check/mutations';
import { World } from './translation-fixture';

/** Columns with the names of what every object has, in an order of rows that is none of theirs. */
let world: World;
beforeAll(async () => {
  world =
    await World.create(`CREATE TABLE m (id INTEGER PRIMARY KEY, name TEXT NOT NULL, toString TEXT, constructor INTEGER, hasOwnProperty TEXT, valueOf INTEGER NOT NULL);
    INSERT INTO m VALUES (1, 'b', 'z', 2, 'x', 3), (2, 'a', 'y', NULL, 'y', 2), (3, 'b', 'a', 1, 'x', 9), (4, 'a', NULL, 7, NULL, 1), (5, 'b', 'm', 2, 'y', 5);`);
});
afterAll(() => world.close());

it.each([
  'SELECT id FROM m ORDER BY toString LIMIT 3',
  'SELECT name, id FROM m ORDER BY name, toString',
  'SELECT id FROM m ORDER BY constructor DESC, valueOf',
  'SELECT id, rank() OVER (ORDER BY toString) FROM m',
  'SELECT id, row_number() OVER (PARTITION BY name ORDER BY valueOf) FROM m',
  "SELECT name FROM m WHERE hasOwnProperty = 'x'",
  "SELECT id FROM m WHERE toString > 'b' AND constructor = 2 AND toString < 'zz'",
  'SELECT toString, count(*) FROM m GROUP BY toString HAVING max(valueOf) > 1',
  'SELECT constructor, hasOwnProperty FROM m WHERE valueOf IN (1, 9)',
  'SELECT DISTINCT constructor FROM m ORDER BY constructor',
])('%s', async (sql) => {
  const { verdict, detail } = await world.check(sql);
  expect(verdict, detail).toBe('equal');
  const { collection, pipeline } = world.translate(sql);
  // A mutation is of what stands there: none is made of what objects inherit.
  for (const mutation of mutationsOf({ collection, pipeline, design: world.design, ordered: true }))
    expect(JSON.stringify(mutation.pipeline)).not.toContain('undefined');
});

it('an equality is a plain predicate, which indexes serve', () => {
  expect(world.translate("SELECT name FROM m WHERE hasOwnProperty = 'x'").pipeline[0]).toEqual({
    $match: { hasOwnProperty: 'x' },
  });
});
