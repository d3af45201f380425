import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, expect, test } from 'vitest';
import { rowKey } from '../../results/equality';
import type { Value } from '../../results/value';
import { QueryProcess } from '../../sqlite/query/query-process';
import { catalogOf } from '../../sqlite/schema/introspect';
import { sourceCaveats } from './equivalence';
import { AMBIGUITIES } from './open-constructs';

const folder = mkdtempSync(path.join(tmpdir(), 'row-order-'));
const queries = new QueryProcess();
afterAll(() => {
  queries.close();
  rmSync(folder, { recursive: true, force: true });
});

type Random = (below: number) => number;
type Row = readonly [string, number, number | null];

function randomFrom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

const COLUMNS = ['a', 'b', 'c'];

function randomQuery(random: Random): string {
  const column = (): string => COLUMNS[random(3)]!;
  const order = (): string => `ORDER BY ${column()}${random(2) ? ' DESC' : ''}`;
  const limit = (): string => `LIMIT ${1 + random(3)}${random(4) ? '' : ' OFFSET 1'}`;
  const where = random(3) ? '' : `WHERE b >= ${random(3)} `;
  const kinds = [
    () => `SELECT ${column()} FROM t ${where}${order()} ${limit()}`,
    () => `SELECT ${column()}, ${column()} AS d FROM t ${where}${limit()}`,
    () => `SELECT DISTINCT ${column()} FROM t ${where}${order()} ${limit()}`,
    () => `SELECT DISTINCT ${column()} FROM t ${where}${order()}`,
    () => `SELECT a, ${column()} AS d FROM t ${where}GROUP BY a ${order()}`,
    () => `SELECT a, ${column()} AS d, MAX(${column()}) FROM t GROUP BY ${column()}`,
    () => `SELECT a FROM t GROUP BY a ${order()} ${limit()}`,
    () => `SELECT a, COUNT(*) AS n FROM t GROUP BY a ORDER BY n DESC ${limit()}`,
    () => `SELECT COUNT(*) FROM t WHERE b = (SELECT b FROM t ${order()} LIMIT 1)`,
    () => `SELECT SUM(b), MIN(c) FROM (SELECT DISTINCT b, c FROM t ${order()} ${limit()})`,
    () => `SELECT a, j.value FROM t, json_each('[1,2]') j ${where}${order()} ${limit()}`,
  ];
  return kinds[random(kinds.length)]!();
}

const create = (sqlite: Database.Database, rows: readonly Row[]): void => {
  sqlite.exec('CREATE TABLE t (a TEXT, b INTEGER, c INTEGER)');
  const insert = sqlite.prepare('INSERT INTO t VALUES (?, ?, ?)');
  for (const row of rows) insert.run(...row);
};

function answerOf(sql: string, rows: readonly Row[]): string {
  const sqlite = new Database(':memory:');
  sqlite.defaultSafeIntegers(true);
  create(sqlite, rows);
  const found = sqlite.prepare(sql).raw(true).all() as Value[][];
  sqlite.close();
  return found.map(rowKey).sort().join('\n');
}

function shuffled(rows: readonly Row[], random: Random): Row[] {
  const rest = [...rows];
  return rows.map(() => rest.splice(random(rest.length), 1)[0]!);
}

test('what changes with the order of insertion is named', async () => {
  const unnamed: string[] = [];
  let open = 0;
  for (let round = 0; round < 24; round++) {
    const random = randomFrom(round + 1);
    const rows = Array.from({ length: 2 + random(6) }, (): Row => [
      'xyz'[random(3)]!,
      random(3),
      random(5) ? random(3) : null,
    ]);
    const file = path.join(folder, `${round}.sqlite`);
    const sqlite = new Database(file);
    create(sqlite, rows);
    const catalog = catalogOf(sqlite, { name: 't', sha256: '', descriptions: {} });
    sqlite.close();
    for (let count = 0; count < 12; count++) {
      const sql = randomQuery(random);
      const orders = [rows, rows.toReversed(), ...[1, 2, 3, 4].map(() => shuffled(rows, random))];
      const answers = new Set(orders.map((order) => answerOf(sql, order)));
      if (answers.size === 1) continue;
      open++;
      const caveats = await sourceCaveats({
        sql,
        sourcePath: file,
        catalog,
        queries,
        clock: '2026-01-01T00:00:00Z',
        signal: new AbortController().signal,
      });
      if (!caveats.some((caveat) => (AMBIGUITIES as readonly string[]).includes(caveat)))
        unnamed.push(`${sql} on ${JSON.stringify(rows)}`);
    }
  }
  expect(unnamed).toEqual([]);
  expect(open).toBeGreaterThan(50);
}, 120_000);
