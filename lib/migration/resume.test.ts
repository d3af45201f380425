import Database from 'better-sqlite3';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Collection, Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deriveDesign } from '../design/logical/logical';
import { proposeDesign } from '../design/propose/propose';
import { connectMongo } from '../mongo/client';
import { start as startMongoServer } from 'mongo-embedded';
import { catalogOf } from '../sqlite/schema/introspect';
import { openSource } from '../sqlite/open';
import { profileDatabase } from '../sqlite/profile/profile-database';
import { migrate, type Migration, type MigrationInput } from './migrate';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-resume-'));
let server: Awaited<ReturnType<typeof startMongoServer>>;
let mongo: MongoClient;
let input: Omit<MigrationInput, 'mongo' | 'prefix'>;
beforeAll(async () => {
  server = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
  mongo = await connectMongo(server.uri);
  input = source();
});
afterAll(async () => {
  await mongo.close();
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

/**
 * Three collections of several batches: embedded rows, ordinals, and a key of two columns whose
 * order is not insertion's.
 */
function source(): typeof input {
  const sourcePath = path.join(folder, 'source.sqlite');
  const writer = new Database(sourcePath);
  writer.pragma('foreign_keys = OFF');
  writer.exec(`
    CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT);
    CREATE TABLE c (p_id INTEGER REFERENCES p(id), v TEXT);
    CREATE TABLE "lo.g" (v TEXT, n REAL);
    CREATE TABLE w (a TEXT COLLATE NOCASE, b REAL, v, PRIMARY KEY (a, b)) WITHOUT ROWID;`);
  writer.transaction(() => {
    for (let n = 0; n < 1300; n++) {
      writer.prepare('INSERT INTO p VALUES (?, ?)').run(n * 2, `p${n}`);
      if (n % 3)
        writer
          .prepare('INSERT INTO c VALUES (?, ?), (?, ?)')
          .run((1300 - n) * 2 - 2, `c${n}`, n * 2, 'x');
      writer.prepare('INSERT INTO "lo.g" VALUES (?, ?)').run(n % 7 ? 'again' : null, n / 3);
      writer
        .prepare('INSERT INTO w VALUES (?, ?, ?)')
        .run(`${n % 2 ? 'K' : 'k'}${(n * 7919) % 1000}`, n / 2, BigInt(n) * 4_000_000_000n);
    }
  })();
  writer.close();
  const sqlite = openSource(sourcePath);
  const catalog = catalogOf(sqlite, { name: 's', sha256: 's', descriptions: {} });
  const profile = profileDatabase(sqlite, catalog);
  sqlite.close();
  const workload = { database: 's', patterns: [], unread: [] };
  const { design: conceptual } = proposeDesign({
    catalog,
    profile,
    workload,
    strategy: 'access-pattern',
    limits: { maxArrayP99: 100, maxArray: 1000 },
    directives: [],
  });
  return {
    sourcePath,
    catalog,
    design: deriveDesign({ conceptual, catalog, profile, directives: [] }),
    indexes: { p: [{ key: { v: 1 }, reason: '' }] },
    signal: new AbortController().signal,
  };
}

class Killed extends Error {}
type When = 'before it reaches the server' | 'in the middle of it' | 'before its answer';

/** A client that ends at its n-th write, as a killed process does: at, within, or after it. */
function killedAt(n: number, when: When): MongoClient {
  let writes = 0;
  const write = async (
    collection: Collection,
    name: 'insertMany' | 'replaceOne' | 'deleteMany',
    args: unknown[],
  ): Promise<unknown> => {
    if (++writes > n) throw new Killed();
    const call = (...given: unknown[]): Promise<unknown> =>
      (collection[name] as (...all: unknown[]) => Promise<unknown>).call(collection, ...given);
    if (writes < n) return call(...args);
    if (when === 'in the middle of it' && name === 'insertMany')
      await call((args[0] as object[]).slice(0, 377), args[1]);
    else if (when === 'before its answer') await call(...args);
    throw new Killed();
  };
  const wrapped = <T extends object>(object: T, own: (name: string) => unknown): T =>
    new Proxy(object, {
      get: (target, name) => {
        const found = own(String(name)) ?? (Reflect.get(target, name) as unknown);
        return typeof found === 'function' ? (found as () => unknown).bind(target) : found;
      },
    });
  const collection = (target: Collection): Collection =>
    wrapped(target, (name) =>
      name === 'insertMany' || name === 'replaceOne' || name === 'deleteMany'
        ? (...args: unknown[]) => write(target, name, args)
        : undefined,
    );
  const database = (target: Db): Db =>
    wrapped(target, (name) =>
      name === 'collection'
        ? (...args: [string]) => collection(target.collection(...args))
        : undefined,
    );
  return wrapped(mongo, (name) =>
    name === 'db' ? (...args: [string]) => database(mongo.db(...args)) : undefined,
  );
}

async function contents({ mongoDatabase, ...counted }: Migration): Promise<unknown> {
  const db = mongo.db(mongoDatabase);
  const names = (await db.listCollections({}, { nameOnly: true }).toArray())
    .map(({ name }) => name)
    .sort();
  const all = await Promise.all(
    names.map(async (name) => [
      name,
      await db
        .collection(name)
        .find({}, { hint: { $natural: 1 }, promoteValues: false })
        .toArray(),
      (await db.collection(name).indexes()).map((index) => index.key as unknown),
    ]),
  );
  return { counted, all: JSON.stringify(all) };
}

describe('an interrupted migration goes on where it stopped, with the result of an uninterrupted one', () => {
  const writes = Array.from({ length: 22 }, (_, index) => index + 1);
  test.each<When>(['before it reaches the server', 'in the middle of it', 'before its answer'])(
    'killed at any write, %s',
    async (when) => {
      const expected = await contents(await migrate({ ...input, mongo, prefix: 'whole' }));
      let interrupted = 0;
      for (const n of writes) {
        const prefix = `k${n}_${when.split(' ').at(-1)!}`;
        await migrate({ ...input, mongo: killedAt(n, when), prefix }).then(
          () => undefined,
          (error: unknown) => {
            if (!(error instanceof Killed)) throw error;
            interrupted++;
          },
        );
        expect(await contents(await migrate({ ...input, mongo, prefix })), `write ${n}`).toEqual(
          expected,
        );
      }
      // Every write of the migration was tried: the last numbers are beyond it.
      expect(interrupted).toBeGreaterThan(14);
      expect(interrupted).toBeLessThan(writes.length);
    },
    120_000,
  );

  test('it does not start over: only what is missing is inserted', async () => {
    await expect(
      migrate({ ...input, mongo: killedAt(9, 'before its answer'), prefix: 'saved' }),
    ).rejects.toThrow(Killed);
    const inserted: number[] = [];
    const watched = new Proxy(mongo, {
      get: (target, name) => {
        if (name !== 'db') return Reflect.get(target, name) as unknown;
        return (...args: [string]) =>
          new Proxy(target.db(...args), {
            get: (db, inner) => {
              if (inner !== 'collection') {
                const found = Reflect.get(db, inner) as unknown;
                return typeof found === 'function' ? (found as () => unknown).bind(db) : found;
              }
              return (collectionName: string) => {
                const collection = db.collection(collectionName);
                const insertMany = collection.insertMany.bind(collection);
                collection.insertMany = (documents, options) => (
                  inserted.push(documents.length),
                  insertMany(documents, options)
                );
                return collection;
              };
            },
          });
      },
    });
    await migrate({ ...input, mongo: watched, prefix: 'saved' });
    const total = inserted.reduce((sum, n) => sum + n, 0);
    expect(total).toBeGreaterThan(0);
    expect(total).toBeLessThan(3900 - 1000);
  });

  test('killed twice, and half-written state that is not as recorded starts the collection over', async () => {
    const expected = await contents(await migrate({ ...input, mongo, prefix: 'whole' }));
    await expect(
      migrate({ ...input, mongo: killedAt(6, 'in the middle of it'), prefix: 'twice' }),
    ).rejects.toThrow(Killed);
    await expect(
      migrate({ ...input, mongo: killedAt(5, 'before its answer'), prefix: 'twice' }),
    ).rejects.toThrow(Killed);
    const name = (await mongo.db().admin().listDatabases()).databases
      .map((database) => database.name)
      .find((database) => database.startsWith('twice_s_'))!;
    await mongo.db(name).collection<{ _id: number }>('p').deleteOne({ _id: 4 });
    expect(await contents(await migrate({ ...input, mongo, prefix: 'twice' }))).toEqual(expected);
  });
});
