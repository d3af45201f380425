import Database from 'better-sqlite3';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readBenchmarkFolder } from '../sqlite/source/benchmark-folder';
import { studyIntegrity, type IntegrityRow } from './integrity';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-study-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
const limits = { maxArrayP99: 100, maxArray: 1000 };
let made = 0;

function study(sql: string): IntegrityRow['strategies'] {
  const file = path.join(folder, `s${++made}.sqlite`);
  const sqlite = new Database(file);
  sqlite.pragma('foreign_keys = OFF');
  sqlite.exec(sql);
  sqlite.close();
  return studyIntegrity(
    { name: `s${made}`, path: file, sha256: '', bytes: 0, descriptions: {} },
    [],
    limits,
  ).strategies;
}

// One for each failure of the paper's Table 3: foreign-key embedding fails, the other two lose
// nothing.
describe('what foreign-key embedding cannot do', () => {
  test.each<[string, string, object]>([
    [
      'a self-reference',
      'CREATE TABLE t (id INTEGER PRIMARY KEY, up INTEGER REFERENCES t(id)); INSERT INTO t ' +
        'VALUES (1, NULL), (2, 1);',
      { outcome: 'failed', reason: 't refers to itself (up)' },
    ],
    [
      'a cycle',
      'CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b(id)); CREATE TABLE b (id ' +
        'INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id)); INSERT INTO a VALUES (1, 1); INSERT ' +
        'INTO b VALUES (1, 1);',
      { outcome: 'failed', reason: 'the foreign keys of a, b form a cycle' },
    ],
    [
      'a parent of more than 16 MB',
      `CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p_id INTEGER REFERENCES p(id), v TEXT); INSERT INTO p VALUES (1);
      WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 180) INSERT INTO c SELECT 1, hex(zeroblob(50000)) FROM r;`,
      { outcome: 'failed', reason: 'a document of p takes 18 MB' },
    ],
    [
      'orphans at 26 %',
      `CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p_id INTEGER REFERENCES p(id)); INSERT INTO p VALUES (1);
      WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 99) INSERT INTO c SELECT CASE WHEN n <= 26 THEN 9 ELSE 1 END FROM r;`,
      { outcome: 'lossy', lostRows: { c: 26 }, share: 0.26 },
    ],
  ])('%s', (_, sql, expected) => {
    const strategies = study(sql);
    expect(strategies['fk-embedding']).toEqual(expected);
    expect(strategies['one-to-one']).toEqual({ outcome: 'lossless' });
    expect(strategies['access-pattern']).toEqual({ outcome: 'lossless' });
  });
});

const spider = path.resolve('../shared/data/spider');
test.skipIf(!fs.existsSync(spider))(
  'Spider’s three databases of Table 3 come out as in the paper (skipped where ../shared/data is absent)',
  async () => {
    const benchmark = await readBenchmarkFolder(spider, {
      copies: path.join(folder, 'copies'),
      databases: ['bike_1', 'car_1', 'pets_1'],
    });
    const row = (name: string): IntegrityRow['strategies'] =>
      studyIntegrity(
        benchmark.databases.find((database) => database.name === name)!,
        benchmark.items.filter((item) => item.database === name),
        limits,
      ).strategies;
    for (const name of ['bike_1', 'car_1', 'pets_1'])
      expect(row(name)).toMatchObject({
        'one-to-one': { outcome: 'lossless' },
        'access-pattern': { outcome: 'lossless' },
      });
    expect(row('bike_1')['fk-embedding']).toEqual({ outcome: 'lossless' });
    expect(row('pets_1')['fk-embedding']).toEqual({ outcome: 'lossless' });
    const car = row('car_1')['fk-embedding'];
    expect(car.outcome === 'lossy' && (100 * car.share).toFixed(2)).toBe('0.56');
  },
);
