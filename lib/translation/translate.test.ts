import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from './test/translation-fixture';
import { translate } from './translate';
import { UNTRANSLATED } from './lower/untranslated';

const DDL = `
CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT NOT NULL, secret TEXT, active TEXT, seen TEXT, born TEXT, height REAL NOT NULL, "odd.name $x" TEXT);
INSERT INTO hero VALUES
 (1, 'Ann', 'TRUE', 'yes', '2008-01-15', '3/9/1990', 1.5, 'a'), (2, 'Bob', 'FALSE', 'no', '2008-08-01', '12/31/1985', 1.7, 'b'),
 (3, 'Cat', 'TRUE', 'no', '2012-02-29', '1/1/2000', 1.9, NULL), (4, 'Dan', NULL, 'yes', NULL, NULL, 2.0, 'd');
CREATE TABLE power (hero_id INTEGER NOT NULL REFERENCES hero(id), power TEXT NOT NULL, level INTEGER);
INSERT INTO power VALUES (1, 'fly', 3), (1, 'swim', 5), (2, 'fly', NULL), (3, 'run', 9), (3, 'fly', 1);
CREATE TABLE cape (hero_id INTEGER PRIMARY KEY REFERENCES hero(id), colour TEXT);
INSERT INTO cape VALUES (1, 'red'), (3, 'blue');
`;
const RETYPED = {
  'hero.secret': { kind: 'bool', true: 'TRUE', false: 'FALSE' },
  'hero.active': { kind: 'bool', true: 'yes', false: 'no' },
  'hero.seen': { kind: 'date', format: 'YYYY-MM-DD' },
  'hero.born': { kind: 'date', format: 'M/D/YYYY' },
  'power.level': { kind: 'string' },
} as const;

let world: World;
let retyped: World;
beforeAll(async () => {
  world = await World.create(DDL, { strategy: 'access-pattern' });
  retyped = await World.create(DDL, { strategy: 'access-pattern', retyped: RETYPED });
});
afterAll(async () => {
  await world.close();
  await retyped.close();
});

describe('pipelines', () => {
  it.each([
    [
      'SELECT name FROM hero WHERE id = 2',
      'hero',
      [{ $match: { _id: 2 } }, { $project: { _id: 0, name: 1 } }],
    ],
    [
      "SELECT name FROM hero WHERE name <> 'Ann' AND height > 1.5 AND height <= 2",
      'hero',
      [
        { $match: { name: { $ne: 'Ann' }, height: { $gt: 1.5, $lte: 2 } } },
        { $project: { _id: 0, name: 1 } },
      ],
    ],
    [
      "SELECT name FROM hero WHERE secret <> 'TRUE'",
      'hero',
      [{ $match: { secret: { $nin: ['TRUE', null] } } }, { $project: { _id: 0, name: 1 } }],
    ],
    [
      "SELECT name FROM hero WHERE name = 'Ann' OR name = 'Bob'",
      'hero',
      [{ $match: { name: { $in: ['Ann', 'Bob'] } } }, { $project: { _id: 0, name: 1 } }],
    ],
    [
      "SELECT name FROM hero WHERE substr(name, 1, 2) = 'A.'",
      'hero',
      [{ $match: { name: { $regex: '^A\\.' } } }, { $project: { _id: 0, name: 1 } }],
    ],
    [
      "SELECT name FROM hero WHERE 'TR' <> substr(secret, 1, 2)",
      'hero',
      [
        { $match: { secret: { $not: { $regex: '^TR' }, $ne: null } } },
        { $project: { _id: 0, name: 1 } },
      ],
    ],
    [
      'SELECT COUNT(*) FROM hero',
      'hero',
      [{ $group: { _id: null, count: { $sum: 1 } } }, { $project: { _id: 0, count: 1 } }],
    ],
    [
      'SELECT AVG(height) FROM hero',
      'hero',
      [
        { $group: { _id: null, avg_height: { $avg: '$height' } } },
        { $project: { _id: 0, avg_height: 1 } },
      ],
    ],
    [
      "SELECT power FROM hero JOIN power ON id = hero_id WHERE name = 'Ann'",
      'hero',
      [
        { $match: { name: 'Ann' } },
        { $unwind: '$power' },
        { $project: { _id: 0, power: '$power.power' } },
      ],
    ],
    [
      'SELECT name FROM hero WHERE id NOT IN (SELECT hero_id FROM power)',
      'hero',
      [{ $match: { power: [] } }, { $project: { _id: 0, name: 1 } }],
    ],
    [
      'SELECT name FROM hero h WHERE EXISTS (SELECT 1 FROM power WHERE hero_id = h.id AND power ' +
        "= 'fly' AND level > 2)",
      'hero',
      [
        { $match: { power: { $elemMatch: { power: 'fly', level: { $gt: 2 } } } } },
        { $project: { _id: 0, name: 1 } },
      ],
    ],
    [
      'SELECT name, COUNT(*) AS n FROM hero JOIN power ON id = hero_id GROUP BY name ORDER BY n ' +
        'DESC LIMIT 1',
      'hero',
      [
        { $unwind: '$power' },
        { $group: { _id: '$name', n: { $sum: 1 } } },
        { $sort: { n: -1 } },
        { $limit: 1 },
        { $project: { _id: 0, name: '$_id', n: 1 } },
      ],
    ],
  ])('%s', (sql, collection, pipeline) => {
    expect(world.translate(sql)).toMatchObject({ collection, pipeline });
  });

  it('find a derived table of one row once, not for each row', async () => {
    const sql =
      'SELECT h.name FROM power p JOIN hero h ON p.hero_id = h.id JOIN (SELECT MAX(height) AS ' +
      'top FROM hero WHERE id < 4) t ON h.height = t.top';
    expect(JSON.stringify(world.translate(sql).pipeline)).not.toMatch(/"let"/);
    expect(await world.check(sql)).toMatchObject({ verdict: 'equal' });
  });

  it('look for one partner on either side of a union', () => {
    const { pipeline } = world.translate(
      'SELECT hero_id FROM power WHERE hero_id NOT IN (SELECT hero_id FROM cape UNION SELECT id ' +
        "FROM hero WHERE name = 'Ann')",
    );
    expect(JSON.stringify(pipeline)).not.toMatch(/unionWith|"\$in"/);
  });

  it('carry no null guard over columns without nulls', () => {
    for (const sql of [
      'SELECT SUM(height), COUNT(height), MAX(height) FROM hero GROUP BY name',
      'SELECT name FROM hero WHERE height * 2 < height + 3',
      'SELECT height / 2, length(name), upper(name), substr(name, 2) FROM hero',
    ]) {
      expect(JSON.stringify(world.translate(sql).pipeline)).not.toMatch(/null|\$cond|\$ifNull/);
    }
  });

  it('know that a filter leaves no nulls', () => {
    expect(
      JSON.stringify(
        world.translate('SELECT power, SUM(level) FROM power WHERE level > 0 GROUP BY power')
          .pipeline,
      ),
    ).not.toMatch(/\$cond|\$ifNull/);
  });
});

describe('results', () => {
  it('have one legal field a column, in order, and SQLite names beside them', () => {
    const { columns } = world.translate(
      'SELECT name, name, "odd.name $x", COUNT(*), id AS "_id", height AS "$a.b" FROM hero ' +
        'GROUP BY id',
    );
    expect(columns.map(({ name, path }) => [name, path])).toEqual([
      ['name', 'name'],
      ['name', 'name_2'],
      ['odd.name $x', 'odd_name $x'],
      ['COUNT(*)', 'count'],
      ['_id', 'id'],
      ['$a.b', 'a_b'],
    ]);
  });

  it('say what sorts them, what limits them and what they depend on', () => {
    expect(
      world.translate('SELECT name FROM hero ORDER BY height DESC, name LIMIT 2'),
    ).toMatchObject({
      ordering: [
        { path: null, direction: 'desc' },
        { path: 'name', direction: 'asc' },
      ],
      limit: 2,
      caveats: [],
      touches: [{ collection: 'hero', fields: ['height', 'name'] }],
    });
    expect(world.translate('SELECT name FROM hero LIMIT 1').caveats).toEqual(['unordered_limit']);
    expect(world.translate("SELECT date('now') FROM hero").caveats).toEqual(['time_dependent']);
    expect(
      world.translate('SELECT name, power FROM hero JOIN power ON id = hero_id GROUP BY name')
        .caveats,
    ).toEqual(['arbitrary_row']);
  });

  it('have an alternative where SQL leaves a row open', () => {
    const power = world.translate(
      'SELECT name, power FROM hero JOIN power ON id = hero_id GROUP BY name',
    );
    expect(
      [power.pipeline, power.alternative].map(
        (pipeline) => /\$(first|last)":"\$power.power/.exec(JSON.stringify(pipeline))?.[1],
      ),
    ).toEqual(['first', 'last']);
    const distinct = world.translate('SELECT DISTINCT power FROM power ORDER BY level DESC');
    expect(
      [distinct.pipeline, distinct.alternative].map(
        (pipeline) => /\$(first|max)":"\$power.level/.exec(JSON.stringify(pipeline))?.[1],
      ),
    ).toEqual(['first', 'max']);
    const extreme = world.translate('SELECT power, MAX(hero_id) FROM power');
    expect(
      [extreme.pipeline, extreme.alternative].map((pipeline) =>
        /\$sort":\{"[\w.]+":(-?1).*\$(first|last)/.exec(JSON.stringify(pipeline))?.slice(1),
      ),
    ).toEqual([
      ['-1', 'first'],
      ['1', 'last'],
    ]);
    expect(
      world.translate('SELECT name, MAX(level) FROM hero JOIN power ON id = hero_id GROUP BY id')
        .alternative,
    ).toBeUndefined();
  });

  it.each([
    'SELECT name, name, id AS "_id", height AS "$a.b", "odd.name $x" FROM hero',
    'SELECT h.*, p.* FROM hero h JOIN power p ON h.id = p.hero_id',
    'SELECT name, colour FROM hero LEFT JOIN cape ON id = hero_id',
    'SELECT name, colour FROM hero JOIN cape ON id = hero_id',
    'SELECT colour FROM cape',
    'SELECT h.name, c.colour, p.power FROM cape c JOIN hero h ON h.id = c.hero_id LEFT JOIN ' +
      "power p ON p.hero_id = h.id AND p.power LIKE 'f%'",
    'SELECT a.power, b.power FROM power a JOIN power b ON a.hero_id = b.hero_id AND a.power ' +
      '< b.power',
    'SELECT a.power, h.name FROM power a, hero h, power b WHERE a.hero_id = h.id AND b.hero_id = ' +
      'h.id AND b.power = "run"',
    'SELECT name FROM hero h WHERE NOT EXISTS (SELECT 1 FROM cape WHERE hero_id = h.id)',
    'SELECT hero_id, COUNT(*) FROM power GROUP BY hero_id HAVING COUNT(*) > 1',
    'SELECT COUNT(*) FROM power WHERE level IS NULL',
  ])('are equal: %s', async (sql) => {
    const { verdict, detail } = await world.check(sql);
    expect(verdict, detail).toBe('equal');
  });
});

describe('retyped columns', () => {
  it('compare as stored', () => {
    expect(
      retyped.translate("SELECT name FROM hero WHERE secret = 'TRUE' AND seen >= '2008-08-01'")
        .pipeline[0],
    ).toEqual({ $match: { secret: true, seen: { $gte: new Date('2008-08-01') } } });
    expect(
      retyped
        .translate('SELECT secret, seen FROM hero')
        .columns.map(({ transform }) => transform.kind),
    ).toEqual(['bool', 'date']);
  });

  it.each([
    'SELECT secret, active, seen, born FROM hero',
    "SELECT name FROM hero WHERE secret = 'TRUE'",
    "SELECT name FROM hero WHERE secret <> 'TRUE'",
    "SELECT name FROM hero WHERE secret = 'maybe' OR secret IS NULL",
    "SELECT name FROM hero WHERE secret IN ('FALSE', 'x')",
    "SELECT name FROM hero WHERE active LIKE 'Y%'",
    "SELECT name FROM hero WHERE seen > '2008-05'",
    "SELECT name FROM hero WHERE seen LIKE '2008%'",
    "SELECT name FROM hero WHERE strftime('%Y', seen) = '2008'",
    "SELECT strftime('%Y-%m', seen), substr(seen, 1, 4), date(seen) FROM hero",
    "SELECT name FROM hero WHERE born = '3/9/1990'",
    "SELECT name FROM hero WHERE born > '2'",
    'SELECT name FROM hero ORDER BY born',
    'SELECT name FROM hero ORDER BY seen DESC',
    'SELECT name, active FROM hero ORDER BY active, name',
    'SELECT MAX(seen), MIN(seen), MAX(born), MIN(active), COUNT(secret) FROM hero',
    'SELECT secret, COUNT(*) FROM hero GROUP BY secret',
    'SELECT DISTINCT active FROM hero',
    'SELECT secret FROM hero UNION SELECT name FROM hero',
    'SELECT secret FROM hero UNION SELECT secret FROM hero',
    'SELECT secret = active, secret || active FROM hero',
    'SELECT CASE WHEN secret = "TRUE" THEN active ELSE secret END FROM hero',
    'SELECT power, level FROM power WHERE level > 2',
    'SELECT SUM(level), MAX(level), AVG(level) FROM power',
    'SELECT power FROM power ORDER BY level, power',
    'SELECT name FROM hero WHERE seen IN (SELECT seen FROM hero WHERE active = "no")',
  ])('are equal: %s', async (sql) => {
    const { verdict, detail } = await retyped.check(sql);
    expect(verdict, detail).toBe('equal');
  });
});

describe('source defects', () => {
  it.each([
    ["SELECT COUNT(CASE WHEN name = 'Ann' THEN 1 ELSE 0 END) FROM hero", ['count_of_else']],
    ["SELECT COUNT(CASE WHEN name = 'Ann' THEN 1 ELSE NULL END) FROM hero", []],
    ["SELECT name FROM hero WHERE strftime('%Y', seen) > 2010", ['date_part_as_number']],
    ["SELECT name FROM hero WHERE strftime('%Y', seen) > '2010'", []],
    ['SELECT name FROM hero WHERE secret > 5', ['number_as_text']],
    ['SELECT name FROM hero JOIN power ON height = level', []],
    [
      'SELECT 1 FROM cape WHERE hero_id IN (SELECT COUNT(CASE WHEN level > 1 THEN 1 ELSE 2 END) ' +
        'FROM power)',
      ['count_of_else'],
    ],
  ])('%s: %j', (sql, kinds) => {
    const { defects, caveats } = world.translate(sql);
    expect(defects.map(({ kind }) => kind)).toEqual(kinds);
    expect(caveats.includes('source_defect')).toBe(kinds.length > 0);
  });
});

describe('untranslated', () => {
  it.each([
    ['SELEC name FROM hero', 10],
    ['SELECT nonsense FROM hero', 11],
    [
      'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT n FROM t',
      20,
    ],
    ['SELECT name FROM hero FULL JOIN cape ON id = hero_id', 21],
    ['SELECT soundex(name) FROM hero', 30],
    ['SELECT name FROM hero WHERE name LIKE secret', 34],
    ['SELECT random() FROM hero', 37],
    [`SELECT ${'(SELECT '.repeat(12)}1${')'.repeat(12)}`, 50],
    [
      'SELECT name FROM hero WHERE id IN ' +
        `(${Array.from({ length: 2000 }, (_, index) => index).join(',')})`,
      50,
    ],
  ])('%s has reason %i', (sql, code) => {
    const translation = translate(sql, world);
    expect(translation).toMatchObject({ status: 'untranslated', code });
    expect(translation.status === 'untranslated' && translation.reason).toContain(
      UNTRANSLATED[code as keyof typeof UNTRANSLATED].cause,
    );
  });
});
