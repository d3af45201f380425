import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { askedJoins } from './asked-joins';
import { catalogOf } from '../schema/introspect';
import { profileDatabase } from './profile-database';

const DDL = `
  CREATE TABLE teacher (nr INTEGER PRIMARY KEY, room INTEGER, name TEXT); INSERT INTO teacher VALUES (1, 101, 'a'), (2, 102, 'b');
  CREATE TABLE pupil (id INTEGER PRIMARY KEY, classroom INTEGER, tutor INTEGER, friend INTEGER REFERENCES pupil(id)); INSERT INTO pupil VALUES (1, 101, 1, NULL), (2, 102, 9, 1), (3, 102, NULL, 1);
  CREATE TABLE prize (id INTEGER PRIMARY KEY, friend INTEGER, teacher INTEGER); INSERT INTO prize VALUES (1, 2, 2), (2, 1, 1);`;

function relationships(sql: readonly string[]): { id: string; evidence: string }[] {
  const sqlite = new Database(':memory:');
  sqlite.exec(DDL);
  sqlite.defaultSafeIntegers(true);
  const catalog = catalogOf(sqlite, { name: 'db', sha256: 'x', descriptions: {} });
  const asked = askedJoins(
    sql.map((text) => ({ sql: text })),
    catalog,
  );
  return profileDatabase(sqlite, catalog, { asked })
    .relationships.filter(({ declared }) => !declared)
    .map(({ id, evidence }) => ({ id, evidence: evidence ?? '' }));
}
const named = {
  id: 'prize(teacher)->teacher(nr)',
  evidence: 'the column has the name of teacher, and every value is one of its keys',
};
const three = (sql: string): string[] => [1, 2, 3].map((n) => `${sql} WHERE ${n} = ${n}`);

test('what three queries join is a relationship where every value is a key', () => {
  expect(
    relationships(three('SELECT * FROM pupil JOIN teacher ON teacher.room = classroom')),
  ).toEqual([
    named,
    {
      id: 'pupil(classroom)->teacher(room)',
      evidence:
        "3 queries of the benchmark join it with teacher's room, and every value is one of them",
    },
  ]);
});

test.each<[string, readonly string[]]>([
  [
    'two queries',
    three('SELECT * FROM pupil JOIN teacher ON teacher.room = classroom').slice(0, 2),
  ],
  ['a value that is no key', three('SELECT * FROM pupil JOIN teacher ON nr = tutor')],
  ['a table with itself', three('SELECT * FROM pupil a JOIN pupil b ON a.classroom = b.id')],
  ["a table's own key", three('SELECT * FROM prize JOIN pupil ON prize.id = pupil.id')],
  [
    'a column that a declared key leads elsewhere',
    three('SELECT * FROM pupil JOIN teacher ON pupil.friend = teacher.nr'),
  ],
  ['SQL that cannot be read', ['SELECT FROM', 'SELECT nothing FROM pupil', 'DELETE FROM pupil']],
])('but not %s', (_, sql) => {
  expect(relationships(sql)).toEqual([named]);
});
