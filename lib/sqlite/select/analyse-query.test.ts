import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { catalogOf } from '../schema/introspect';
import { analyseQuery } from './analyse-query';
import { bindSelect } from './bind';
import { parseSelect } from './parse-select';

const sqlite = new Database(':memory:');
sqlite.defaultSafeIntegers(true);
sqlite.exec(
  'CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT, race_id INTEGER, height REAL); CREATE ' +
    'TABLE race (id INTEGER PRIMARY KEY, race TEXT);',
);
const catalog = catalogOf(sqlite, { name: 'memory', sha256: '', descriptions: {} });
const analyse = (sql: string) => analyseQuery(bindSelect(parseSelect(sql), catalog).query);

it('says what is read, and for what', () => {
  const { tables, joins } = analyse(
    'SELECT R.race, AVG(H.height) FROM hero H JOIN race R ON H.race_id = R.id WHERE H.name LIKE ' +
      '"A%" GROUP BY R.race ORDER BY COUNT(H.id)',
  );
  expect(joins).toEqual([
    {
      left: { table: 'hero', column: 'race_id' },
      right: { table: 'race', column: 'id' },
      kind: 'inner',
    },
  ]);
  expect(tables).toEqual([
    {
      table: 'hero',
      projected: [],
      filtered: ['race_id', 'name'],
      grouped: [],
      sorted: [],
      aggregated: ['height', 'id'],
    },
    {
      table: 'race',
      projected: ['race'],
      filtered: ['id'],
      grouped: ['race'],
      sorted: [],
      aggregated: [],
    },
  ]);
});

it('looks through derived tables and into subqueries', () => {
  expect(
    analyse(
      'SELECT name FROM (SELECT name, race_id AS r FROM hero) AS d JOIN race ON d.r = race.id',
    ).joins,
  ).toEqual([
    {
      left: { table: 'hero', column: 'race_id' },
      right: { table: 'race', column: 'id' },
      kind: 'inner',
    },
  ]);
  expect(analyse('SELECT race FROM race WHERE id NOT IN (SELECT race_id FROM hero)').joins).toEqual(
    [
      {
        left: { table: 'race', column: 'id' },
        right: { table: 'hero', column: 'race_id' },
        kind: 'exists',
      },
    ],
  );
});
