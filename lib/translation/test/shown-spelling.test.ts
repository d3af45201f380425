import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from './translation-fixture';

/**
 * Spellings that a collation takes for one, in the order of rows in which SQLite meets them: not
 * the order of their bytes.
 */
const rows = (spellings: readonly string[]): string =>
  spellings.map((spelling, index) => `(${index + 1}, '${spelling}', ${index})`).join(', ');
const ddl = (spellings: readonly string[]): string => `
  CREATE TABLE p (id TEXT PRIMARY KEY, nm TEXT); INSERT INTO p VALUES ('a', 'one'), ('A', 'two'), ('b', 'three');
  CREATE TABLE s (sid INTEGER PRIMARY KEY, k TEXT NOT NULL COLLATE NOCASE REFERENCES p(id), c INTEGER); INSERT INTO s VALUES ${rows(spellings)};
  CREATE TABLE u (code TEXT COLLATE NOCASE PRIMARY KEY, n INTEGER); INSERT INTO u VALUES ('X', 1), ('y', 2);`;
const SPELLINGS = [
  ['a', 'A', 'b', 'a', 'A'],
  ['A', 'a', 'b', 'A', 'a'],
] as const;
const LAYOUTS = { apart: 'reference', embedded: 'embed', 'in buckets': 'bucket' } as const;

describe.each(SPELLINGS.map((spellings) => [spellings] as const))('rows %j', (spellings) => {
  describe.each(Object.entries(LAYOUTS))('%s', (_, choice) => {
    let world: World;
    beforeAll(async () => {
      world = await World.create(ddl(spellings), {
        directives: [{ kind: 'relationship', relationship: 's(k)->p(id)', choice }],
      });
    });
    afterAll(() => world.close());

    it.each([
      'SELECT k, count(*) FROM s GROUP BY k',
      'SELECT DISTINCT k FROM s',
      'SELECT k, max(c) - min(c) FROM s GROUP BY k HAVING count(*) > 1',
    ])('a group shows what SQLite shows, and says that a row was picked: %s', async (sql) => {
      const { verdict, detail, translation } = await world.check(sql);
      expect(verdict, detail).toBe('equal');
      expect(translation.status === 'translated' && translation.caveats).toContain('arbitrary_row');
    });

    it.each([
      'SELECT count(*) FROM s GROUP BY k',
      'SELECT k FROM s',
      'SELECT code, count(*) FROM u GROUP BY code',
      'SELECT id, count(*) FROM p GROUP BY id',
    ])('nothing is picked: %s', async (sql) => {
      const { verdict, detail, translation } = await world.check(sql);
      expect(verdict, detail).toBe('equal');
      expect(translation.status === 'translated' && translation.caveats).not.toContain(
        'arbitrary_row',
      );
    });
  });
});
