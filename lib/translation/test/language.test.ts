import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from './translation-fixture';

/**
 * A school in the manner of BIRD and Spider: odd names, keys of several collations, nulls, views,
 * dates as text.
 */
const DDL = `
PRAGMA foreign_keys = OFF;
CREATE TABLE "School Board" ("Board ID" INTEGER PRIMARY KEY, "Board Name" TEXT NOT NULL, "Free Meal (%)" REAL, founded TEXT);
INSERT INTO "School Board" VALUES (1, 'North Board', 0.125, '1950-01-15'), (2, 'south board', NULL, '2001-12-31'), (3, 'East''s', 0.5, NULL);
CREATE TABLE school (code TEXT COLLATE NOCASE PRIMARY KEY, name TEXT NOT NULL, board INTEGER REFERENCES "School Board"("Board ID"), opened DATE NOT NULL, closed DATETIME, rating NUMERIC, "type" TEXT);
INSERT INTO school VALUES ('A1', 'Alpha', 1, '1990-02-28', '2010-06-30 14:05:09', 4, 'high'), ('b2', 'Beta', 1, '2000-02-29', NULL, 3.5, 'HIGH'), ('C3', 'Gamma', 2, '2012-12-31', '2020-01-01 00:00:00', NULL, 'primary'), ('d4', 'Delta_x', NULL, '1999-01-01', NULL, 5, NULL);
CREATE TABLE student (student_id INTEGER PRIMARY KEY, school_code TEXT COLLATE NOCASE REFERENCES school(code), name TEXT, age INTEGER, gpa REAL, born TEXT, mixed);
INSERT INTO student VALUES (1, 'a1', 'Ann Lee', 15, 3.5, '2005-03-01', 1), (2, 'A1', 'bob', 16, NULL, '2004-11-30', '1'), (3, 'B2', 'Cy O''Neil', 15, 2.25, '2005-01-31', 'x'), (4, 'c3', NULL, NULL, 4.0, NULL, NULL), (5, NULL, 'Éva', 17, 3.5, '2003-07-04', 2.5), (6, 'zz', 'Dan%Z', 14, 0.5, '2006-02-28', -3);
CREATE TABLE course (cid TEXT PRIMARY KEY, title TEXT NOT NULL, credits INTEGER NOT NULL);
INSERT INTO course VALUES ('m1', 'Maths', 4), ('p1', 'Physics', 3), ('h1', 'History', 2), ('a1', 'Art', 1);
CREATE TABLE enrol (student_id INTEGER REFERENCES student(student_id), cid TEXT REFERENCES course(cid), grade INTEGER, day TEXT, PRIMARY KEY (student_id, cid));
INSERT INTO enrol VALUES (1, 'm1', 90, '2020-09-01'), (1, 'p1', 75, '2020-09-01'), (2, 'm1', NULL, '2020-10-05'), (3, 'm1', 60, '2021-01-10'), (3, 'h1', 88, '2021-02-11'), (5, 'p1', 75, '2021-02-11'), (99, 'm1', 10, '2021-03-01');
CREATE TABLE people (id INTEGER PRIMARY KEY, boss INTEGER, name TEXT NOT NULL, pay INTEGER NOT NULL);
INSERT INTO people VALUES (1, NULL, 'Root', 100), (2, 1, 'Kid', 60), (3, 1, 'Kid2', 70), (4, 2, 'Grand', 30);
CREATE VIEW adults AS SELECT student_id, name, age FROM student WHERE age >= 16;
CREATE VIEW board_schools(board_name, schools) AS SELECT b."Board Name", COUNT(*) FROM "School Board" b JOIN school s ON s.board = b."Board ID" GROUP BY b."Board ID";
`;

const GROUPS: Record<string, readonly string[]> = {
  'keys of another collation': [
    'SELECT st.name, s.name FROM student st JOIN school s ON st.school_code = s.code',
    'SELECT s.name, COUNT(*) FROM school s JOIN student st ON s.code = st.school_code GROUP ' +
      'BY s.code',
    'SELECT s.name, st.name FROM school s LEFT JOIN student st ON st.school_code = s.code',
    'SELECT s.name FROM school s WHERE EXISTS (SELECT 1 FROM student st WHERE st.school_code = ' +
      's.code AND st.age > 14)',
    'SELECT name FROM school WHERE code IN (SELECT school_code FROM student WHERE age > 14)',
    'SELECT name FROM school WHERE code NOT IN (SELECT school_code FROM student WHERE ' +
      'school_code IS NOT NULL)',
    "SELECT name FROM school WHERE code = 'a1' OR code = 'B2'",
    "SELECT name FROM school WHERE code IN ('a1', 'D4') ORDER BY code DESC",
    'SELECT code FROM school ORDER BY code',
    'SELECT school_code, COUNT(*) FROM student GROUP BY school_code',
    'SELECT COUNT(DISTINCT school_code) FROM student',
    'SELECT s.name, (SELECT MAX(st.age) FROM student st WHERE st.school_code = s.code) FROM ' +
      'school s',
    "SELECT name FROM school WHERE type = 'high' COLLATE NOCASE",
    'SELECT type FROM school ORDER BY type COLLATE NOCASE, code',
    'SELECT DISTINCT school_code FROM student',
    'SELECT MIN(code), MAX(code) FROM school',
    "SELECT code FROM school WHERE code BETWEEN 'B' AND 'c9'",
  ],
  views: [
    'SELECT * FROM adults',
    'SELECT name FROM adults WHERE age = 17',
    'SELECT a.name, e.grade FROM adults a JOIN enrol e ON e.student_id = a.student_id',
    'SELECT board_name FROM board_schools WHERE schools > 1',
    'SELECT COUNT(*) FROM Board_Schools',
  ],
  'kinds of join': [
    'SELECT * FROM course NATURAL JOIN enrol',
    'SELECT title, grade FROM enrol JOIN course USING (cid)',
    'SELECT cid, title, grade FROM course LEFT JOIN enrol USING (cid) ORDER BY cid, grade',
    'SELECT student.name, title FROM student JOIN enrol USING (student_id) JOIN course USING (cid)',
    'SELECT st.name, e.grade FROM enrol e RIGHT JOIN student st ON e.student_id = st.student_id',
    'SELECT st.name, e.grade FROM student st FULL JOIN enrol e ON e.student_id = st.student_id',
    'SELECT st.name, e.cid FROM student st FULL OUTER JOIN enrol e ON e.student_id = ' +
      'st.student_id WHERE st.student_id IS NULL OR e.cid IS NULL',
    'SELECT a.name, b.name FROM people a, people b WHERE a.boss = b.id',
    'SELECT a.name, b.name FROM people a LEFT JOIN people b ON a.boss = b.id ORDER BY a.id',
    'SELECT COUNT(*) FROM course CROSS JOIN school',
    'SELECT st.name, c.title FROM student st LEFT JOIN enrol e ON e.student_id = st.student_id ' +
      'LEFT JOIN course c ON c.cid = e.cid AND c.credits > 2',
    'SELECT st.name, c.title FROM student st LEFT JOIN (enrol e JOIN course c ON c.cid = e.cid) ' +
      'ON e.student_id = st.student_id',
    'SELECT s.name, b."Board Name" FROM school s INNER JOIN "School Board" b ON s.board = ' +
      'b."Board ID" AND b."Free Meal (%)" > 0.1',
    'SELECT a.pay, b.pay FROM people a JOIN people b ON a.pay > b.pay AND a.id < b.id',
    'SELECT DISTINCT a.name FROM people a JOIN people b ON b.boss = a.id JOIN people c ON ' +
      'c.boss = b.id',
  ],
  'common tables': [
    'WITH top AS (SELECT * FROM enrol WHERE grade > 70) SELECT st.name, top.grade FROM top JOIN ' +
      'student st ON st.student_id = top.student_id',
    'WITH a(x, y) AS (SELECT cid, AVG(grade) FROM enrol GROUP BY cid), b AS (SELECT x FROM a ' +
      'WHERE y > 60) SELECT c.title FROM course c JOIN b ON b.x = c.cid',
    'WITH m AS (SELECT MAX(pay) AS p FROM people) SELECT name FROM people, m WHERE pay = m.p',
    'WITH t AS (SELECT age FROM student) SELECT (SELECT COUNT(*) FROM t), (SELECT MAX(age) FROM t)',
    'WITH RECURSIVE up(id, name, depth) AS (SELECT id, name, 0 FROM people WHERE boss IS NULL ' +
      'UNION ALL SELECT p.id, p.name, up.depth + 1 FROM people p JOIN up ON p.boss = up.id) ' +
      'SELECT name, depth FROM up',
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n',
    'WITH t AS (SELECT cid FROM enrol UNION SELECT cid FROM course) SELECT COUNT(*) FROM t',
  ],
  'set operations': [
    "SELECT cid FROM enrol WHERE grade > 80 INTERSECT SELECT cid FROM enrol WHERE day > '2021'",
    'SELECT cid FROM course EXCEPT SELECT cid FROM enrol ORDER BY cid',
    'SELECT name FROM student UNION SELECT name FROM people ORDER BY name LIMIT 3 OFFSET 1',
    'SELECT age FROM student UNION ALL SELECT pay FROM people ORDER BY 1 DESC LIMIT 4',
    'SELECT * FROM (SELECT age AS n FROM student UNION SELECT pay FROM people) WHERE n > 15 ' +
      'ORDER BY n',
    'SELECT cid FROM course WHERE cid IN (SELECT cid FROM enrol WHERE grade > 70 EXCEPT SELECT ' +
      'cid FROM enrol WHERE grade IS NULL)',
    'SELECT COUNT(*) FROM (SELECT student_id FROM enrol INTERSECT SELECT student_id FROM student)',
    "SELECT 'course' AS kind, COUNT(*) FROM course UNION ALL SELECT 'student', COUNT(*) FROM " +
      "student UNION ALL SELECT 'none', COUNT(*) FROM student WHERE age > 99",
    'SELECT name FROM student EXCEPT SELECT name FROM student WHERE age = 15 UNION SELECT title ' +
      'FROM course',
    'SELECT * FROM (SELECT cid, grade FROM enrol ORDER BY grade DESC LIMIT 2) UNION ALL SELECT ' +
      'cid, credits FROM course',
    'SELECT (SELECT MAX(grade) FROM enrol) AS m UNION SELECT MIN(grade) FROM enrol',
  ],
  'correlated subqueries everywhere': [
    'SELECT name, (SELECT AVG(grade) FROM enrol e WHERE e.student_id = s.student_id) AS mean ' +
      'FROM student s ORDER BY mean DESC, name',
    'SELECT name FROM student s WHERE (SELECT COUNT(*) FROM enrol e WHERE e.student_id = ' +
      's.student_id) = 2',
    'SELECT name FROM student s WHERE gpa > (SELECT AVG(t.gpa) FROM student t WHERE t.age = s.age)',
    'SELECT cid, MAX(grade) FROM enrol e GROUP BY cid HAVING MAX(grade) > (SELECT AVG(grade) ' +
      'FROM enrol x WHERE x.cid = e.cid)',
    'SELECT name FROM student s ORDER BY (SELECT COUNT(*) FROM enrol e WHERE e.student_id = ' +
      's.student_id) DESC, student_id LIMIT 2',
    'SELECT CASE WHEN EXISTS (SELECT 1 FROM enrol e WHERE e.student_id = s.student_id AND grade ' +
      '> 80) THEN name ELSE (SELECT MIN(title) FROM course) END FROM student s',
    'SELECT name FROM student s WHERE NOT EXISTS (SELECT * FROM course c WHERE NOT EXISTS ' +
      '(SELECT * FROM enrol e WHERE e.cid = c.cid AND e.student_id = s.student_id) AND ' +
      'c.credits > 2)',
    'SELECT name FROM student s WHERE age > ALL (SELECT 1)',
    'SELECT SUM((SELECT credits FROM course c WHERE c.cid = e.cid)) FROM enrol e WHERE ' +
      'e.student_id = 1',
    'SELECT name FROM student WHERE student_id = (SELECT student_id FROM enrol ORDER BY grade ' +
      'DESC LIMIT 1)',
    'SELECT name FROM student WHERE (student_id, 75) IN (SELECT student_id, grade FROM enrol)',
    'SELECT cid, grade FROM enrol WHERE (cid, grade) IN (SELECT cid, MAX(grade) FROM enrol ' +
      'GROUP BY cid)',
    "SELECT cid FROM enrol WHERE (student_id, cid) = (3, 'h1')",
    "SELECT cid, student_id FROM enrol WHERE (student_id, cid) > (2, 'z')",
    'SELECT name FROM student WHERE (age, gpa) IN (VALUES (15, 3.5), (17, 3.5))',
    'SELECT title FROM course WHERE cid NOT IN (SELECT cid FROM enrol WHERE student_id IN ' +
      '(SELECT student_id FROM student WHERE age > 15))',
    'SELECT d.cid, d.m FROM (SELECT cid, AVG(grade) AS m FROM enrol GROUP BY cid) d WHERE d.m = ' +
      '(SELECT MAX(m) FROM (SELECT AVG(grade) AS m FROM enrol GROUP BY cid))',
    'SELECT name FROM people p WHERE pay > (SELECT AVG(pay) FROM people WHERE id <> p.id)',
    'SELECT (SELECT name FROM people b WHERE b.id = a.boss) AS boss, COUNT(*) FROM people a ' +
      'GROUP BY boss',
  ],
  'scalar functions': [
    "SELECT IIF(age > 15, 'old', 'young'), NULLIF(age, 15), COALESCE(name, school_code, '?'), " +
      'IFNULL(gpa, -1) FROM student',
    "SELECT INSTR(name, 'n'), INSTR(name, ''), LENGTH(name), UPPER(name), LOWER(name) FROM student",
    'SELECT SUBSTR(name, -3), SUBSTR(name, 2), SUBSTR(name, 0, 3), SUBSTR(name, -3, 2), ' +
      'SUBSTR(name, 3, -2), SUBSTRING(name, 1, 1) FROM student',
    "SELECT REPLACE(name, 'n', ''), REPLACE(name, '', 'x'), TRIM(name, 'An'), LTRIM(name, 'A'), " +
      "RTRIM(name, 'be'), TRIM('  a ') FROM student",
    "SELECT SUBSTR(name, 1, INSTR(name, ' ') - 1), SUBSTR(name, INSTR(name, ' ') + 1) FROM " +
      "student WHERE name LIKE '% %'",
    "SELECT printf('%.2f', gpa), printf('%d', age), printf('%s-%s', name, age) FROM student",
    "SELECT printf('%05d', age), printf('%.1f%%', gpa * 10), printf('%,d', 1234567) FROM student",
    'SELECT ROUND(gpa, 1), ROUND(gpa), ROUND(-2.5), ROUND(2.675, 2), ABS(-age), MAX(age, 15), ' +
      'MIN(age, 15) FROM student',
    "SELECT CAST(name AS INTEGER), CAST(gpa AS INTEGER), CAST(age AS TEXT) || '!', CAST('3.7' AS " +
      "REAL), CAST('' AS INTEGER), CAST(' 12 ' AS INTEGER), CAST('-5x' AS INTEGER), CAST(1e3 AS " +
      'TEXT), CAST(2 AS REAL) FROM student',
    "SELECT TYPEOF(mixed), TYPEOF(age), TYPEOF(gpa), TYPEOF(NULL), TYPEOF('x') FROM student",
    "SELECT HEX('abc'), QUOTE(name), CHAR(65, 66), UNICODE(name), SIGN(mixed) FROM student WHERE " +
      'student_id < 3',
    'SELECT 7 / 2, -7 / 2, 7 % -3, 7.0 / 2, 1 / 0, 5 / 2 * 2, age / 2, age * 1.0 / 2, credits / ' +
      '3 FROM student JOIN course ON credits = 4',
    "SELECT '3' + 4, '2x' * 2, 'x' + 1, -'5', 3 || 4, NULL || 'a' FROM course LIMIT 1",
    'SELECT 5 & 3, 5 | 3, 1 << 3, 256 >> 2, ~5',
  ],
  dates: [
    "SELECT strftime('%Y', opened), strftime('%m', opened), strftime('%d', opened), " +
      "strftime('%Y-%m', opened), strftime('%j', opened), strftime('%w', opened) FROM school",
    "SELECT strftime('%H:%M', closed), time(closed), date(closed), datetime(opened) FROM school",
    "SELECT name FROM school WHERE strftime('%Y', opened) = '2000'",
    "SELECT name FROM school WHERE CAST(strftime('%Y', opened) AS INTEGER) BETWEEN 1995 AND 2005",
    'SELECT julianday(closed) - julianday(opened) FROM school',
    "SELECT CAST((julianday('2020-01-01') - julianday(opened)) / 365.25 AS INTEGER) FROM school",
    "SELECT date(opened, '+1 day'), date(opened, '-1 month'), date(opened, '+1 year'), " +
      "date(opened, 'start of month') FROM school",
    "SELECT date(opened, 'start of year', '+6 days'), date(opened, '+12 months') FROM school",
    "SELECT strftime('%s', closed) - strftime('%s', opened) FROM school",
    "SELECT opened FROM school WHERE opened BETWEEN '1995-01-01' AND '2005-12-31' ORDER BY opened",
    "SELECT opened FROM school WHERE opened LIKE '2000-%' OR opened LIKE '%-12-31'",
    'SELECT SUBSTR(opened, 1, 4) AS y, COUNT(*) FROM school GROUP BY y ORDER BY y',
    "SELECT strftime('%Y', '2010-05-06') - strftime('%Y', opened) - (strftime('%m-%d', " +
      "'2010-05-06') < strftime('%m-%d', opened)) FROM school",
    "SELECT name FROM school WHERE date(closed) > date('2015-01-01')",
    "SELECT strftime('%Y-%m-%d', opened) FROM school WHERE strftime('%Y', opened) > 1995",
  ],
  patterns: [
    "SELECT name FROM student WHERE name LIKE '%\\%%' ESCAPE '\\'",
    "SELECT name FROM school WHERE name LIKE '%!_x' ESCAPE '!'",
    "SELECT name FROM student WHERE name LIKE 'ann%' OR name LIKE '_ob'",
    "SELECT name FROM student WHERE name GLOB 'A*' OR name GLOB '[bc]??' OR name GLOB '*[^a-z]Z'",
    "SELECT name FROM student WHERE name NOT LIKE '%n%'",
    "SELECT age FROM student WHERE age LIKE '1_'",
    "SELECT name FROM student WHERE name LIKE '%O''Neil%'",
    "SELECT name FROM student WHERE 'Ann Lee and more' LIKE name || '%'",
    "SELECT name FROM student WHERE name LIKE NULL OR gpa LIKE '3.%'",
  ],
  'types in comparisons': [
    "SELECT student_id FROM student WHERE age = '15'",
    'SELECT student_id FROM student WHERE mixed = 1',
    "SELECT student_id FROM student WHERE mixed = '1'",
    'SELECT student_id FROM student WHERE mixed BETWEEN 0 AND 5',
    "SELECT student_id FROM student WHERE mixed BETWEEN '0' AND 'z'",
    "SELECT student_id FROM student WHERE mixed > 'a' OR mixed < 0",
    'SELECT student_id FROM student ORDER BY mixed, student_id',
    'SELECT student_id FROM student WHERE age BETWEEN 16 AND 14',
    'SELECT student_id FROM student WHERE NOT (age BETWEEN 15 AND 16)',
    'SELECT student_id FROM student WHERE age IN (15, NULL)',
    'SELECT student_id FROM student WHERE age NOT IN (15, 16)',
    "SELECT student_id FROM student WHERE name > 'b' AND name < 'É'",
    'SELECT rating FROM school WHERE rating > 3 ORDER BY rating',
    "SELECT code FROM school WHERE rating = '4' OR rating = '3.50'",
    'SELECT student_id FROM student WHERE gpa IS 3.5 OR age IS NOT DISTINCT FROM NULL',
    'SELECT student_id FROM student WHERE TRUE AND age IS NOT FALSE',
  ],
  'quoted names': [
    'SELECT "Board Name", `Free Meal (%)` FROM [School Board] WHERE [Board ID] = 1',
    'SELECT "Free Meal (%)" * 100 AS "Pct.", b."Board Name" AS "$name" FROM "School Board" AS b',
    'SELECT T1."Board Name" FROM `School Board` AS T1 WHERE T1.`Board Name` = "East\'s"',
    'SELECT name FROM student WHERE name = "Ann Lee" OR name = "bob"',
    'SELECT "type", COUNT(*) FROM school GROUP BY "type"',
    'SELECT \'name\' FROM course WHERE "title" = "Maths"',
    'SELECT COUNT(*) AS "select", MAX(age) \'the max\' FROM student',
    'SELECT student.* FROM student, enrol WHERE student.student_id = enrol.student_id AND ' +
      'enrol.grade > 80',
  ],
  aggregates: [
    "SELECT group_concat(name), group_concat(age, '; ') FROM student WHERE age IS NOT NULL",
    "SELECT school_code, group_concat(name, '/') FROM (SELECT * FROM student ORDER BY " +
      'student_id) WHERE age > 14 GROUP BY school_code',
    'SELECT group_concat(DISTINCT age) FROM student WHERE age IN (15)',
    'SELECT COUNT(*) FILTER (WHERE age > 15), AVG(gpa) FILTER (WHERE age < 17), SUM(age) FILTER ' +
      '(WHERE age > 99) FROM student',
    'SELECT COUNT(DISTINCT age), SUM(DISTINCT age), AVG(DISTINCT gpa) FROM student',
    'SELECT MAX(age) FROM student HAVING COUNT(*) > 3',
    'SELECT COUNT(*) FROM student HAVING COUNT(*) > 99',
    'SELECT name, MAX(gpa) FROM student WHERE gpa < 4',
    'SELECT school_code, name, MIN(age) FROM student GROUP BY school_code',
    'SELECT cid, COUNT(*), AVG(grade), 100.0 * SUM(CASE WHEN grade >= 75 THEN 1 ELSE 0 END) / ' +
      'COUNT(*) FROM enrol GROUP BY cid HAVING AVG(grade) > 50 ORDER BY 3 DESC',
    'SELECT CAST(SUM(CASE WHEN age > 15 THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(*) FROM student',
    "SELECT SUM(name LIKE '%n%'), AVG(age > 15), COUNT(NULLIF(age, 15)), TOTAL(gpa) FROM student",
    'SELECT MAX(grade) - MIN(grade), SUM(grade) / COUNT(grade), AVG(grade) * 1.0 FROM enrol',
    'SELECT MAX(MIN(age, 16)), SUM(age + 1) / 2 FROM student',
    "SELECT strftime('%Y', day) AS y, COUNT(*) AS n FROM enrol GROUP BY y HAVING n > 3",
    'SELECT COUNT(*), COUNT(DISTINCT s.name) FROM student s JOIN enrol e ON e.student_id = ' +
      's.student_id WHERE e.grade > (SELECT AVG(grade) FROM enrol)',
    'SELECT COUNT(*) FROM (SELECT cid FROM enrol GROUP BY cid HAVING COUNT(*) > 1)',
    'SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM enrol GROUP BY student_id)',
    'SELECT age, COUNT(*) * 100.0 / (SELECT COUNT(*) FROM student) FROM student GROUP BY age',
  ],
  windows: [
    'SELECT name, RANK() OVER (ORDER BY age DESC), ROW_NUMBER() OVER (ORDER BY student_id) ' +
      'FROM student',
    'SELECT cid, student_id, DENSE_RANK() OVER (PARTITION BY cid ORDER BY grade DESC) FROM enrol',
    'SELECT name, SUM(pay) OVER (ORDER BY id), AVG(pay) OVER (ORDER BY id ROWS BETWEEN 1 ' +
      'PRECEDING AND CURRENT ROW) FROM people',
    'SELECT name, LAG(pay) OVER (ORDER BY id), LEAD(pay, 1, 0) OVER (ORDER BY id), ' +
      'FIRST_VALUE(pay) OVER (ORDER BY id) FROM people',
    'SELECT name, COUNT(*) OVER () FROM people',
    'SELECT * FROM (SELECT cid, student_id, ROW_NUMBER() OVER (PARTITION BY cid ORDER BY grade ' +
      'DESC, student_id) AS r FROM enrol) WHERE r = 1',
    'SELECT name, pay * 100.0 / SUM(pay) OVER () FROM people',
    'SELECT name, MAX(pay) OVER (PARTITION BY boss) FROM people',
    'SELECT cid, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) FROM enrol GROUP BY cid',
    'SELECT MIN(code), MAX(code) FROM school',
    'SELECT name, NTILE(2) OVER (ORDER BY id), PERCENT_RANK() OVER (ORDER BY pay) FROM people',
  ],
  'limits and values': [
    'SELECT name FROM student ORDER BY student_id LIMIT 2 OFFSET 1',
    'SELECT name FROM student ORDER BY student_id LIMIT 1, 2',
    'SELECT name FROM student ORDER BY student_id LIMIT 1 + 1',
    'SELECT name FROM student ORDER BY student_id LIMIT -1 OFFSET 3',
    'SELECT name FROM student ORDER BY student_id LIMIT 0',
    'SELECT name FROM student ORDER BY student_id LIMIT (SELECT COUNT(*) FROM course)',
    'SELECT name FROM student ORDER BY student_id LIMIT 2 OFFSET (SELECT COUNT(*) FROM ' +
      'student) / 2',
    "VALUES (1, 'a'), (2, 'b')",
    'SELECT column1 FROM (VALUES (1), (2)) WHERE column1 > 1',
    'SELECT 1, NULL, 2.5',
    'SELECT name FROM student ORDER BY age IS NULL, age, name DESC',
    'SELECT name, age FROM student ORDER BY age DESC NULLS LAST, student_id',
    'SELECT name FROM student ORDER BY LENGTH(name) DESC, 1 LIMIT 3',
    'SELECT DISTINCT age FROM student ORDER BY age DESC LIMIT 2',
    'SELECT * FROM student WHERE 1 = 1 ORDER BY 1 DESC',
    'SELECT rowid, name FROM student WHERE rowid > 3',
    'SELECT COUNT(*) FROM student WHERE rowid IN (SELECT MIN(rowid) FROM student GROUP BY age)',
  ],
};

/** What is left to a reviewer, and why; everything else must be equal. */
const UNTRANSLATED = new Set<string>([
  // Two passes over both tables.
  'SELECT st.name, e.grade FROM student st FULL JOIN enrol e ON e.student_id = st.student_id',
  'SELECT st.name, e.cid FROM student st FULL OUTER JOIN enrol e ON e.student_id = st.student_id ' +
    'WHERE st.student_id IS NULL OR e.cid IS NULL',
  'SELECT st.name, c.title FROM student st LEFT JOIN (enrol e JOIN course c ON c.cid = e.cid) ON ' +
    'e.student_id = st.student_id',
  // Recursion, and rows that no collection holds.
  'WITH RECURSIVE up(id, name, depth) AS (SELECT id, name, 0 FROM people WHERE boss IS NULL ' +
    'UNION ALL SELECT p.id, p.name, up.depth + 1 FROM people p JOIN up ON p.boss = up.id) SELECT ' +
    'name, depth FROM up',
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n',
  "VALUES (1, 'a'), (2, 'b')",
  'SELECT column1 FROM (VALUES (1), (2)) WHERE column1 > 1',
  // Functions that would have to be emulated.
  "SELECT printf('%05d', age), printf('%.1f%%', gpa * 10), printf('%,d', 1234567) FROM student",
  "SELECT HEX('abc'), QUOTE(name), CHAR(65, 66), UNICODE(name), SIGN(mixed) FROM student WHERE " +
    'student_id < 3',
  'SELECT 5 & 3, 5 | 3, 1 << 3, 256 >> 2, ~5',
  "SELECT name FROM student WHERE 'Ann Lee and more' LIKE name || '%'",
  'SELECT MIN(code), MAX(code) FROM school',
  'SELECT name FROM student ORDER BY student_id LIMIT (SELECT COUNT(*) FROM course)',
  'SELECT name FROM student ORDER BY student_id LIMIT 2 OFFSET (SELECT COUNT(*) FROM student) / 2',
]);

describe.each(['one-to-one', 'access-pattern'] as const)('%s', (strategy) => {
  let world: World;
  beforeAll(async () => {
    world = await World.create(DDL, { strategy });
  });
  afterAll(() => world.close());

  describe.each(Object.keys(GROUPS))('%s', (group) => {
    it.each(GROUPS[group] ?? [])('%s', async (sql) => {
      const runs = world.runs(sql);
      const { verdict, detail, translation } = await world.check(sql);
      if (runs !== true) {
        expect(translation.status, runs).toBe('untranslated');
        return;
      }
      expect(verdict, detail).toBe(UNTRANSLATED.has(sql) ? 'untranslated' : 'equal');
    });
  });
});
