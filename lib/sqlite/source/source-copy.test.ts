import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, test } from 'vitest';
import { SourceError } from '../open';
import { copySource } from './source-copy';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-source-copy-'));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
let made = 0;
const home = (): string => fs.mkdtempSync(path.join(root, `h${++made}-`));
const sha256 = (file: string): string =>
  createHash('sha256').update(fs.readFileSync(file)).digest('hex');

/** What a folder holds: names, bytes and times. */
const state = (folder: string): unknown =>
  fs
    .readdirSync(folder)
    .sort()
    .map((name) => [
      name,
      sha256(path.join(folder, name)),
      fs.statSync(path.join(folder, name)).mtimeMs,
    ]);

/**
 * The files as they are while `use` runs, without the locks and the -shm file of who writes them.
 */
function snapshot(file: string): string {
  const target = path.join(home(), 'd.sqlite');
  for (const suffix of ['', '-wal', '-journal']) {
    if (fs.existsSync(file + suffix)) fs.copyFileSync(file + suffix, target + suffix);
  }
  return target;
}

function written(mode: string, work: (sqlite: Database.Database) => void): string {
  const file = path.join(home(), 'd.sqlite');
  const sqlite = new Database(file);
  sqlite.pragma(`journal_mode = ${mode}`);
  sqlite.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a')");
  try {
    work(sqlite);
    return snapshot(file);
  } finally {
    sqlite.close();
  }
}

function valuesIn(file: string): unknown[] {
  const sqlite = new Database(file, { readonly: true });
  try {
    return sqlite.prepare('SELECT v FROM t ORDER BY id').pluck().all();
  } finally {
    sqlite.close();
  }
}

const inserted = (sqlite: Database.Database): void =>
  void sqlite.exec("INSERT INTO t VALUES (2, 'b'), (3, 'c')");
/**
 * More than the cache holds: pages of a transaction that is not committed are in the file, the old
 * ones in the journal.
 */
function interrupted(sqlite: Database.Database): void {
  sqlite.exec(
    'WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO ' +
      't SELECT i, hex(zeroblob(100)) FROM n',
  );
  sqlite.pragma('cache_size = 2');
  sqlite.exec("BEGIN; UPDATE t SET v = 'uncommitted'");
}

describe('files beside a database count, and nothing in its folder changes', () => {
  test.each<[string, string, string[]]>([
    ['a -wal file', written('WAL', inserted), ['a', 'b', 'c']],
    [
      'a -wal file with a transaction that is not committed',
      written('WAL', (sqlite) => {
        inserted(sqlite);
        sqlite.exec("BEGIN; INSERT INTO t VALUES (4, 'd')");
      }),
      ['a', 'b', 'c'],
    ],
    ['a journal that is kept but over', written('PERSIST', inserted), ['a', 'b', 'c']],
    ['a journal that is cut to nothing', written('TRUNCATE', inserted), ['a', 'b', 'c']],
    [
      'an empty -wal file',
      (() => {
        const file = written('DELETE', inserted);
        fs.writeFileSync(`${file}-wal`, '');
        return file;
      })(),
      ['a', 'b', 'c'],
    ],
  ])('%s', async (_, file, values) => {
    const before = state(path.dirname(file));
    const copy = await copySource(file, path.join(home(), 'copy.sqlite'));
    expect(fs.readdirSync(path.dirname(copy.path))).toEqual(['copy.sqlite']);
    expect(copy).toMatchObject({ sha256: sha256(copy.path), bytes: fs.statSync(copy.path).size });
    expect(valuesIn(copy.path)).toEqual(values);
    expect(state(path.dirname(file))).toEqual(before);
  });

  test('a hot journal is rolled back, in the copy', async () => {
    const file = written('DELETE', interrupted);
    expect(fs.existsSync(`${file}-journal`)).toBe(true);
    expect(fs.readFileSync(file).includes('uncommitted')).toBe(true);
    const before = state(path.dirname(file));
    const copy = await copySource(file, path.join(home(), 'copy.sqlite'));
    const values = valuesIn(copy.path);
    expect([values.length, values[0], values.includes('uncommitted')]).toEqual([2000, 'a', false]);
    expect(state(path.dirname(file))).toEqual(before);
  });
});

describe('the hash', () => {
  test.each(['DELETE', 'WAL'])(
    'of a file without others is that of its own bytes: %s',
    async (mode) => {
      const file = path.join(home(), 'd.sqlite');
      const sqlite = new Database(file);
      sqlite.pragma(`journal_mode = ${mode}`);
      sqlite.exec('CREATE TABLE t (v)');
      sqlite.close();
      expect((await copySource(file, path.join(home(), 'copy.sqlite'))).sha256).toBe(sha256(file));
    },
  );

  test('of a database with a -wal file is the one that it has once SQLite has checkpointed it', async () => {
    const file = written('WAL', inserted);
    const hashes = [
      await copySource(file, path.join(home(), 'a')),
      await copySource(file, path.join(home(), 'b')),
    ].map((copy) => copy.sha256);
    expect(hashes[0]).not.toBe(sha256(file));
    const own = new Database(file);
    own.pragma('wal_checkpoint(TRUNCATE)');
    own.close();
    expect(hashes).toEqual([sha256(file), sha256(file)]);
    expect((await copySource(file, path.join(home(), 'c'))).sha256).toBe(hashes[0]);
  });
});

test.each(['WAL', 'DELETE'])(
  'a copy taken while another process writes holds whole transactions: %s',
  async (mode) => {
    const folder = home();
    const file = path.join(folder, 'd.sqlite');
    const script = path.join(folder, 'writer.cjs');
    // Each transaction moves an amount between two rows on different pages, so that their sum never
    // changes.
    fs.writeFileSync(
      script,
      `
    const Database = require(${JSON.stringify(path.resolve('node_modules/better-sqlite3'))});
    const sqlite = new Database(${JSON.stringify(file)});
    sqlite.pragma('journal_mode = ${mode}');
    sqlite.pragma('synchronous = OFF');
    sqlite.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER, filler TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO t SELECT i, 100, hex(zeroblob(200)) FROM n");
    const change = sqlite.prepare('UPDATE t SET v = v + ? WHERE id = ?');
    const move = sqlite.transaction((amount) => { change.run(amount, 1 + Math.floor(Math.random() * 1500)); change.run(-amount, 1501 + Math.floor(Math.random() * 1500)); });
    process.send('ready');
    const step = () => { for (let n = 0; n < 5; n++) move(n + 1); setTimeout(step, 150); };
    step();`,
    );
    const writer = fork(script, [], { execArgv: [] });
    await once(writer, 'message');
    let taken = 0;
    try {
      for (let n = 0; n < 3; n++) {
        const copy = await copySource(file, path.join(home(), 'copy.sqlite')).catch(
          (error: unknown) => {
            // refused: not wrong
            if (error instanceof SourceError && error.code === 'busy') return undefined;
            throw error;
          },
        );
        if (!copy) continue;
        taken++;
        const sqlite = new Database(copy.path, { readonly: true });
        expect(sqlite.prepare('SELECT count(*) AS rows, sum(v) AS total FROM t').get()).toEqual({
          rows: 3000,
          total: 300_000,
        });
        expect(sqlite.pragma('integrity_check', { simple: true })).toBe('ok');
        sqlite.close();
      }
    } finally {
      const ended = once(writer, 'exit');
      writer.kill('SIGKILL');
      await ended;
    }
    expect(taken).toBeGreaterThan(0);
  },
  60_000,
);

test.each<[string, (file: string) => void, SourceError['code']]>([
  ['no file', () => undefined, 'missing'],
  [
    'random bytes with a journal',
    (file) => {
      fs.writeFileSync(file, 'x'.repeat(5000));
      fs.writeFileSync(`${file}-journal`, 'y'.repeat(600));
    },
    'encrypted_or_not_sqlite',
  ],
])('what cannot be recovered is named: %s', async (_, make, code) => {
  const file = path.join(home(), 'd.sqlite');
  make(file);
  await expect(copySource(file, path.join(home(), 'copy.sqlite'))).rejects.toMatchObject({ code });
});
