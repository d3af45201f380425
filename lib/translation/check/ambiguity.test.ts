import Database from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import type { ResultSet, Value } from '../../results/value';
import { catalogOf } from '../../sqlite/schema/introspect';
import { findAmbiguities } from './ambiguity';

const sqlite = new Database(':memory:');
sqlite.defaultSafeIntegers(true);
sqlite.exec(`
  CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, height REAL,
    city TEXT COLLATE NOCASE, score TEXT, code TEXT);
  INSERT INTO person VALUES
    (1, 'ann', 1.5, 'Oslo', '9', '001'), (2, 'bob', 1.5, 'OSLO', '10', '002'),
    (3, 'cid', NULL, 'Rome', '100', '010'),
    (4, 'dan', 1.7, 'Rome', '9', '011'), (5, 'eve', 1.7, NULL, NULL, '100');
  CREATE TABLE "my visit" (id INTEGER PRIMARY KEY, person INTEGER, "the weight" INTEGER, note TEXT);
  INSERT INTO "my visit" VALUES (1, 3, 10, 'a'), (2, 1, 10, 'b'), (3, 2, 5, 'a'),
    (4, 2, 10, 'c'), (5, 5, 1, 'a'), (6, 4, NULL, 'b');
  CREATE TABLE pair (a TEXT, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
  INSERT INTO pair VALUES ('x', 1), ('x', 2), ('y', 1);
  CREATE TABLE middle (id INTEGER PRIMARY KEY, kind TEXT, value TEXT);
  INSERT INTO middle VALUES (1, 'k', 'x'), (2, 'k', 'y'), (3, 'k', 'x');
  CREATE TABLE dept (id INTEGER PRIMARY KEY, name TEXT);
  INSERT INTO dept VALUES (1, 'A'), (2, 'B'), (3, 'C');
  CREATE TABLE emp (id INTEGER PRIMARY KEY, dept_id INTEGER REFERENCES dept(id), score INTEGER);
  INSERT INTO emp VALUES (1, 1, 5), (2, 2, 5), (3, 3, 5), (4, 1, 9);
  CREATE TABLE many (id INTEGER PRIMARY KEY, kind TEXT);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
    INSERT INTO many SELECT i, 'A' FROM n;
  CREATE VIEW tall (who, height) AS SELECT name, height FROM person WHERE height > 1.6;`);
const catalog = catalogOf(sqlite, { name: 'source', sha256: '', descriptions: {} });
afterAll(() => sqlite.close());

const runs: string[] = [];
function rowsOf(sql: string): ResultSet {
  const statement = sqlite.prepare(sql);
  return {
    columns: statement.columns().map(({ name }) => name),
    rows: statement.raw(true).all() as Value[][],
  };
}

async function find(sql: string, isLimitJudged = true, isLimitCut = false) {
  runs.length = 0;
  return findAmbiguities({
    sql,
    catalog,
    expected: rowsOf(sql),
    isLimitJudged,
    isLimitCut,
    run: async (other, isReversed = false) => {
      runs.push(other);
      sqlite.pragma(`reverse_unordered_selects = ${isReversed ? 'ON' : 'OFF'}`);
      try {
        return rowsOf(other);
      } catch (error) {
        // Tables that are read in another order have no rowids; any other error is a mistake.
        if (String(error).includes('no such column: p.rowid')) return undefined;
        throw error;
      } finally {
        sqlite.pragma('reverse_unordered_selects = OFF');
      }
    },
  });
}

const OPEN: Record<string, readonly (readonly [string, string])[]> = {
  'ties at a LIMIT below the top level': [
    [
      'SELECT name FROM person WHERE id = (SELECT person FROM "my visit" ORDER BY "the weight" ' +
        'DESC LIMIT 1)',
      'tie',
    ],
    [
      'SELECT name FROM person WHERE id IN (SELECT person FROM "my visit" ORDER BY "the weight" ' +
        'DESC LIMIT 2)',
      'tie',
    ],
    ['SELECT SUM(person) FROM (SELECT person FROM "my visit" ORDER BY note LIMIT 2)', 'tie'],
    [
      'WITH top AS (SELECT person, note FROM "my visit" ORDER BY 2 LIMIT 1) SELECT name FROM ' +
        'person JOIN top ON top.person = person.id',
      'tie',
    ],
    [
      'SELECT name, (SELECT v.note FROM "my visit" v WHERE v.person >= p.id ORDER BY v."the ' +
        'weight" DESC LIMIT 1) FROM person p',
      'tie',
    ],
    [
      'SELECT name FROM person WHERE id = (SELECT person FROM "my visit" GROUP BY person ORDER ' +
        'BY COUNT(*) LIMIT 1)',
      'tie',
    ],
    [
      'SELECT COUNT(*) FROM (SELECT id FROM person UNION SELECT person FROM "my visit" ORDER BY ' +
        '1 LIMIT 3) WHERE id > 0 UNION SELECT n FROM (SELECT name n FROM person ORDER BY height ' +
        'DESC LIMIT 1)',
      'tie',
    ],
    ['SELECT MAX(name) FROM (SELECT name FROM person ORDER BY height LIMIT 1 OFFSET 1)', 'tie'],
  ],
  'ties that two directions do not show': [
    [
      'SELECT value FROM middle WHERE id = (SELECT id FROM middle ORDER BY kind DESC LIMIT 1)',
      'tie',
    ],
    [
      'SELECT length((SELECT value FROM middle ORDER BY kind LIMIT 1)), value, MAX(kind) ' +
        'FROM middle',
      'tie',
    ],
    ['SELECT e.id, MAX(d.id > 0) FROM emp e JOIN dept d ON e.dept_id = d.id', 'tie'],
    ['SELECT id, LAG(id) OVER (PARTITION BY dept_id ORDER BY score > 0) FROM emp', 'tie'],
  ],
  'LIMIT without ORDER BY below the top level': [
    [
      'SELECT name FROM person WHERE id IN (SELECT person FROM "my visit" LIMIT 2)',
      'unordered_limit',
    ],
    ['SELECT MAX(name) FROM (SELECT name FROM person WHERE id > 1 LIMIT 2)', 'unordered_limit'],
    [
      'WITH some AS (SELECT a FROM pair LIMIT 2) SELECT COUNT(DISTINCT a) FROM some',
      'unordered_limit',
    ],
  ],
  'rows of a group': [
    ['SELECT name, MAX(height) FROM person', 'tie'],
    [
      'SELECT note, person, MIN("the weight") FROM "my visit" WHERE "the weight" > 5 GROUP BY ' +
        "note > ''",
      'tie',
    ],
    ['SELECT note, person FROM "my visit" GROUP BY note', 'arbitrary_row'],
    ['SELECT note, COUNT(*) FROM "my visit" GROUP BY note HAVING person > 2', 'arbitrary_row'],
    [
      'SELECT p.name, v.note, COUNT(*) FROM person p JOIN "my visit" v ON v.person = p.id ' +
        'GROUP BY p.id',
      'arbitrary_row',
    ],
    ['SELECT kind, value FROM middle GROUP BY kind', 'arbitrary_row'],
    ['SELECT city, COUNT(*) FROM person GROUP BY city', 'arbitrary_row'],
    ['SELECT DISTINCT city FROM person', 'arbitrary_row'],
    ['SELECT b FROM pair GROUP BY a', 'arbitrary_row'],
    [
      'SELECT person, MAX(n) FROM (SELECT person, COUNT(*) AS n FROM "my visit" WHERE person <> ' +
        '2 GROUP BY person)',
      'tie',
    ],
  ],
  'scalar subqueries of several rows': [
    ['SELECT (SELECT note FROM "my visit" v WHERE v.person = p.id) FROM person p', 'arbitrary_row'],
    ['SELECT name FROM person WHERE id > (SELECT person FROM "my visit")', 'arbitrary_row'],
    ['SELECT name FROM person WHERE name = (SELECT who FROM tall)', 'arbitrary_row'],
    ['SELECT (SELECT person FROM "my visit" ORDER BY "the weight" DESC)', 'tie'],
  ],
  'window functions over ties': [
    ['SELECT name, LAG(name) OVER (ORDER BY height) FROM person', 'tie'],
    ['SELECT name, ROW_NUMBER() OVER (ORDER BY height DESC) FROM person', 'tie'],
    [
      'SELECT note, FIRST_VALUE(person) OVER (PARTITION BY note ORDER BY "the weight" > 0) FROM ' +
        '"my visit"',
      'tie',
    ],
    ['SELECT id, SUM(person) OVER (ORDER BY note ROWS UNBOUNDED PRECEDING) FROM "my visit"', 'tie'],
    [
      'SELECT name FROM (SELECT name, ROW_NUMBER() OVER (ORDER BY height DESC) AS r FROM person) ' +
        'WHERE r = 1',
      'tie',
    ],
    ['SELECT name, ROW_NUMBER() OVER () FROM person', 'arbitrary_row'],
  ],
  'texts put together': [
    [
      'SELECT group_concat(name) FROM (SELECT name FROM person ORDER BY height)',
      'unordered_concat',
    ],
    ['SELECT note, group_concat(person) FROM "my visit" GROUP BY note', 'unordered_concat'],
    [
      "SELECT name FROM person WHERE name || ',bob' = (SELECT group_concat(name) FROM person " +
        'WHERE id < 3)',
      'unordered_concat',
    ],
  ],
  'DISTINCT sorted by what it does not return, below the top level': [
    [
      'SELECT id FROM dept WHERE name = (SELECT DISTINCT d.name FROM dept d JOIN emp e ON ' +
        'e.dept_id = d.id ORDER BY e.score DESC LIMIT 1)',
      'arbitrary_row',
    ],
    [
      'SELECT a FROM (SELECT DISTINCT p.note AS a FROM "my visit" p ORDER BY p."the weight" DESC ' +
        'LIMIT 2)',
      'arbitrary_row',
    ],
    [
      'WITH top AS (SELECT DISTINCT kind, value FROM middle ORDER BY id DESC LIMIT 1) ' +
        'SELECT m.id FROM middle m JOIN top ON top.value = m.value AND m.id = 2',
      'arbitrary_row',
    ],
  ],
  'null as the first value': [
    [
      'SELECT name FROM person WHERE id = (SELECT id FROM person ORDER BY height LIMIT 1)',
      'null_first',
    ],
    [
      'SELECT person FROM (SELECT person FROM "my visit" ORDER BY "the weight" ASC LIMIT 1)',
      'null_first',
    ],
    [
      'SELECT COUNT(*) FROM (SELECT height FROM person ORDER BY height DESC NULLS FIRST LIMIT 2) ' +
        'WHERE height > 1',
      'null_first',
    ],
  ],
  'numbers kept as text': [
    ['SELECT MAX(score) FROM person', 'text_order'],
    ['SELECT name FROM person ORDER BY score DESC LIMIT 1', 'text_order'],
    ['SELECT id, MIN(s) FROM (SELECT id, score AS s FROM person)', 'text_order'],
    ['SELECT name, score FROM person WHERE score IS NOT NULL ORDER BY score', 'text_order'],
  ],
};

for (const [kind, queries] of Object.entries(OPEN)) {
  describe(kind, () => {
    it.each(queries)('%s: %s', async (sql, caveat) => {
      expect((await find(sql)).caveats).toContain(caveat);
    });
  });
}

describe('what is not open', () => {
  it.each([
    'SELECT name FROM person WHERE id = (SELECT person FROM "my visit" ORDER BY id DESC LIMIT 1)',
    'SELECT name, (SELECT note FROM "my visit" WHERE id = p.id) FROM person p',
    'SELECT p.name, COUNT(*) FROM person p JOIN "my visit" v ON v.person = p.id GROUP BY p.id',
    'SELECT id, ROW_NUMBER() OVER (PARTITION BY note ORDER BY id) FROM "my visit"',
    'SELECT a, b, LAG(b) OVER (ORDER BY a, b) FROM pair',
    'SELECT name FROM person p WHERE EXISTS (SELECT 1 FROM "my visit" WHERE person = p.id LIMIT 1)',
    'SELECT note, MAX("the weight") FROM "my visit" GROUP BY note',
    'SELECT name FROM person ORDER BY height LIMIT 1',
  ])('%s is decided without a run', async (sql) => {
    expect((await find(sql)).caveats).toEqual([]);
    expect(runs.filter((other) => !other.startsWith('SELECT COUNT(*), SUM('))).toEqual([]);
  });

  it.each([
    'SELECT name FROM person WHERE id = (SELECT person FROM "my visit" WHERE "the weight" < 10 ' +
      'ORDER BY "the weight" LIMIT 1 OFFSET 1)',
    'SELECT MAX(height) FROM (SELECT height FROM person ORDER BY height DESC LIMIT 1)',
    'SELECT city, MAX(height) FROM person WHERE id IN (3, 4)',
    'SELECT name FROM person ORDER BY code',
    'SELECT id, LAG(note) OVER (ORDER BY note) FROM "my visit" WHERE note = \'c\'',
    'SELECT name FROM person WHERE id = (SELECT id FROM person WHERE height > 0 ORDER BY height, ' +
      'name LIMIT 1)',
  ])('%s is decided by this data', async (sql) => {
    expect((await find(sql)).caveats).toEqual([]);
  });

  it('names nothing below a LIMIT that cuts a tie, unless the rows behind it differ', async () => {
    const grouped =
      'SELECT note, MIN(id) AS first FROM "my visit" GROUP BY note ORDER BY COUNT(*) > 0 LIMIT 1';
    const bare = 'SELECT note, person FROM "my visit" GROUP BY note ORDER BY COUNT(*) > 0 LIMIT 1';
    const fixed =
      'SELECT note, kind FROM "my visit" v JOIN middle m ON m.id = v.id WHERE v.id < 3 GROUP BY ' +
      'note ORDER BY 1 > 0 LIMIT 1';
    const cut = async (sql: string) => (await find(sql, true, true)).caveats;
    expect(await cut(grouped)).toEqual([]);
    expect(await cut(fixed)).toEqual([]);
    expect(await cut(bare)).toEqual(['arbitrary_row']);
  });

  it('names an order by a column that the groups do not determine', async () => {
    const sql = 'SELECT note FROM "my visit" GROUP BY note ORDER BY person';
    expect((await find(sql)).caveats).toEqual(['arbitrary_row']);
    const fixed = 'SELECT note FROM "my visit" WHERE id > 3 GROUP BY note ORDER BY person';
    expect((await find(fixed)).caveats).toEqual([]);
  });

  it('names the outermost LIMIT only where nobody else judges it', async () => {
    const sql = 'SELECT DISTINCT note FROM "my visit" ORDER BY "the weight" DESC LIMIT 1';
    expect((await find(sql, false)).caveats).toContain('tie');
    const joined =
      'SELECT DISTINCT d.name FROM dept d JOIN emp e ON e.dept_id = d.id ORDER BY e.score LIMIT 1';
    expect((await find(joined, false)).caveats).toContain('tie');
  });
});

describe('SQL that cannot be bound', () => {
  it.each([
    "SELECT name FROM person, json_each('[1]') LIMIT 1",
    'SELECT COUNT(*) FROM (SELECT note FROM "my visit", json_each(\'[1]\') LIMIT 3) ' +
      "WHERE note = 'a'",
    "SELECT (SELECT p.name FROM person p WHERE p.id > j.value) FROM json_each('[1,2]') j",
    "SELECT m.id, j.value FROM middle m, json_each('[1]') j ORDER BY m.kind LIMIT 1",
    "SELECT COUNT(*) FROM middle WHERE value = (SELECT m.value FROM middle m, json_each('[1]') " +
      'ORDER BY m.kind DESC LIMIT 1)',
  ])('%s is named where reading in another order shows it', async (sql) => {
    expect((await find(sql)).caveats).toEqual(['arbitrary_row']);
  });

  it.each([
    "SELECT value FROM json_each('[1,2]')",
    "SELECT COUNT(*), MAX(p.name) FROM person p, json_each('[1,2]')",
    "SELECT p.rowid, j.value FROM person p, json_each('[1,2]') j ORDER BY 1, 2 LIMIT 3",
  ])('%s is not open', async (sql) => {
    expect((await find(sql)).caveats).toEqual([]);
  });
});

it('finds other answers that are as legal', async () => {
  const { answers } = await find(
    'SELECT name FROM person WHERE id = (SELECT person FROM "my visit" ORDER BY "the weight" ' +
      'DESC LIMIT 1)',
  );
  const names = new Set<Value>();
  for await (const { rows } of answers()) for (const [name] of rows) names.add(name ?? null);
  expect([...names].sort()).toEqual(['ann', 'bob', 'cid']);
});

describe('each row of a long tie is a legal answer', () => {
  it.each([
    'SELECT id FROM many WHERE id = (SELECT id FROM many ORDER BY kind LIMIT 1)',
    'SELECT top.id FROM (SELECT id FROM many ORDER BY kind DESC LIMIT 1) top',
    'SELECT kind, id FROM many GROUP BY kind',
    'SELECT (SELECT m.id FROM many m WHERE m.kind >= d.name) FROM dept d WHERE d.id = 1',
  ])('%s', async (sql) => {
    const found = new Set<Value>();
    for await (const { rows } of (await find(sql)).answers())
      for (const row of rows) found.add(row.at(-1) ?? null);
    expect([...found].sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 40 }, (_, at) => BigInt(at + 1)),
    );
  });
});

it('reports what does not run in another order', async () => {
  const sql = 'SELECT rowid, note, LAG(note) OVER (ORDER BY note) FROM "my visit"';
  const { caveats } = await findAmbiguities({
    sql,
    catalog,
    expected: rowsOf(sql),
    isLimitJudged: true,
    run: async () => undefined,
  });
  expect(caveats).toEqual(['tie']);
});
