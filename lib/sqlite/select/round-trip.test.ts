import { afterAll, describe, expect, it } from 'vitest';
import type Database from 'better-sqlite3';
import { catalogOf } from '../schema/introspect';
import { openSource } from '../open';
import { benchmarkData } from './test/benchmark-fixture';
import { parseSelect } from './parse-select';
import { printSelect } from './print-select';
import { runnableSql } from './runnable-sql';

const data = benchmarkData();
// Gold that SQLite itself refuses.
const invalid = (sql: string): boolean => /LIMIT 3 INTERSECT/.test(sql);

describe.skipIf(!data)('gold queries of BIRD and Spider', () => {
  const { items, databases } = data ?? { items: [], databases: new Map<string, string>() };
  const open = new Map<string, Database.Database>();
  afterAll(() => {
    for (const sqlite of open.values()) sqlite.close();
  });
  const source = (name: string, file: string): Database.Database => {
    const known = open.get(name);
    if (known) return known;
    const sqlite = openSource(file);
    open.set(name, sqlite);
    return sqlite;
  };

  it('parse', () => {
    const failures = items
      .filter(({ sql }) => !invalid(sql))
      .flatMap(({ id, sql }) => {
        try {
          parseSelect(sql);
          return [];
        } catch (error) {
          return [`${id}: ${String(error)}`];
        }
      });
    expect(failures).toEqual([]);
  });

  it('give the same rows when reprinted in parentheses', () => {
    const run = (sqlite: Database.Database, sql: string): string => {
      const statement = sqlite.prepare(sql).raw(true);
      return JSON.stringify(statement.all(), (_, value: unknown) =>
        typeof value === 'bigint' ? `${value.toString()}n` : value,
      );
    };
    const failures: string[] = [];
    const refused: string[] = [];
    const seen = new Set<string>();
    for (const { id, database, sql } of items) {
      const file = databases.get(database);
      if (!file || seen.has(database + sql) || invalid(sql)) continue;
      seen.add(database + sql);
      const sqlite = source(database, file);
      const runnable = runnableSql(
        sql,
        catalogOf(sqlite, { name: database, sha256: '', descriptions: {} }),
      );
      let expected: string;
      try {
        expected = run(sqlite, runnable);
      } catch (error) {
        refused.push(`${id}: ${String(error)} ${sql}`);
        continue;
      }
      const reprinted = printSelect(parseSelect(runnable));
      try {
        if (run(sqlite, reprinted) !== expected) failures.push(`${id}: ${reprinted}`);
      } catch (error) {
        failures.push(`${id}: ${String(error)} ${reprinted}`);
      }
    }
    expect(failures).toEqual([]);
    if (refused.length > 1) console.log(refused.slice(0, 20).join('\n'));
    expect(refused.length).toBeLessThanOrEqual(1);
  });
});
