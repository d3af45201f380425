import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Doc } from '../bson/doc';
import { encode } from '../bson/encode';
import { Store } from './store';

it('makes keys again that an earlier version made in another way, once', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'mongo-embedded-upgrade-'));
  const file = path.join(folder, 'data.sqlite');
  const document = Doc.of({ _id: 1, a: [Doc.of({ k: 'x', v: 1 }), Doc.of({ k: 'y', v: 2 })] });
  const before = new Store(file, true);
  const collection = before.create('d', 'c');
  collection.createIndex(
    'a.k_1_a.v_1',
    Doc.of({ key: Doc.of({ 'a.k': 1, 'a.v': 1 }), name: 'a.k_1_a.v_1', unique: true }),
  );
  collection.createIndex('b_1', Doc.of({ key: Doc.of({ b: 1 }), name: 'b_1' }));
  collection.insert({ raw: encode(document), id: 1 });
  const [entries, plain] = collection.maintained();
  const keys = (table: string): unknown[] => {
    const sqlite = new Database(file);
    try {
      return sqlite.prepare(`SELECT hex(k) FROM ${table} ORDER BY k`).pluck().all();
    } finally {
      sqlite.close();
    }
  };
  const right = keys(entries!.table);
  expect(right).toHaveLength(2);
  before.close();

  // As the earlier version left it: a key for each pair of values, whichever entries they are of.
  const old = new Database(file);
  old.exec(
    `INSERT INTO ${entries!.table}(k, rid) VALUES (x'01', 1), (x'02', 1); INSERT INTO ` +
      `${plain!.table}(k, rid) VALUES (x'01', 1); PRAGMA user_version = 0`,
  );
  old.close();
  const kept = keys(plain!.table);

  new Store(file, true).close();
  expect(keys(entries!.table)).toEqual(right);
  expect(keys(plain!.table)).toEqual(kept);

  const again = new Database(file);
  again.exec(`INSERT INTO ${entries!.table}(k, rid) VALUES (x'01', 1)`);
  again.close();
  new Store(file, true).close();
  expect(keys(entries!.table)).toHaveLength(3);
  rmSync(folder, { recursive: true, force: true });
});
