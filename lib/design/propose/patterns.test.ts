import { expect, test } from 'vitest';
import { profiledSource } from '../test/design-fixture';
import { proposeDesign } from './propose';
import { readWorkload } from '../model/read-workload';

const limits = { maxArrayP99: 100, maxArray: 1000 };
const rows = (count: number): string =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;

function patternsOf(ddl: string, sql: readonly string[]): string[] {
  const { catalog, profile } = profiledSource(ddl);
  const items = sql.map((text, index) => ({
    questionId: String(index),
    split: 'dev',
    database: 'db',
    question: '',
    evidence: '',
    sql: text,
    difficulty: null,
  }));
  const { design } = proposeDesign({
    catalog,
    profile,
    workload: readWorkload(items, catalog, profile),
    strategy: 'access-pattern',
    limits,
    directives: EMBEDDED,
  });
  return design.patterns.map(
    ({ pattern, target, status }) => `${status ?? 'applied'} ${pattern}: ${target}`,
  );
}

/** Whether to embed these is another question. */
const EMBEDDED = ['pilot', 'badge'].map(
  (table) =>
    ({ kind: 'relationship', relationship: `${table}(id)->person(id)`, choice: 'embed' }) as const,
);

const PERSON =
  "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO person VALUES (1, 'a'), " +
  "(2, 'b'), (3, 'c');";
const DEVICE =
  'CREATE TABLE device (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE reading (rid INTEGER ' +
  'PRIMARY KEY, device_id INTEGER NOT NULL REFERENCES device(id), day TEXT NOT NULL, heat REAL);';

test.each<[string, string, readonly string[], readonly string[]]>([
  [
    'one kind of person extends the others',
    `${PERSON} CREATE TABLE pilot (id INTEGER PRIMARY KEY REFERENCES person(id), licence TEXT); ` +
      `INSERT INTO pilot VALUES (2, 'x');`,
    ['SELECT licence FROM pilot'],
    ['applied Polymorphic: person.pilot', 'avoided One collection per table: db'],
  ],
  [
    'every person has one',
    `${PERSON} CREATE TABLE badge (id INTEGER PRIMARY KEY REFERENCES person(id), code TEXT); ` +
      `INSERT INTO badge VALUES (1, 'x'), (2, 'y'), (3, 'z');`,
    ['SELECT code FROM badge'],
    ['avoided One collection per table: db'],
  ],
  [
    'a table that refers to itself',
    'CREATE TABLE part (id INTEGER PRIMARY KEY, of_id INTEGER REFERENCES part(id)); INSERT INTO ' +
      'part VALUES (1, NULL), (2, 1), (3, 1);',
    ['SELECT id FROM part WHERE of_id = 1'],
    ['applied Tree: part'],
  ],
  [
    'two tables of one shape',
    'CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, year INTEGER); CREATE TABLE map (id ' +
      "INTEGER PRIMARY KEY, title TEXT, year INTEGER); INSERT INTO book VALUES (1, 'a', 1); " +
      "INSERT INTO map VALUES (1, 'a', 1);",
    ['SELECT title FROM book UNION SELECT title FROM map'],
    ['considered Polymorphic: book and map'],
  ],
  [
    'ten columns that are nearly always null',
    'CREATE TABLE thing (id INTEGER PRIMARY KEY, ' +
      `${Array.from({ length: 10 }, (_, index) => `c${index} TEXT`).join(', ')}); ${rows(50)} INSERT ` +
      `INTO thing (id, c0) SELECT i, CASE i WHEN 7 THEN 'x' END FROM n;`,
    ['SELECT c0 FROM thing WHERE id = 7'],
    ['considered Attribute: thing'],
  ],
  [
    'a long series that three queries find by its device',
    `${DEVICE} INSERT INTO device VALUES (1, 'a'), (2, 'b'); ${rows(1000)} INSERT INTO reading ` +
      `SELECT i, 1 + i % 2, date('2020-01-01', i || ' days'), i FROM n;`,
    [1, 2, 3].map((device) => `SELECT avg(heat) FROM reading WHERE device_id = ${device}`),
    ['applied Bucket: reading.reading', 'avoided Unbounded array: reading by device_id in device'],
  ],
  [
    'a long series by day',
    `${DEVICE} INSERT INTO device VALUES (1, 'a'), (2, 'b'); ${rows(1000)} INSERT INTO reading ` +
      `SELECT i, 1 + i % 2, date('2020-01-01', i || ' days'), i FROM n;`,
    ['SELECT heat FROM reading WHERE device_id = 1 ORDER BY day'],
    ['considered Bucket: reading', 'avoided Unbounded array: reading by device_id in device'],
  ],
  [
    'one device with far more readings than all others',
    `${DEVICE} ${rows(300)} INSERT INTO device SELECT i, 'd' || i FROM n; ${rows(2000)} INSERT ` +
      `INTO reading SELECT i, CASE WHEN i <= 600 THEN 1 + i / 2 ELSE 7 END, date('2020-01-01', i ` +
      `|| ' days'), i FROM n WHERE i < 598 OR i > 600;`,
    ['SELECT name, heat FROM device JOIN reading ON device_id = device.id'],
    [
      'considered Outlier: device and reading',
      'avoided Unbounded array: reading by device_id in device',
    ],
  ],
])('%s', (_, ddl, sql, expected) => {
  expect(patternsOf(ddl, sql).filter((found) => !/Extended|Computed/.test(found))).toEqual(
    expected,
  );
});
