import { afterAll, beforeAll, expect, test } from 'vitest';
import { Prisma } from './generated/client';
import type { Database } from './database';
import { statementNames } from './statement-names';
import { createTestDatabase } from './test/test-database';

let db: Database;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

test('what is asked again and again gets a name of its own, and keeps it', () => {
  const nameOf = statementNames();
  const asked = (sql: string, times: number) =>
    Array.from({ length: times }, () => nameOf({ sql }));
  expect(asked('SELECT 1', 3)).toEqual(['', '', '']);
  const [name, ...again] = asked('SELECT 1', 3);
  expect(name).not.toBe('');
  expect(again).toEqual([name, name]);
  expect(asked('SELECT 2', 4).at(-1)).not.toBe(name);
});

test('a flood of different statements neither gets names nor takes the names of others', () => {
  const nameOf = statementNames();
  for (let use = 0; use < 4; use++) nameOf({ sql: 'SELECT 1' });
  const name = nameOf({ sql: 'SELECT 1' });
  for (let length = 0; length < 20_000; length++)
    expect(nameOf({ sql: `SELECT in list ${length}` })).toBe('');
  expect(nameOf({ sql: 'SELECT 1' })).toBe(name);
});

test('there is an end to the names', () => {
  const nameOf = statementNames();
  const names = new Set<string>();
  for (let text = 0; text < 1000; text++) {
    for (let use = 0; use < 5; use++) names.add(nameOf({ sql: `SELECT ${text}` }));
  }
  expect(names.size).toBeLessThan(500);
});

test('a statement answers the same before and after it has a name, also with other parameters', async () => {
  for (let use = 0; use < 8; use++) {
    const [row] = await db.query<{ n: number; ids: number; at: Date }>(
      Prisma.sql`SELECT ${use}::int AS n, cardinality(${['a', 'b'].slice(use % 2)}::text[]) AS ids, '2026-01-02T03:04:05.678Z'::timestamptz AS at`,
    );
    expect(row).toEqual({ n: use, ids: 2 - (use % 2), at: new Date('2026-01-02T03:04:05.678Z') });
  }
});
