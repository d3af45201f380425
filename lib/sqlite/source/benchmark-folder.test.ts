import Database from 'better-sqlite3';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { sourceIdOf } from '../benchmark';
import { BenchmarkFolderError, readBenchmarkFolder } from './benchmark-folder';
import { extractBenchmarkZip } from './benchmark-zip';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-import-'));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
let made = 0;

function sqliteBytes(): Buffer {
  const sqlite = new Database(':memory:');
  sqlite.exec('CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)');
  const insert = sqlite.prepare('INSERT INTO t (b) VALUES (?)');
  for (let n = 0; n < 2000; n++) insert.run(`row ${n} ${'x'.repeat(40)}`);
  const bytes = sqlite.serialize();
  sqlite.close();
  return bytes;
}
const good = sqliteBytes();
const item = {
  question_id: 7,
  db_id: 'd',
  question: 'q',
  evidence: 'e',
  SQL: 'SELECT 1',
  difficulty: 'simple',
};

function folder(files: Record<string, string | Buffer>): string {
  const home = path.join(root, `f${++made}`);
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    fs.writeFileSync(path.join(home, name), content);
  }
  return home;
}
const copies = (): string => path.join(root, `c${++made}`);
const questions = JSON.stringify([item]);

describe('files that people have beside a benchmark', () => {
  const another = (): Buffer => {
    const sqlite = new Database(':memory:');
    sqlite.exec('CREATE TABLE old (a)');
    const bytes = sqlite.serialize();
    sqlite.close();
    return bytes;
  };
  const tablesOf = (file: string): unknown[] => {
    const sqlite = new Database(file, { readonly: true });
    const names = sqlite.prepare('SELECT name FROM sqlite_schema').pluck().all();
    sqlite.close();
    return names;
  };

  test.each(['backup', 'a', 'zzz'])(
    'a copy below %s is named, and the database in its place is used',
    async (name) => {
      const home = folder({
        'dev.json': questions,
        'dev_databases/d/d.sqlite': good,
        [`dev_databases/${name}/d/d.sqlite`]: another(),
      });
      const { databases, problems } = await readBenchmarkFolder(home, { copies: copies() });
      expect(tablesOf(databases[0]!.path)).toEqual(['t']);
      expect(problems).toMatchObject([
        {
          kind: 'database_left_out',
          detail: expect.stringContaining(`${name}/d/d.sqlite`) as string,
        },
      ]);
    },
  );

  test('question files of other names are named; descriptions of tables are none', async () => {
    const home = folder({
      'dev.json': questions,
      'dev_tied_append.json': questions,
      'dev_tables.json': '[]',
      'tables.json': '[]',
      'dev_databases/d/d.sqlite': good,
    });
    const { problems, items } = await readBenchmarkFolder(home, { copies: copies() });
    expect(items).toHaveLength(1);
    expect(problems).toMatchObject([{ kind: 'file_left_out', subject: 'dev_tied_append.json' }]);
  });

  test('links to files are followed, as caches of datasets have them; those that lead nowhere are none', async () => {
    const blobs = folder({ one: questions, two: good });
    const home = folder({ 'dev_databases/d/notes.txt': '' });
    fs.symlinkSync(path.join(blobs, 'one'), path.join(home, 'dev.json'));
    fs.symlinkSync(path.join(blobs, 'two'), path.join(home, 'dev_databases/d/d.sqlite'));
    fs.symlinkSync(path.join(blobs, 'nowhere'), path.join(home, 'dev_databases/e.sqlite'));
    const { databases, items, problems } = await readBenchmarkFolder(home, { copies: copies() });
    expect([databases.length, items.length, problems]).toEqual([1, 1, []]);
    expect(tablesOf(databases[0]!.path)).toEqual(['t']);
  });
});

describe('folders', () => {
  test('BIRD: ids of its own, descriptions in UTF-8, with BOM, in cp1252', async () => {
    const csv = (text: string): string =>
      `original_column_name,column_name,column_description,data_format,value_description\r\nb,,${text},,"yes, ""no"""\r\n`;
    const home = folder({
      'dev.json': `\ufeff${questions}`,
      'dev_databases/d/d.sqlite': good,
      'dev_databases/d/database_description/t.csv': Buffer.from(
        csv('caf\xe9 – cp1252').replace('–', '\x96'),
        'latin1',
      ),
      'dev_databases/d/database_description/u.csv': `\ufeff${csv('größe')}`,
    });
    const benchmark = await readBenchmarkFolder(home, { copies: copies() });
    expect(benchmark).toMatchObject({
      kind: 'bird',
      problems: [],
      items: [{ questionId: '7', database: 'd', evidence: 'e', difficulty: 'simple' }],
    });
    expect(benchmark.databases[0]!.descriptions).toEqual({
      t: { b: 'café – cp1252\nyes, "no"' },
      u: { b: 'größe\nyes, "no"' },
    });
    expect(benchmark.databases[0]!.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each<[string, Buffer, RegExp]>([
    [
      'random bytes',
      Buffer.from(Array.from({ length: 500 }, (_, index) => (index * 167) % 256)),
      /no text/,
    ],
    ['another table', Buffer.from('a,b\n1,2\n'), /does not name the column original_column_name/],
  ])('descriptions that are none are named: %s', async (_, bytes, detail) => {
    const benchmark = await readBenchmarkFolder(
      folder({ 'dev.json': questions, 'd/d.sqlite': good, 'd/database_description/t.csv': bytes }),
      { copies: copies() },
    );
    expect(benchmark.problems).toMatchObject([
      {
        kind: 'description_unreadable',
        subject: 'd/t.csv',
        detail: expect.stringMatching(detail) as string,
      },
    ]);
  });

  test('Spider: ids are file and position; what does not fit together is reported', async () => {
    const spider = [
      { db_id: 'd', question: 'q', query: 'SELECT 1' },
      { db_id: 'gone', question: 'q', query: 'SELECT 1' },
      { db_id: 'd', question: 'q' },
    ];
    const benchmark = await readBenchmarkFolder(
      folder({
        'dev.json': JSON.stringify(spider),
        'tables.json': '[]',
        'database/d/d.sqlite': good,
        'database/unused/unused.sqlite': good,
      }),
      { copies: copies() },
    );
    expect(benchmark.kind).toBe('spider');
    expect(benchmark.items.map((entry) => entry.questionId)).toEqual(['dev:0']);
    expect(benchmark.problems.map(({ kind, subject }) => [kind, subject])).toEqual([
      ['item_malformed', 'dev:2'],
      ['item_without_database', 'gone'],
      ['database_without_items', 'unused'],
    ]);
  });

  test.each<[string, Record<string, string | Buffer>, RegExp]>([
    ['nothing', { 'readme.txt': 'x' }, /no question file/],
    ['questions only', { 'dev.json': questions }, /no SQLite file/],
    [
      'questions that are not JSON',
      { 'dev.json': '[{', 'd.sqlite': good },
      /dev\.json is not JSON/,
    ],
    ['questions that are no list', { 'dev.json': '{}', 'd.sqlite': good }, /holds no list/],
  ])('%s: a clear error', async (_, files, message) => {
    await expect(readBenchmarkFolder(folder(files), { copies: copies() })).rejects.toThrow(message);
    await expect(readBenchmarkFolder(folder(files), { copies: copies() })).rejects.toThrow(
      BenchmarkFolderError,
    );
  });

  const items = (...of: [id: unknown, SQL: string, db?: string][]): string =>
    JSON.stringify(
      of.map(([question_id, SQL, db_id = 'd']) => ({
        question_id,
        db_id,
        question: SQL,
        evidence: `of ${SQL}`,
        SQL,
      })),
    );
  test.each<[string, Record<string, string>, string[], string[]]>([
    [
      'one id twice in a file: the first one stays',
      { 'dev.json': items([1, 'a'], [1, 'b'], ['1', 'c'], [2, 'd']) },
      ['dev 1 1 a', 'dev 2 2 d'],
      ['dev: d/1', 'dev: d/1'],
    ],
    [
      'equal ids in two files: both stay',
      { 'mini_dev_mysql.json': items([1, 'm']), 'mini_dev_sqlite.json': items([1, 's'], [2, 't']) },
      [
        'mini_dev_mysql mini_dev_mysql/1 1 m',
        'mini_dev_sqlite mini_dev_sqlite/1 1 s',
        'mini_dev_sqlite mini_dev_sqlite/2 2 t',
      ],
      [],
    ],
    [
      'a repeated id in one of two files',
      { 'dev.json': items([1, 'a'], [1, 'b']), 'test.json': items([1, 'c']) },
      ['dev dev/1 1 a', 'test test/1 1 c'],
      ['dev: d/1'],
    ],
    [
      'an id that reads like another file’s',
      { 'dev.json': items(['test/1', 'a'], [1, 'b']), 'test.json': items([1, 'c']) },
      ['dev dev/test/1 test/1 a', 'dev dev/1 1 b', 'test test/1 1 c'],
      [],
    ],
    [
      'equal ids for different databases',
      { 'dev.json': items([1, 'a'], [1, 'b', 'e']), 'test.json': items([2, 'c']) },
      ['dev 1 1 a', 'dev 1 1 b', 'test 2 2 c'],
      [],
    ],
    [
      'an id that the store cannot hold',
      { 'dev.json': items(['x\0', 'a'], ['\ud800', 'b'], [3, 'c']) },
      ['dev 3 3 c'],
      ['dev: d/x\ufffd', 'dev: d/\ufffd'],
    ],
  ])('%s', async (_, files, kept, refused) => {
    const { items: read, problems } = await readBenchmarkFolder(
      folder({ ...files, 'd.sqlite': good, 'e.sqlite': good }),
      { copies: copies() },
    );
    expect(
      read.map((entry) => `${entry.split} ${entry.questionId} ${sourceIdOf(entry)} ${entry.sql}`),
    ).toEqual(kept);
    expect(
      read.every(({ sql, question, evidence }) => sql === question && evidence === `of ${sql}`),
    ).toBe(true);
    expect(
      problems.filter(({ kind }) => kind.startsWith('item_')).map(({ subject }) => subject),
    ).toEqual(refused);
  });

  test('only the databases that are asked for are copied', async () => {
    const home = folder({
      'dev.json': items([1, 'a'], [2, 'b', 'e']),
      'd.sqlite': good,
      'e.sqlite': Buffer.alloc(10),
    });
    const target = copies();
    const read = await readBenchmarkFolder(home, { copies: target, databases: ['d'] });
    expect(read).toMatchObject({ databases: [{ name: 'd' }], items: [{ sql: 'a' }], problems: [] });
    expect(fs.readdirSync(target).sort()).toEqual(['d.sqlite', 'dev.json']);
    await expect(readBenchmarkFolder(home, { copies: copies(), databases: ['f'] })).rejects.toThrow(
      'there is no database "f" in the folder; these are: d, e',
    );
  });

  const damaged = Buffer.from(good);
  damaged.fill(0xff, 8192, 20_000);
  test.each<[string, Buffer, RegExp]>([
    ['0 bytes', Buffer.alloc(0), /holds no table/],
    ['text', Buffer.from('hello '.repeat(300)), /not an SQLite database, or it is encrypted/],
    ['damaged pages', damaged, /damaged/],
    ['half a file', good.subarray(0, good.length / 2), /damaged|malformed/],
  ])('a database of %s is reported by name, and its items with it', async (_, bytes, detail) => {
    const benchmark = await readBenchmarkFolder(
      folder({
        'dev.json': JSON.stringify([item, { ...item, question_id: 8, db_id: 'ok' }]),
        'd.sqlite': bytes,
        'ok.sqlite': good,
      }),
      { copies: copies() },
    );
    expect(benchmark.databases.map((entry) => entry.name)).toEqual(['ok']);
    expect(benchmark.problems.map((problem) => problem.kind)).toEqual([
      'database_unreadable',
      'item_without_database',
    ]);
    expect(benchmark.problems[0]!.detail).toMatch(detail);
  });

  test('names that could be paths are refused', async () => {
    const benchmark = await readBenchmarkFolder(
      folder({ 'dev.json': questions, 'd.sqlite': good, '...sqlite': good, 'a$b.sqlite': good }),
      { copies: copies() },
    );
    expect(benchmark.databases.map((entry) => entry.name)).toEqual(['d']);
  });
});

describe('archives', () => {
  function zip(build: (archive: ZipFile) => void): Promise<string> {
    const file = path.join(root, `z${++made}.zip`);
    const archive = new ZipFile();
    build(archive);
    archive.end();
    return new Promise((resolve, reject) =>
      archive.outputStream
        .pipe(fs.createWriteStream(file))
        .on('close', () => resolve(file))
        .on('error', reject),
    );
  }
  const limits = { maxBytes: 2 ** 24, maxEntries: 100, maxRatio: 200 };

  test('a folder in an archive is found', async () => {
    const file = await zip((archive) => {
      archive.addBuffer(Buffer.from(questions), 'bench/dev.json');
      archive.addBuffer(good, 'bench/dev_databases/d/d.sqlite');
    });
    const target = path.join(root, `t${++made}`);
    await extractBenchmarkZip(file, target, limits);
    expect((await readBenchmarkFolder(target, { copies: copies() })).items).toHaveLength(1);
  });

  /** Names that no honest writer would make are patched into the bytes, in both directories. */
  const renamed = (file: string, from: string, to: string): void => {
    const bytes = fs.readFileSync(file);
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1))
      bytes.write(to, at);
    fs.writeFileSync(file, bytes);
  };

  test.each<[string, () => Promise<string>, RegExp]>([
    ['text', async () => path.join(folder({ 'a.zip': 'hello' }), 'a.zip'), /cannot be unpacked/],
    [
      'an empty file',
      async () => path.join(folder({ 'a.zip': '' }), 'a.zip'),
      /cannot be unpacked/,
    ],
    [
      'a bomb',
      () => zip((archive) => archive.addBuffer(Buffer.alloc(2 ** 23), 'dev.json')),
      /zip bomb/,
    ],
    [
      'too much',
      () =>
        zip((archive) =>
          archive.addBuffer(Buffer.alloc(2 ** 24 + 1, Math.random().toString()), 'dev.json', {
            compress: false,
          }),
        ),
      /unpacks to more than/,
    ],
    [
      'too many entries',
      () =>
        zip((archive) => {
          for (let n = 0; n < 101; n++) archive.addBuffer(Buffer.from('x'), `f${n}`);
        }),
      /101 entries/,
    ],
    [
      'a link',
      () =>
        zip((archive) =>
          archive.addBuffer(Buffer.from('/etc/passwd'), 'dev.json', { mode: 0o120777 }),
        ),
      /link or a device/,
    ],
    [
      'a path that leaves the folder',
      async () => {
        const file = await zip((archive) => archive.addBuffer(Buffer.from('x'), 'aaa/bbb.json'));
        renamed(file, 'aaa/bbb.json', '../../b.json');
        return file;
      },
      /cannot be unpacked|leave the folder/,
    ],
    [
      'an absolute path',
      async () => {
        const file = await zip((archive) => archive.addBuffer(Buffer.from('x'), 'aaa/bbb.json'));
        renamed(file, 'aaa/bbb.json', '/tmp/bb.json');
        return file;
      },
      /cannot be unpacked|leave the folder/,
    ],
  ])('%s is refused and leaves nothing behind', async (_, build, message) => {
    const target = path.join(root, `t${++made}`);
    await expect(extractBenchmarkZip(await build(), target, limits)).rejects.toThrow(message);
    expect(fs.existsSync(target)).toBe(false);
  });
});
