import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DocumentDesign, Field } from '../../design/model/document-design';
import { World } from './translation-fixture';

/**
 * Series of three stations and of one that is not there, of two kinds; nulls and ties among the
 * values.
 */
const DDL = `
PRAGMA foreign_keys = OFF;
CREATE TABLE kind (id INTEGER PRIMARY KEY, unit TEXT); INSERT INTO kind VALUES (1, 'C'), (2, 'hPa'), (3, 'mm');
CREATE TABLE station (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
INSERT INTO station VALUES (1, 'A', 'Oslo'), (2, 'B', 'Rome'), (3, 'C', 'Oslo'), (4, 'D', NULL);
CREATE TABLE reading (rid INTEGER PRIMARY KEY, station_id INTEGER NOT NULL REFERENCES station(id), kind_id INTEGER REFERENCES kind(id), day TEXT, value REAL);
INSERT INTO reading VALUES (1, 1, 1, '2024-01-01', 1.5), (2, 2, 1, '2024-01-01', 2), (3, 1, 2, NULL, 3), (4, 1, 1, '2024-01-02', NULL), (5, 1, 2, '2024-01-03', 5),
  (6, 2, 2, '2024-01-02', 6), (7, 1, 1, '2024-01-03', 7), (8, 3, 1, '2024-01-04', 8), (9, 2, NULL, '2024-01-03', 9), (10, 9, 1, '2024-01-01', 1.5), (11, 1, 9, '', 0);
CREATE TABLE alarm (aid INTEGER PRIMARY KEY, reading_id INTEGER REFERENCES reading(rid), level INTEGER);
INSERT INTO alarm VALUES (1, 5, 2), (2, 5, 3), (3, 9, 1), (4, NULL, 1), (5, 99, 2);`;

const STATION: Field = {
  kind: 'extendedReference',
  name: 'station',
  table: 'station',
  relationship: 'reading(station_id)->station(id)',
  join: [{ parent: 'id', child: 'station_id' }],
  fields: [{ kind: 'column', name: 'name', column: 'name', transform: { kind: 'identity' } }],
};
const ofTwo = (design: DocumentDesign): DocumentDesign => ({
  ...design,
  logical: design.logical.map((logical) =>
    logical.id.kind === 'bucket'
      ? { ...logical, id: { ...logical.id, size: 2 }, fields: [...logical.fields, STATION] }
      : logical,
  ),
});

let world: World;
beforeAll(async () => {
  world = await World.create(DDL, {
    directives: [
      { kind: 'relationship', relationship: 'reading(station_id)->station(id)', choice: 'bucket' },
      { kind: 'relationship', relationship: 'reading(kind_id)->kind(id)', choice: 'copy' },
    ],
    change: ofTwo,
  });
});
afterAll(() => world.close());

it.each([
  'SELECT * FROM reading ORDER BY rid',
  'SELECT count(*) FROM reading',
  'SELECT count(*), count(value), sum(value), avg(value), min(day), max(day) FROM reading WHERE ' +
    'station_id = 1',
  'SELECT rid FROM reading WHERE station_id = 1 AND value > 2 ORDER BY value DESC, rid LIMIT 2',
  'SELECT value FROM reading WHERE rid = 5',
  'SELECT station_id FROM reading',
  'SELECT DISTINCT station_id FROM reading ORDER BY station_id DESC',
  'SELECT station_id, count(*) FROM reading GROUP BY station_id',
  'SELECT station_id, avg(value) FROM reading GROUP BY station_id HAVING count(*) > 1 ORDER BY ' +
    'avg(value)',
  'SELECT day, count(DISTINCT station_id) FROM reading GROUP BY day',
  'SELECT s.name, r.value FROM station s JOIN reading r ON r.station_id = s.id WHERE s.city ' +
    "= 'Oslo'",
  'SELECT s.name, count(r.rid) FROM station s LEFT JOIN reading r ON r.station_id = s.id ' +
    'GROUP BY s.id',
  'SELECT s.name, r.station_id, r.value FROM station s LEFT JOIN reading r ON r.station_id = ' +
    's.id AND r.value > 5',
  'SELECT s.name FROM station s WHERE NOT EXISTS (SELECT 1 FROM reading r WHERE ' +
    'r.station_id = s.id)',
  'SELECT s.name FROM station s WHERE s.id IN (SELECT station_id FROM reading WHERE value > 6)',
  'SELECT name FROM station WHERE id NOT IN (SELECT station_id FROM reading)',
  'SELECT s.name, (SELECT max(value) FROM reading r WHERE r.station_id = s.id) FROM station s',
  'SELECT r.rid, s.name FROM reading r LEFT JOIN station s ON s.id = r.station_id ORDER BY r.rid',
  'SELECT a.rid, b.rid FROM reading a JOIN reading b ON a.station_id = b.station_id AND ' +
    'a.rid < b.rid',
  'SELECT a.rid, b.rid FROM reading a JOIN reading b ON a.day = b.day AND a.station_id <> ' +
    'b.station_id',
  'SELECT r.rid, k.unit FROM reading r JOIN kind k ON k.id = r.kind_id WHERE r.station_id = 2',
  'SELECT k.unit, count(*) FROM kind k LEFT JOIN reading r ON r.kind_id = k.id GROUP BY k.unit',
  'SELECT a.level, r.value, r.station_id FROM alarm a JOIN reading r ON r.rid = a.reading_id',
  'SELECT r.rid, a.level FROM reading r LEFT JOIN alarm a ON a.reading_id = r.rid WHERE ' +
    'r.station_id < 3',
  'SELECT s.name, sum(a.level) FROM station s JOIN reading r ON r.station_id = s.id JOIN alarm a ' +
    'ON a.reading_id = r.rid GROUP BY s.name',
  'SELECT rid, value, rank() OVER (PARTITION BY station_id ORDER BY value DESC) FROM reading',
  'SELECT rid FROM reading WHERE value = (SELECT max(value) FROM reading r WHERE r.station_id = ' +
    'reading.station_id)',
  'SELECT station_id FROM reading WHERE kind_id = 1 INTERSECT SELECT station_id FROM reading ' +
    'WHERE kind_id = 2',
  'SELECT s.name, avg(r.value) FROM reading r JOIN station s ON s.id = r.station_id WHERE s.name ' +
    "> 'A' GROUP BY s.name",
  'SELECT r.rid, s.name FROM station s LEFT JOIN reading r ON r.station_id = s.id ORDER BY ' +
    's.id, r.rid',
  'SELECT a.level, s.name FROM alarm a LEFT JOIN reading r ON r.rid = a.reading_id LEFT JOIN ' +
    'station s ON s.id = r.station_id',
  'SELECT a.level, s.name FROM alarm a JOIN reading r ON r.rid = a.reading_id JOIN station s ON ' +
    's.id = r.station_id',
  'SELECT rid FROM reading WHERE station_id IN (1, 3) OR day IS NULL',
])('%s', async (sql) => {
  const { verdict, detail } = await world.check(sql);
  expect(verdict, detail).toBe('equal');
});

it('reads what is repeated of the parent in the bucket', () => {
  const { collection, pipeline } = world.translate(
    'SELECT s.name, avg(r.value) FROM reading r JOIN station s ON s.id = r.station_id WHERE ' +
      "s.name > 'A' GROUP BY s.name",
  );
  expect(collection).toBe('reading');
  expect(JSON.stringify(pipeline)).not.toContain('$lookup');
  expect(
    world.optimised(
      "SELECT r.value FROM reading r JOIN station s ON s.id = r.station_id WHERE s.name = 'A'",
    )[0],
  ).toEqual({ $match: { 'station.name': 'A' } });
});

it('finds the buckets of a key before it takes them apart', () => {
  expect(world.optimised('SELECT value FROM reading WHERE station_id = 1')[0]).toEqual({
    $match: { station_id: 1 },
  });
});
