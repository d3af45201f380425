import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Demand } from './witness';
import { ddlOf, generateSource, satisfy, type SchemaFile } from './generated-source';

const schema: SchemaFile = {
  db_id: 'shop',
  table_names_original: ['customer', 'order line', 'visit'],
  column_names_original: [
    [-1, '*'],
    [0, 'id'],
    [0, 'name'],
    [0, 'born'],
    [1, 'customer_id'],
    [1, 'number'],
    [1, 'price (net)'],
    [1, 'state'],
    [2, 'who'],
    [2, 'place'],
  ],
  column_types: [
    'text',
    'integer',
    'text',
    'date',
    'integer',
    'integer',
    'real',
    'text',
    'integer',
    'text',
  ],
  primary_keys: [1, [4, 5]],
  foreign_keys: [[4, 1]],
};
const sql = [
  "SELECT name FROM customer WHERE name = 'Zoe' AND born LIKE '1988-%'",
  'SELECT c.name FROM customer c JOIN "order line" o ON o.customer_id = c.id WHERE o."price ' +
    "(net)\" > 5000 AND o.state = 'sent'",
  "SELECT COUNT(*) FROM customer WHERE strftime('%Y', born) = '1931'",
  "SELECT name FROM customer WHERE id IN (SELECT who FROM visit WHERE place = 'Oslo')",
  'SELECT place FROM visit v JOIN customer c ON c.id = v.who WHERE c.id BETWEEN 71234 AND 71236',
  "SELECT name FROM customer WHERE born > '2031-01-01' OR name = 'nobody'",
  'SELECT nothing FROM nowhere',
];

const folder = mkdtempSync(path.join(tmpdir(), 'generated-'));
const random = (): (() => number) => {
  let state = 1;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
};
let sqlite: Database.Database;
beforeAll(() => {
  generateSource(path.join(folder, 'a.sqlite'), { schema, sql, random: random() });
  sqlite = new Database(path.join(folder, 'a.sqlite'), { readonly: true });
});
afterAll(() => {
  sqlite.close();
  rmSync(folder, { recursive: true });
});

describe('a generated database', () => {
  it.each(sql.slice(0, -1))('answers %s', (query) => {
    const rows = sqlite.prepare(query).raw(true).all() as unknown[][];
    expect(rows.length).toBeGreaterThan(0);
    expect(rows[0]).not.toEqual([0]);
  });

  it('keeps keys unique and declared references whole', () => {
    expect(sqlite.pragma('foreign_key_check')).toEqual([]);
    expect(sqlite.prepare('SELECT COUNT(*) - COUNT(DISTINCT id) FROM customer').pluck().get()).toBe(
      0,
    );
  });

  it('is the same for the same seed', () => {
    generateSource(path.join(folder, 'b.sqlite'), { schema, sql, random: random() });
    const again = new Database(path.join(folder, 'b.sqlite'), { readonly: true });
    const all = (database: Database.Database): unknown =>
      ['customer', '"order line"', 'visit'].map((table) =>
        database.prepare(`SELECT * FROM ${table}`).raw(true).all(),
      );
    expect(all(again)).toEqual(all(sqlite));
    again.close();
  });

  it('has the schema’s keys', () => {
    expect(ddlOf(schema)).toContain(
      'CREATE TABLE "order line" ("customer_id" integer, "number" integer, "price (net)" real, ' +
        '"state" text, PRIMARY KEY ("customer_id", "number"), FOREIGN KEY ("customer_id") ' +
        'REFERENCES "customer"("id"));',
    );
  });
});

it('a value meets the demands made of it', () => {
  const cases: [Demand[], unknown][] = [
    [[{ kind: 'like', pattern: '%er_' }], 'era'],
    [[{ kind: 'like', pattern: '2008-08%' }], '2008-08-15'],
    [
      [
        { kind: 'above', value: 5n, strict: true },
        { kind: 'below', value: 9n, strict: true },
      ],
      6n,
    ],
    [[{ kind: 'above', value: '2001-05-01', strict: true }], '2002-05-01'],
    [[{ kind: 'below', value: 1.5, strict: true }], 0.5],
    [[{ kind: 'datePart', format: '%Y-%m', value: '1999-12' }], '1999-12-15'],
    [[{ kind: 'part', start: 5, text: '07' }], '2005-07-15'],
    [[{ kind: 'null' }], null],
    [[], 'plain'],
  ];
  expect(cases.map(([demands]) => satisfy(demands, () => 'plain'))).toEqual(
    cases.map(([, value]) => value),
  );
});
