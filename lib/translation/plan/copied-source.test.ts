import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from '../test/translation-fixture';

/**
 * Two references of one row to one table, one with null and dangling keys; one reference inside an
 * embedded array.
 */
const DDL = `
PRAGMA foreign_keys = OFF;
CREATE TABLE colour (id INTEGER PRIMARY KEY, colour TEXT, warm INTEGER);
INSERT INTO colour VALUES (1, 'red', 1), (2, 'blue', 0), (3, NULL, NULL), (4, 'green', 0);
CREATE TABLE kind (code TEXT PRIMARY KEY, label TEXT NOT NULL, grade REAL);
INSERT INTO kind VALUES ('a', 'air', 1.5), ('b', 'body', 2.0), ('c', 'calm', NULL);
CREATE TABLE maker (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO maker VALUES (1, 'Acme'), (2, 'Bolt'), (3, 'Cog');
CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT NOT NULL, eye_id INTEGER NOT NULL REFERENCES colour(id), skin_id INTEGER REFERENCES colour(id), maker_id INTEGER REFERENCES maker(id));
INSERT INTO hero VALUES (1, 'Ann', 1, 2, 1), (2, 'Bob', 2, NULL, 1), (3, 'Cat', 3, 9, 2), (4, 'Dan', 1, 1, NULL), (5, 'Eve', 3, 3, 2);
CREATE TABLE power (hero_id INTEGER NOT NULL REFERENCES hero(id), kind_code TEXT NOT NULL REFERENCES kind(code), level INTEGER);
INSERT INTO power VALUES (1, 'a', 3), (1, 'b', 5), (2, 'a', NULL), (3, 'c', 9), (3, 'a', 1);
`;
const directed = (relationship: string, choice: 'embed' | 'copy') =>
  ({ kind: 'relationship', relationship, choice }) as const;
const DIRECTIVES = [
  directed('hero(eye_id)->colour(id)', 'copy'),
  directed('hero(skin_id)->colour(id)', 'copy'),
  directed('hero(maker_id)->maker(id)', 'copy'),
  directed('power(hero_id)->hero(id)', 'embed'),
  directed('power(kind_code)->kind(code)', 'copy'),
];

let world: World;
let retyped: World;
beforeAll(async () => {
  world = await World.create(DDL, { strategy: 'access-pattern', directives: DIRECTIVES });
  retyped = await World.create(DDL, {
    strategy: 'access-pattern',
    directives: DIRECTIVES,
    retyped: { 'colour.warm': { kind: 'string' }, 'hero.eye_id': { kind: 'string' } },
  });
});
afterAll(async () => {
  await world.close();
  await retyped.close();
});

describe('pipelines over copies', () => {
  it.each([
    [
      "SELECT h.name FROM hero h JOIN colour c ON h.eye_id = c.id WHERE c.colour = 'red'",
      'hero',
      [{ $match: { 'eye.colour': 'red' } }, { $project: { _id: 0, name: 1 } }],
    ],
    [
      "SELECT h.name FROM colour c JOIN hero h ON h.skin_id = c.id WHERE c.colour <> 'red'",
      'hero',
      [{ $match: { 'skin.colour': { $nin: ['red', null] } } }, { $project: { _id: 0, name: 1 } }],
    ],
    [
      'SELECT h.name FROM hero h JOIN colour c ON h.skin_id = c.id WHERE c.id = 2',
      'hero',
      [
        { $match: { skin: { $ne: null } } },
        { $match: { skin_id: 2 } },
        { $project: { _id: 0, name: 1 } },
      ],
    ],
    [
      'SELECT h.name FROM hero h JOIN colour c ON h.skin_id = c.id',
      'hero',
      [{ $match: { skin: { $ne: null } } }, { $project: { _id: 0, name: 1 } }],
    ],
    [
      'SELECT h.name FROM hero h JOIN maker m ON h.maker_id = m.id',
      'hero',
      [{ $match: { maker_id: { $ne: null } } }, { $project: { _id: 0, name: 1 } }],
    ],
    [
      'SELECT h.name, m.name FROM hero h JOIN maker m ON h.maker_id = m.id',
      'hero',
      [
        { $match: { maker: { $ne: null } } },
        { $project: { _id: 0, name: 1, name_2: '$maker.name' } },
      ],
    ],
    [
      'SELECT h.name FROM hero h JOIN power p ON p.hero_id = h.id JOIN kind k ON p.kind_code = ' +
        "k.code WHERE k.label = 'air'",
      'hero',
      [
        { $unwind: '$power' },
        { $match: { 'power.kind.label': 'air' } },
        { $project: { _id: 0, name: 1 } },
      ],
    ],
    [
      'SELECT k.label, COUNT(*) AS n FROM kind k JOIN power p ON p.kind_code = k.code GROUP ' +
        'BY k.label',
      'hero',
      [
        { $unwind: '$power' },
        { $group: { _id: '$power.kind.label', n: { $sum: 1 } } },
        { $project: { _id: 0, label: '$_id', n: 1 } },
      ],
    ],
  ])('%s', (sql, collection, pipeline) => {
    expect(world.translate(sql)).toMatchObject({ collection, pipeline });
  });

  it('are named among what the query touches', () => {
    expect(
      world.translate(
        'SELECT h.name FROM hero h JOIN power p ON p.hero_id = h.id JOIN kind k ON p.kind_code = ' +
          "k.code WHERE k.label = 'air'",
      ).touches,
    ).toEqual([{ collection: 'hero', fields: ['name', 'power.kind.label'] }]);
  });

  it('need a lookup where the parent is read for its own sake', () => {
    for (const sql of [
      'SELECT c.colour, COUNT(h.id) FROM colour c LEFT JOIN hero h ON h.eye_id = c.id ' +
        'GROUP BY c.id',
      'SELECT h.name, c.colour FROM hero h LEFT JOIN colour c ON h.eye_id = c.id AND c.warm = 1',
    ]) {
      expect(JSON.stringify(world.translate(sql).pipeline)).toContain('"$lookup"');
    }
  });
});

const JOINS = [
  'SELECT h.name, c.colour, c.warm FROM hero h JOIN colour c ON h.eye_id = c.id',
  'SELECT h.name, c.colour FROM hero h JOIN colour c ON h.skin_id = c.id',
  'SELECT h.name, c.id, c.colour FROM hero h LEFT JOIN colour c ON h.skin_id = c.id',
  'SELECT h.name, m.id, m.name FROM hero h LEFT JOIN maker m ON h.maker_id = m.id ORDER BY h.name',
  'SELECT e.colour, s.colour FROM hero h JOIN colour e ON h.eye_id = e.id JOIN colour s ON ' +
    'h.skin_id = s.id',
  'SELECT e.colour, s.colour FROM hero h JOIN colour e ON h.eye_id = e.id LEFT JOIN colour s ON ' +
    'h.skin_id = s.id',
  'SELECT h.name FROM hero h LEFT JOIN colour c ON h.skin_id = c.id WHERE c.id IS NULL',
  'SELECT h.name FROM hero h LEFT JOIN colour c ON h.skin_id = c.id WHERE c.colour IS NULL',
  'SELECT h.name FROM hero h JOIN colour c ON h.skin_id = c.id WHERE c.colour IS NULL',
  "SELECT h.name FROM hero h JOIN colour c ON h.skin_id = c.id WHERE NOT c.colour = 'red'",
  "SELECT h.name FROM hero h JOIN colour c ON h.skin_id = c.id WHERE c.colour NOT IN ('red', " +
    "'x') OR c.warm IS NULL",
  'SELECT h.name FROM hero h JOIN colour c ON h.skin_id = c.id WHERE c.id > 1 AND c.colour ' +
    "LIKE 'b%'",
  'SELECT c.warm, COUNT(*), COUNT(c.colour), MIN(c.id) FROM hero h JOIN colour c ON h.skin_id = ' +
    'c.id GROUP BY c.warm',
  'SELECT DISTINCT c.colour FROM hero h LEFT JOIN colour c ON h.skin_id = c.id',
  'SELECT COUNT(*) FROM hero h JOIN colour c ON h.skin_id = c.id',
  'SELECT COUNT(c.id), COUNT(*) FROM hero h LEFT JOIN colour c ON h.skin_id = c.id',
  'SELECT h.name, k.label, k.grade FROM hero h JOIN power p ON p.hero_id = h.id JOIN kind k ON ' +
    'k.code = p.kind_code ORDER BY k.grade, h.name, k.label',
  'SELECT h.name, k.code, k.label FROM hero h LEFT JOIN power p ON p.hero_id = h.id LEFT JOIN ' +
    'kind k ON k.code = p.kind_code',
  'SELECT h.name FROM hero h WHERE EXISTS (SELECT 1 FROM power p JOIN kind k ON k.code = ' +
    "p.kind_code WHERE p.hero_id = h.id AND k.label = 'air')",
  'SELECT name FROM hero WHERE id IN (SELECT p.hero_id FROM power p JOIN kind k ON k.code = ' +
    'p.kind_code WHERE k.grade > 1.7)',
  'SELECT k.label, (SELECT COUNT(*) FROM power p WHERE p.kind_code = k.code) FROM kind k',
  'SELECT h.name, (SELECT MAX(x.id) FROM hero x WHERE x.eye_id = c.id) FROM hero h JOIN colour c ' +
    'ON h.skin_id = c.id',
  'SELECT m.name, c.colour, k.label FROM maker m JOIN hero h ON h.maker_id = m.id JOIN colour c ' +
    'ON c.id = h.eye_id JOIN power p ON p.hero_id = h.id JOIN kind k ON k.code = p.kind_code',
  'SELECT m.name, COUNT(DISTINCT c.colour) FROM maker m LEFT JOIN hero h ON h.maker_id = m.id ' +
    'LEFT JOIN colour c ON c.id = h.skin_id GROUP BY m.name',
  'SELECT t.colour, COUNT(*) FROM (SELECT c.colour FROM hero h JOIN colour c ON h.eye_id = c.id) ' +
    't GROUP BY t.colour',
  'SELECT colour FROM colour WHERE id NOT IN (SELECT c.id FROM hero h JOIN colour c ON ' +
    'h.skin_id = c.id)',
  'SELECT c.colour FROM hero h JOIN colour c ON h.eye_id = c.id UNION SELECT m.name FROM hero h ' +
    'JOIN maker m ON h.maker_id = m.id',
  'SELECT a.name, b.name FROM hero a JOIN hero b ON a.eye_id = b.eye_id JOIN colour c ON c.id = ' +
    'a.eye_id AND c.id = b.eye_id WHERE a.id < b.id',
  'SELECT h.name FROM hero h JOIN colour c ON h.skin_id = c.id AND h.eye_id = c.id',
  'SELECT h.name FROM hero h NATURAL JOIN maker m',
  'SELECT h.name, c.rowid FROM hero h JOIN colour c ON h.skin_id = c.id',
  'SELECT * FROM hero h JOIN maker m ON h.maker_id = m.id',
];

describe('results from copies', () => {
  it.each(JOINS)('are equal: %s', async (sql) => {
    const { verdict, detail } = await world.check(sql);
    expect(verdict, detail).toBe('equal');
  });

  it.each(JOINS)('are equal with a retyped key and copy: %s', async (sql) => {
    const { verdict, detail } = await retyped.check(sql);
    expect(verdict, detail).toBe('equal');
  });
});
