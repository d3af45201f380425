import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { catalogOf } from '../schema/introspect';
import { bindSelect } from './bind';
import { parseSelect } from './parse-select';
import { queryBlocks } from './query-blocks';

const sqlite = new Database(':memory:');
sqlite.defaultSafeIntegers(true);
sqlite.exec(
  'CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT, race_id INTEGER, height REAL); CREATE ' +
    'TABLE race (id INTEGER PRIMARY KEY, race TEXT);',
);
const catalog = catalogOf(sqlite, { name: 'memory', sha256: '', descriptions: {} });
const blocks = (sql: string) => queryBlocks(bindSelect(parseSelect(sql), catalog).query);

it('tells filters by how an index serves them, and joins apart from what is read', () => {
  expect(
    blocks(
      'SELECT R.race, COUNT(*), AVG(H.height) FROM hero H JOIN race R ON H.race_id = R.id WHERE ' +
        "H.name = 'A' AND H.height > 3 AND R.race LIKE 'x%' GROUP BY R.race ORDER BY R.race",
    ),
  ).toEqual([
    {
      sources: [
        {
          table: 'hero',
          read: ['height', 'name'],
          equality: ['name'],
          range: ['height'],
          other: [],
        },
        { table: 'race', read: ['race'], equality: [], range: [], other: ['race'] },
      ],
      joins: [{ left: { source: 0, column: 'race_id' }, right: { source: 1, column: 'id' } }],
      grouped: [{ source: 1, column: 'race' }],
      sorted: [{ source: 1, column: 'race' }],
      aggregates: [
        { name: 'count', distinct: false, of: null, star: true },
        { name: 'avg', distinct: false, of: { source: 0, column: 'height' }, star: false },
      ],
      limit: null,
      top: null,
    },
  ]);
});

it('an OR is no filter that an index serves', () => {
  expect(blocks("SELECT 1 FROM hero WHERE name = 'A' OR id = 2")[0]!.sources[0]).toMatchObject({
    equality: [],
    other: ['id', 'name'],
  });
});

it('set operations, derived tables and uncorrelated subqueries are passes of their own', () => {
  const tables = (sql: string): string[][] =>
    blocks(sql).map((block) => block.sources.map(({ table }) => table));
  expect(tables('SELECT id FROM hero UNION SELECT id FROM race')).toEqual([['hero'], ['race']]);
  expect(tables('SELECT name FROM hero WHERE height > (SELECT avg(height) FROM hero)')).toEqual([
    ['hero'],
    ['hero'],
  ]);
  expect(tables('SELECT count(*) FROM (SELECT race_id FROM hero GROUP BY race_id)')).toEqual([
    ['hero'],
  ]);
});

it('a correlated subquery is read with the rows that it depends on', () => {
  const [block, ...more] = blocks(
    'SELECT race FROM race R WHERE EXISTS (SELECT 1 FROM hero H WHERE H.race_id = R.id)',
  );
  expect(more).toEqual([]);
  expect(block!.sources.map(({ table }) => table)).toEqual(['race', 'hero']);
  expect(block!.joins).toHaveLength(1);
});

it('membership in a plain selection joins, membership in an aggregate does not', () => {
  expect(blocks('SELECT race FROM race WHERE id NOT IN (SELECT race_id FROM hero)')).toMatchObject([
    {
      sources: [{ table: 'race' }, { table: 'hero' }],
      joins: [{ left: { source: 0, column: 'id' }, right: { source: 1, column: 'race_id' } }],
    },
  ]);
  expect(blocks('SELECT race FROM race WHERE id IN (SELECT max(race_id) FROM hero)')).toHaveLength(
    2,
  );
});

it('a limit counts where nothing is collected before it', () => {
  expect(blocks('SELECT name FROM hero ORDER BY height LIMIT 3')).toMatchObject([
    { limit: 3, sorted: [{ source: 0, column: 'height' }] },
  ]);
  expect(blocks('SELECT DISTINCT name FROM hero LIMIT 3')).toMatchObject([{ limit: null }]);
  expect(blocks('SELECT name AS n FROM hero ORDER BY n DESC, height LIMIT 3')).toMatchObject([
    {
      limit: 3,
      top: [
        { source: 0, column: 'name', direction: 'desc' },
        { source: 0, column: 'height', direction: 'asc' },
      ],
    },
  ]);
});
