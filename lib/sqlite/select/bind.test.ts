import Database from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { catalogOf } from '../schema/introspect';
import { openSource } from '../open';
import { benchmarkData } from './test/benchmark-fixture';
import { bindSelect } from './bind';
import { SqlBindError } from './bind-error';
import { parseSelect } from './parse-select';
import { runnableSql } from './runnable-sql';

const sqlite = new Database(':memory:');
sqlite.defaultSafeIntegers(true);
sqlite.exec(`CREATE TABLE "People" ("Id" INTEGER PRIMARY KEY, "First Name" TEXT COLLATE NOCASE, age REAL, note);
  CREATE TABLE pets (pet_id INTEGER PRIMARY KEY, owner INTEGER, "Id" TEXT, kind TEXT);`);
const catalog = catalogOf(sqlite, { name: 'memory', sha256: '', descriptions: {} });
afterAll(() => sqlite.close());
const bind = (sql: string) => bindSelect(parseSelect(sql), catalog);

describe('names', () => {
  it('resolve in any case and come back in the case of the schema', () => {
    expect(
      bind('SELECT p.ID, p."first name" FROM people p').query.columns.map(({ name }) => name),
    ).toEqual(['Id', 'First Name']);
  });

  it.each([
    [
      'SELECT id FROM people WHERE "first name" = "Ann"',
      `SELECT id FROM people WHERE "first name" = 'Ann'`,
    ],
    [`SELECT "it's" FROM pets`, `SELECT 'it''s' FROM pets`],
    ['SELECT kind AS "x" FROM pets ORDER BY "x"', 'SELECT kind AS "x" FROM pets ORDER BY "x"'],
  ])('%s runs as %s', (sql, expected) => {
    expect(runnableSql(sql, catalog)).toBe(expected);
    expect(() => sqlite.prepare(expected)).not.toThrow();
  });

  it.each([
    ['SELECT nonsense FROM people', 'unknown_column'],
    ['SELECT 1 FROM nowhere', 'unknown_table'],
    ['SELECT id FROM people JOIN pets ON owner = pet_id', 'ambiguous_column'],
    ['SELECT id FROM people UNION SELECT id, kind FROM pets', 'misplaced'],
  ])('%s is refused: %s', (sql, problem) => {
    expect(() => bind(sql)).toThrow(SqlBindError);
    try {
      bind(sql);
    } catch (error) {
      expect((error as SqlBindError).problem).toBe(problem);
    }
  });

  it.each([
    [
      'SELECT a.kind FROM people p JOIN pets a ON a.owner = b.pet_id JOIN pets b ON ' +
        'b.pet_id = p.id',
      true,
    ],
    ['SELECT 1 FROM people p JOIN pets a ON b.kind = a.kind, pets b', true],
    [
      'SELECT 1 FROM people p JOIN pets a ON b.kind = a.kind LEFT JOIN pets b ON b.pet_id = p.id',
      true,
    ],
    [
      'SELECT 1 FROM people p LEFT JOIN pets a ON b.kind = a.kind JOIN pets b ON b.pet_id = p.id',
      false,
    ],
    [
      'SELECT 1 FROM people p JOIN pets a ON b.kind = a.kind RIGHT JOIN pets b ON b.pet_id = p.id',
      false,
    ],
  ])('%s may name a table to its right: %s', (sql, isAllowed) => {
    if (isAllowed) expect(() => sqlite.prepare(sql)).not.toThrow();
    else expect(() => sqlite.prepare(sql)).toThrow();
    if (isAllowed) expect(() => bind(sql)).not.toThrow();
    else expect(() => bind(sql)).toThrow(SqlBindError);
  });

  it('lists what a correlated subquery reads outside', () => {
    const { query } = bind(
      'SELECT "First Name" FROM people WHERE EXISTS (SELECT 1 FROM pets WHERE owner = people.id)',
    );
    const { where } = query.body.kind === 'select' ? query.body : { where: undefined };
    expect(
      where?.kind === 'exists' &&
        where.query.outer.map((column) => column.source.columns[column.index]?.name),
    ).toEqual(['Id']);
    expect(query.outer).toEqual([]);
  });
});

describe('comparisons', () => {
  it.each([
    ["age = '3'", 'NUMERIC', 'BINARY'],
    ['kind = 3', 'TEXT', 'BINARY'],
    ['note = 3', undefined, 'BINARY'],
    ['owner = pets.id', 'NUMERIC', 'BINARY'],
    ['"First Name" = kind', undefined, 'NOCASE'],
    ['kind = "First Name"', undefined, 'BINARY'],
    ['kind COLLATE RTRIM = "First Name"', undefined, 'RTRIM'],
    ["+age = '3'", undefined, 'BINARY'],
    ["CAST(note AS INTEGER) = '3'", 'NUMERIC', 'BINARY'],
  ])('%s applies %s and collates by %s', (condition, affinity, collation) => {
    const { query } = bind(`SELECT 1 FROM people, pets WHERE ${condition}`);
    expect(query.body.kind === 'select' && query.body.where).toMatchObject({
      kind: 'compare',
      affinity,
      collation,
    });
  });
});

const data = benchmarkData();
it.skipIf(!data)('names result columns as SQLite does, over all gold queries', () => {
  const { items, databases } = data ?? { items: [], databases: new Map<string, string>() };
  const failures: string[] = [];
  for (const [name, file] of databases) {
    const source = openSource(file);
    const schema = catalogOf(source, { name, sha256: '', descriptions: {} });
    for (const { id, sql } of items.filter(({ database }) => database === name)) {
      try {
        const expected = source
          .prepare(runnableSql(sql, schema))
          .columns()
          .map((column) => column.name);
        const actual = bindSelect(parseSelect(sql), schema).query.columns.map(
          (column) => column.name,
        );
        if (JSON.stringify(actual) !== JSON.stringify(expected))
          failures.push(`${id}: ${JSON.stringify(actual)} for ${JSON.stringify(expected)}`);
      } catch (error) {
        if (!/INTERSECT|no such column/.test(String(error)))
          failures.push(`${id} ${sql}: ${String(error)}`);
      }
    }
    source.close();
  }
  expect(failures).toEqual([]);
});
