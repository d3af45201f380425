import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ComputedField, DocumentDesign } from '../../design/model/document-design';
import { World } from '../test/translation-fixture';

/**
 * Parents without children, children whose values are null, a child with a dangling and one with no
 * parent.
 */
const DDL = `
PRAGMA foreign_keys = OFF;
CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
INSERT INTO team VALUES (1, 'Reds', 'Oslo'), (2, 'Blues', 'Rome'), (3, 'Greens', 'Oslo'), (4, 'Nulls', NULL), (5, 'Reds', 'Rome');
CREATE TABLE player (pid INTEGER PRIMARY KEY, team_id INTEGER NOT NULL REFERENCES team(id), name TEXT NOT NULL, goals INTEGER, pay REAL NOT NULL);
INSERT INTO player VALUES (1, 1, 'a', 3, 1.5), (2, 1, 'b', NULL, 2.5), (3, 1, 'c', 9, 0.25), (4, 2, 'd', 4, 7.0), (5, 4, 'e', NULL, 1.0), (6, 4, 'f', NULL, -3.0), (7, 5, 'g', 1, 4.0);
CREATE TABLE visit (vid INTEGER PRIMARY KEY, team_id INTEGER REFERENCES team(id), seats INTEGER);
INSERT INTO visit VALUES (1, 1, 10), (2, NULL, 20), (3, 99, 30), (4, 2, NULL), (5, 2, 5);
CREATE TABLE coach (cid INTEGER PRIMARY KEY, team_id INTEGER NOT NULL REFERENCES team(id), label TEXT);
INSERT INTO coach VALUES (1, 1, 'x'), (2, 1, NULL), (3, 3, 'y'), (4, 5, 'z');`;

const field = (
  table: string,
  name: string,
  aggregate: ComputedField['aggregate'],
  column?: string,
): ComputedField => ({
  kind: 'computed',
  name,
  table,
  relationship: `${table}(team_id)->team(id)`,
  join: [{ parent: 'id', child: 'team_id' }],
  aggregate,
  ...(column !== undefined && { column }),
});
const COMPUTED = [
  field('player', 'player_count', 'count'),
  field('player', 'scorers', 'count', 'goals'),
  field('player', 'goals', 'sum', 'goals'),
  field('player', 'mean_pay', 'avg', 'pay'),
  field('player', 'best', 'max', 'goals'),
  field('player', 'least_pay', 'min', 'pay'),
  field('visit', 'visit_count', 'count'),
  field('visit', 'seats', 'sum', 'seats'),
];
const withComputed = (design: DocumentDesign): DocumentDesign => ({
  ...design,
  logical: design.logical.map((logical) =>
    logical.rootTable === 'team'
      ? { ...logical, fields: [...logical.fields, ...COMPUTED] }
      : logical,
  ),
});

let world: World;
beforeAll(async () => {
  world = await World.create(DDL, { change: withComputed });
});
afterAll(() => world.close());

/** Queries that the stored aggregates answer alone. */
const SERVED = [
  'SELECT t.name, COUNT(*) FROM team t JOIN player p ON p.team_id = t.id GROUP BY t.id',
  'SELECT t.name, COUNT(*) AS n FROM player p JOIN team t ON p.team_id = t.id GROUP BY t.id ' +
    'ORDER BY n DESC LIMIT 1',
  'SELECT t.name FROM team t JOIN player p ON p.team_id = t.id GROUP BY p.team_id ORDER BY ' +
    'COUNT(*) DESC LIMIT 1',
  'SELECT t.name FROM team t JOIN player p ON p.team_id = t.id GROUP BY t.id HAVING COUNT(*) >= 2',
  'SELECT t.name FROM team t JOIN player p ON p.team_id = t.id GROUP BY t.id HAVING ' +
    'COUNT(p.goals) >= 1 AND SUM(p.goals) > 3',
  'SELECT t.name, COUNT(p.goals), SUM(p.goals), AVG(p.pay), MAX(p.goals), MIN(p.pay) FROM team t ' +
    'JOIN player p ON p.team_id = t.id GROUP BY t.id',
  'SELECT t.name, COUNT(*), SUM(p.goals), MAX(p.goals) FROM team t JOIN player p ON p.team_id = ' +
    't.id GROUP BY t.name',
  'SELECT t.city, COUNT(*), COUNT(p.pid), SUM(p.goals), MIN(p.pay) FROM team t JOIN player p ON ' +
    'p.team_id = t.id GROUP BY t.city',
  'SELECT t.name, COUNT(*), COUNT(p.pid), COUNT(p.goals), SUM(p.goals) FROM team t LEFT JOIN ' +
    'player p ON p.team_id = t.id GROUP BY t.id',
  'SELECT t.city, COUNT(*), COUNT(p.pid), SUM(p.goals), MAX(p.goals) FROM team t LEFT JOIN ' +
    'player p ON p.team_id = t.id GROUP BY t.city',
  "SELECT COUNT(*) FROM team t JOIN player p ON p.team_id = t.id WHERE t.name = 'Reds'",
  "SELECT COUNT(*) FROM team t JOIN player p ON p.team_id = t.id WHERE t.name = 'nobody'",
  'SELECT SUM(p.goals), MAX(p.goals), COUNT(*) FROM team t JOIN player p ON p.team_id = t.id ' +
    "WHERE t.city = 'Rome'",
  "SELECT SUM(p.goals) FROM team t JOIN player p ON p.team_id = t.id WHERE t.name = 'nobody'",
  'SELECT t.name, (SELECT COUNT(*) FROM player p WHERE p.team_id = t.id) FROM team t',
  'SELECT t.name, (SELECT SUM(p.goals) FROM player p WHERE t.id = p.team_id), (SELECT MAX(goals) ' +
    '+ COUNT(*) FROM player WHERE team_id = t.id) FROM team t',
  'SELECT name FROM team t WHERE (SELECT COUNT(*) FROM player p WHERE p.team_id = t.id) > 1 ' +
    'ORDER BY (SELECT AVG(p.pay) FROM player p WHERE p.team_id = t.id)',
  'SELECT name FROM team t WHERE EXISTS (SELECT 1 FROM player p WHERE p.team_id = t.id)',
  'SELECT name FROM team t WHERE NOT EXISTS (SELECT * FROM visit v WHERE v.team_id = t.id)',
  'SELECT name FROM team WHERE id IN (SELECT team_id FROM player)',
  'SELECT name FROM team WHERE id NOT IN (SELECT team_id FROM player)',
  'SELECT team_id, COUNT(*) FROM player GROUP BY team_id',
  'SELECT team_id FROM player GROUP BY team_id ORDER BY SUM(goals) DESC LIMIT 1',
  'SELECT team_id, COUNT(*), MAX(goals) FROM player WHERE team_id > 1 GROUP BY team_id HAVING ' +
    'COUNT(*) = 1',
  'SELECT DISTINCT t.name FROM team t JOIN player p ON p.team_id = t.id',
  'SELECT t.name FROM team t JOIN player p ON p.team_id = t.id GROUP BY t.id UNION SELECT name ' +
    'FROM team WHERE id = 3',
  'SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM team t JOIN player p ON p.team_id = t.id ' +
    'GROUP BY t.id)',
  'SELECT t.name, COUNT(*) FROM team t JOIN visit v ON v.team_id = t.id GROUP BY t.id',
  'SELECT t.id, COUNT(v.vid) FROM team t LEFT JOIN visit v ON v.team_id = t.id GROUP BY t.id',
  'SELECT AVG((SELECT COUNT(*) FROM player p WHERE p.team_id = t.id)) FROM team t',
];

/** Queries that look like them and need the children's rows all the same. */
const UNSERVED = [
  'SELECT team_id FROM player GROUP BY team_id ORDER BY SUM(pay) DESC LIMIT 1',
  'SELECT t.name, COUNT(*) FROM team t JOIN player p ON p.team_id = t.id WHERE p.goals > 1 ' +
    'GROUP BY t.id',
  'SELECT t.name, COUNT(DISTINCT p.goals) FROM team t JOIN player p ON p.team_id = t.id ' +
    'GROUP BY t.id',
  'SELECT t.city, AVG(p.pay) FROM team t JOIN player p ON p.team_id = t.id GROUP BY t.city',
  'SELECT t.name, SUM(t.id) FROM team t JOIN player p ON p.team_id = t.id GROUP BY t.id',
  'SELECT t.name, p.name FROM team t JOIN player p ON p.team_id = t.id',
  'SELECT t.name, COUNT(*) FROM team t JOIN coach c ON c.team_id = t.id GROUP BY t.id',
  'SELECT t.name, COUNT(*) FROM team t JOIN player p ON p.team_id = t.id JOIN coach c ON ' +
    'c.team_id = p.team_id GROUP BY t.id',
  'SELECT t.name, (SELECT COUNT(*) FROM player p WHERE p.team_id = t.id AND p.goals > 3) ' +
    'FROM team t',
  'SELECT v.team_id, COUNT(*) FROM visit v GROUP BY v.team_id',
  'SELECT t.name, COUNT(*) FROM team t JOIN player p ON p.team_id > t.id GROUP BY t.id',
  'SELECT t.name, COUNT(*) FROM team t LEFT JOIN player p ON p.team_id = t.id AND p.goals > 1 ' +
    'GROUP BY t.id',
  'SELECT t.name FROM team t WHERE t.id NOT IN (SELECT team_id FROM visit)',
  'SELECT c.label, (SELECT COUNT(*) FROM player p WHERE p.team_id = c.team_id) FROM coach c',
  'SELECT c.label, t.name, (SELECT COUNT(*) FROM player p WHERE p.team_id = t.id) FROM coach c ' +
    'LEFT JOIN team t ON t.id = c.team_id AND t.id > 1',
  'SELECT t.name, COUNT(*) FROM team t JOIN player p ON p.team_id = t.id JOIN coach c ON ' +
    'c.team_id = t.id GROUP BY t.id',
];

describe('stored aggregates', () => {
  it.each(SERVED)('are read instead of the rows: %s', async (sql) => {
    const { verdict, detail } = await world.check(sql);
    expect(verdict, detail).toBe('equal');
    const text = JSON.stringify(world.translate(sql));
    expect(text).not.toMatch(/\$lookup|"(player|visit)"/);
  });

  it.each(UNSERVED)('are used only where they are what is asked: %s', async (sql) => {
    const { verdict, detail } = await world.check(sql);
    expect(verdict, detail).toBe('equal');
  });

  it('make a short pipeline', () => {
    expect(
      world.optimised(
        'SELECT t.name, COUNT(*) AS n FROM team t JOIN player p ON p.team_id = t.id GROUP BY ' +
          't.id HAVING COUNT(*) > 1 ORDER BY n DESC',
      ),
    ).toEqual([
      { $match: { player_count: { $gt: 1 } } },
      { $sort: { player_count: -1 } },
      { $project: { _id: 0, name: 1, n: '$player_count' } },
    ]);
    expect(
      world.translate(
        'SELECT name FROM team t WHERE NOT EXISTS (SELECT 1 FROM player p WHERE p.team_id = t.id)',
      ).pipeline,
    ).toEqual([{ $match: { player_count: 0 } }, { $project: { _id: 0, name: 1 } }]);
    expect(
      world.translate(
        'SELECT name FROM team t WHERE NOT EXISTS (SELECT 1 FROM player p WHERE p.team_id = t.id)',
      ).touches,
    ).toEqual([{ collection: 'team', fields: ['name', 'player_count'] }]);
  });
});
