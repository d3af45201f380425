import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import Sqlite from 'better-sqlite3';
import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateSampleBenchmark } from '../../sample/generate';
import type { DocumentDesign, Field } from '../design/model/document-design';
import { identity } from '../design/model/transform';
import { copySource } from '../sqlite/source/source-copy';
import {
  ConversionFixture,
  type ConvertedSource,
  type TestSource,
} from '../validation/test/conversion-fixture';
import { migrateScript } from './migrate-script';

let fixture: ConversionFixture;
let bundle: string;
beforeAll(async () => {
  fixture = await ConversionFixture.start();
  // Only the two packages can be found from here, as on the machine of someone who has just
  // unpacked a bundle.
  bundle = path.join(fixture.folder, 'bundle');
  fs.mkdirSync(path.join(bundle, 'node_modules'), { recursive: true });
  for (const name of ['better-sqlite3', 'mongodb'])
    fs.symlinkSync(path.resolve('node_modules', name), path.join(bundle, 'node_modules', name));
});
afterAll(() => fixture.stop());

async function folderOf(
  name: string,
  { design }: Pick<ConvertedSource, 'design'>,
  indexes: object = {},
): Promise<string> {
  const folder = path.join(bundle, 'databases', name);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'design.json'), JSON.stringify(design, null, 1));
  fs.writeFileSync(path.join(folder, 'indexes.json'), JSON.stringify(indexes));
  fs.writeFileSync(path.join(folder, 'migrate.mjs'), await migrateScript());
  return folder;
}

const run = async (folder: string, ...args: string[]): Promise<string> => {
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [path.join(folder, 'migrate.mjs'), ...args],
      { env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production' } },
    );
    return stdout;
  } catch (error) {
    throw new Error((error as { stderr: string }).stderr);
  }
};

/** The documents of every collection byte by byte, in their order, and the keys of its indexes. */
async function contents(db: Db): Promise<Record<string, unknown>> {
  const names = (await db.listCollections({}, { nameOnly: true }).toArray())
    .map(({ name }) => name)
    .sort();
  const out: Record<string, unknown> = {};
  for (const name of names) {
    const hash = createHash('sha256');
    let documents = 0;
    for await (const raw of db.collection(name).find({}, { raw: true, hint: { $natural: 1 } })) {
      hash.update(raw as unknown as Uint8Array);
      documents++;
    }
    out[name] = {
      documents,
      sha256: hash.digest('hex'),
      indexes: (await db.collection(name).indexes()).map(({ key }) => key as unknown),
    };
  }
  return out;
}

async function expectSame(
  name: string,
  source: TestSource,
  change?: (design: DocumentDesign) => DocumentDesign,
): Promise<void> {
  const converted = await fixture.convert(source, change ? { change } : {});
  const folder = await folderOf(name, converted);
  const database = `standalone_${name}`;
  await run(folder, '--source', converted.sourcePath, '--uri', fixture.uri, '--database', database);
  expect(await contents(fixture.mongo.db(database))).toEqual(await contents(converted.db));
}

const edges = `CREATE TABLE p (id INTEGER PRIMARY KEY, v, day TEXT); CREATE TABLE c (p_id INTEGER REFERENCES p(id), n REAL, "a.b" TEXT); CREATE TABLE o (p_id INTEGER REFERENCES p(id), n);
  INSERT INTO p VALUES (1, 9223372036854775807, '2024-01-02'), (2, x'00ff', NULL), (3, 1.5, '2024-01-03'), (4, '', NULL), (5, 'a ', NULL);
  INSERT INTO c VALUES (1, 9e999, 'x'), (3, -0.0, NULL); INSERT INTO o VALUES (1, 5), (99, 3000000000), (NULL, 'x');`;

describe('migrate.mjs builds the documents of the bundle, byte by byte', () => {
  test('edge values, retyped and computed fields, copies', () =>
    expectSame('edges', edges, (design) => ({
      ...design,
      logical: design.logical.map((logical) => {
        const relationship = 'o(p_id)->p(id)';
        const join = [{ parent: 'id', child: 'p_id' }];
        const fields = logical.fields.map((field): Field =>
          field.kind === 'column' && field.column === 'day'
            ? { ...field, transform: { kind: 'date', format: 'YYYY-MM-DD' } }
            : field,
        );
        const more: Field =
          logical.rootTable === 'p'
            ? {
                kind: 'computed',
                name: 'orders',
                table: 'o',
                relationship,
                join,
                aggregate: 'count',
              }
            : {
                kind: 'extendedReference',
                name: 'of',
                table: 'p',
                relationship,
                join,
                fields: [{ kind: 'column', name: 'v', column: 'v', transform: identity }],
              };
        return { ...logical, fields: [...fields, more] };
      }),
    })));

  test('the sample benchmark', async () => {
    const folder = path.join(fixture.folder, 'sample');
    generateSampleBenchmark(folder);
    const files = fs
      .readdirSync(folder, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.sqlite'));
    expect(files.length).toBeGreaterThan(0);
    for (const [at, file] of files.entries())
      await expectSame(`sample${at}`, { file: path.join(folder, file) });
  }, 60_000);

  const data = path.resolve('../shared/data');
  const real = [
    'bird/dev_databases/superhero/superhero.sqlite',
    ...['bike_1', 'car_1', 'pets_1', 'world_1'].map(
      (name) => `spider/database/${name}/${name}.sqlite`,
    ),
  ]
    .map((file) => path.join(data, file))
    .filter((file) => fs.existsSync(file));
  test.skipIf(real.length === 0)(
    'superhero and databases of Spider (skipped where ../shared/data is absent)',
    async () => {
      for (const file of real) await expectSame(path.basename(file, '.sqlite'), { file });
    },
    180_000,
  );
});

describe('what can be put right is said', () => {
  let converted: ConvertedSource;
  let folder: string;
  beforeAll(async () => {
    converted = await fixture.convert(edges);
    folder = await folderOf('errors', converted, { p: [{ key: { v: 1 } }] });
  });
  const args = (change: Record<string, string> = {}): string[] =>
    Object.entries({
      '--source': converted.sourcePath,
      '--uri': fixture.uri,
      '--database': 'standalone_errors',
      ...change,
    }).flat();

  test('progress and indexes; a database that is there already; --drop', async () => {
    expect(await run(folder, ...args())).toMatch(/^p: 5 documents \(/m);
    expect(
      (await fixture.mongo.db('standalone_errors').collection('p').indexes()).map(
        ({ key }) => key as unknown,
      ),
    ).toEqual([{ _id: 1 }, { v: 1 }]);
    await expect(run(folder, ...args())).rejects.toThrow(
      'standalone_errors holds a collection p already: choose another database, or give --drop',
    );
    await run(folder, ...args(), '--drop');
  });

  test('killed, it goes on where it was, with the same documents; another source does not', async () => {
    const many = await fixture.convert(
      'CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ' +
        "ALL SELECT i + 1 FROM n WHERE i < 60000) INSERT INTO t SELECT i, printf('%.200c', " +
        "'x') FROM n;",
    );
    const home = await folderOf('resumed', many);
    const given = args({ '--source': many.sourcePath, '--database': 'standalone_resumed' });
    const db = fixture.mongo.db('standalone_resumed');
    const child = spawn(process.execPath, [path.join(home, 'migrate.mjs'), ...given], {
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await expect
      .poll(() => db.collection('t').estimatedDocumentCount(), { timeout: 30_000, interval: 5 })
      .toBeGreaterThan(0);
    child.kill('SIGKILL');
    await ended;
    expect((await db.listCollections().toArray()).map(({ name }) => name)).toContain(
      'aptmql_migration_progress',
    );
    await expect(run(home, ...args({ '--database': 'standalone_resumed' }))).rejects.toThrow(
      'of a run with another source or design',
    );
    expect(await run(home, ...given)).toContain('going on from there');
    expect(await contents(db)).toEqual(await contents(many.db));
  }, 60_000);

  test('arguments and files', async () => {
    await expect(run(folder)).rejects.toThrow('--source, --uri and --database are needed');
    await expect(run(folder, '--wrong')).rejects.toThrow("Unknown option '--wrong'");
    await expect(run(folder, ...args({ '--source': '/nowhere.sqlite' }))).rejects.toThrow(
      'there is no file /nowhere.sqlite',
    );
    await expect(
      run(folder, ...args({ '--source': path.join(folder, 'design.json') })),
    ).rejects.toThrow('the file is not an SQLite database');
    await expect(run(folder, ...args({ '--uri': 'nonsense' }))).rejects.toThrow(
      /^migrate: Invalid scheme/,
    );
    expect(await run(folder, '--help')).toMatch(/^usage: node migrate.mjs/);
  });

  test('a source with a -wal file: its rows are there, the hash is that of the bundle, nothing beside it changes', async () => {
    const converted = await fixture.convert(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a')",
    );
    const home = fs.mkdtempSync(path.join(fixture.folder, 'wal-'));
    const writer = new Sqlite(path.join(home, 'open.sqlite'));
    writer.pragma('journal_mode = WAL');
    writer.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a')");
    writer.pragma('wal_checkpoint(TRUNCATE)');
    writer.exec("INSERT INTO t VALUES (2, 'b'), (3, 'c')");
    const source = path.join(home, 'd.sqlite');
    for (const suffix of ['', '-wal'])
      fs.copyFileSync(path.join(home, `open.sqlite${suffix}`), source + suffix);
    writer.close();
    const before = fs.readdirSync(home);
    const { sha256 } = await copySource(source, path.join(fixture.folder, 'copy.sqlite'));
    const folder = await folderOf('wal', converted);
    const manifest = path.join(bundle, 'MANIFEST.json');
    fs.writeFileSync(manifest, JSON.stringify({ sources: [{ database: 'wal', sha256 }] }));
    try {
      await run(folder, '--source', source, '--uri', fixture.uri, '--database', 'standalone_wal');
    } finally {
      fs.rmSync(manifest);
    }
    expect(await fixture.mongo.db('standalone_wal').collection('t').countDocuments()).toBe(3);
    expect(fs.readdirSync(home)).toEqual(before);
  });

  test('a source that is not the bundle’s', async () => {
    fs.writeFileSync(
      path.join(bundle, 'MANIFEST.json'),
      JSON.stringify({ sources: [{ database: 'errors', sha256: 'f'.repeat(64) }] }),
    );
    await expect(run(folder, ...args(), '--drop')).rejects.toThrow(
      'is not the file that the bundle was made from',
    );
    await run(folder, ...args(), '--drop', '--any-source');
    fs.rmSync(path.join(bundle, 'MANIFEST.json'));
  });
});
