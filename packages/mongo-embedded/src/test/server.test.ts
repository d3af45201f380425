import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import {
  BSON,
  Decimal128,
  Double,
  Int32,
  Long,
  MongoClient,
  MongoServerError,
  type Collection,
  type Db,
  type Document,
  type MongoBulkWriteError,
  type WriteError,
} from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from './connect';
import { start, type EmbeddedServer } from '../start';
import { packageFolder, typescriptArguments } from '../installation';

let folder: string;
let server: EmbeddedServer;
let client: MongoClient;
let db: Db;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'mongo-embedded-server-'));
  server = await start({ dataDir: folder });
  client = await connect(server.uri);
  db = client.db('test');
});
afterAll(async () => {
  await client.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const failure = async (work: Promise<unknown>): Promise<MongoServerError> => {
  const error: unknown = await work.then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(MongoServerError);
  return error as MongoServerError;
};

describe('connecting', () => {
  it('needs the credential', async () => {
    const wrong = new MongoClient(server.uri.replace(/:[0-9a-f]{20,}@/, ':wrong@'), {
      serverSelectionTimeoutMS: 3000,
    });
    await expect(wrong.connect()).rejects.toThrow(/Authentication failed/);
    await wrong.close();
    const none = new MongoClient(
      server.uri.replace(/\/\/[^@]+@/, '//').replace(/\?.*/, '?directConnection=true'),
    );
    expect((await failure(none.db('test').collection('a').findOne())).code).toBe(13);
    await none.close();
  });

  it('answers what drivers and shells ask', async () => {
    const admin = client.db('admin');
    expect((await admin.command({ buildInfo: 1 })).version).toMatch(/^8\.0/);
    for (const command of [
      'ping',
      'hello',
      'connectionStatus',
      'listDatabases',
      'hostInfo',
      'serverStatus',
      'getCmdLineOpts',
    ]) {
      expect(Number((await admin.command({ [command]: 1 })).ok)).toBe(1);
    }
    expect((await failure(admin.command({ nonsense: 1 }))).code).toBe(59);
  });

  it('answers what mongosh asks when it connects, and for its statistics', async () => {
    const admin = client.db('admin');
    expect(
      await client
        .db('admin')
        .aggregate([{ $match: { a: 1 } }])
        .toArray()
        .catch((e: MongoServerError) => e.code),
    ).toBe(73);
    expect(
      await client
        .db('local')
        .collection('atlascli')
        .aggregate([{ $match: { managedClusterType: 'x' } }])
        .toArray(),
    ).toEqual([]);
    expect(Number((await admin.command({ getParameter: '*' })).ok)).toBe(1);
    expect(
      (await admin.command({ getParameter: 1, featureCompatibilityVersion: 1 }))
        .featureCompatibilityVersion,
    ).toEqual({ version: '8.0' });
    expect((await admin.command({ getLog: 'startupWarnings' })).log).toEqual([]);
    // Only MongoDB's hosted service knows this one, and the shell counts on the error.
    expect((await failure(admin.command({ atlasVersion: 1 }))).code).toBe(59);
    const c = client.db('shell').collection<{ _id: number }>('items');
    await c.insertMany(Array.from({ length: 10 }, (_, i) => ({ _id: i, text: 'x'.repeat(200) })));
    await c.createIndex({ text: 1 });
    const [stats] = await c
      .aggregate([{ $collStats: { storageStats: { scale: 1024 }, count: {} } }])
      .toArray();
    expect(stats).toMatchObject({
      ns: 'shell.items',
      count: 10,
      storageStats: {
        count: 10,
        size: 2,
        avgObjSize: 225,
        nindexes: 2,
        capped: false,
        scaleFactor: 1024,
      },
    });
    expect(await client.db('shell').command({ dbStats: 1, scale: 1024 })).toMatchObject({
      db: 'shell',
      objects: 10,
      dataSize: 2250 / 1024,
      indexes: 2,
      scaleFactor: 1024,
    });
    expect((await failure(client.db('shell').command({ dbStats: 1, scale: 0 }))).code).toBe(2);
    expect(
      (
        await failure(
          client
            .db('shell')
            .collection('none')
            .aggregate([{ $collStats: { storageStats: {} } }])
            .toArray(),
        )
      ).code,
    ).toBe(26);
    expect(
      (await failure(c.aggregate([{ $match: {} }, { $collStats: { count: {} } }]).toArray())).code,
    ).toBe(40602);
    const { databases } = await admin.command({ listDatabases: 1 });
    expect((databases as { name: string }[]).map((d) => d.name)).toContain('shell');
    expect(await client.db('shell').dropDatabase()).toBe(true);
  });

  it('drops a connection that speaks nonsense and lives on', async () => {
    const port = Number(new URL(server.uri).port);
    for (const bytes of [
      Buffer.from([255, 255, 255, 127, 0, 0]),
      Buffer.from([5, 0, 0, 0]),
      Buffer.concat([
        Buffer.from([40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xdd, 7, 0, 0]),
        Buffer.alloc(24, 7),
      ]),
    ]) {
      await new Promise<void>((resolve) => {
        const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes));
        socket.on('close', () => resolve()).on('error', () => undefined);
        setTimeout(() => socket.destroy(), 500);
      });
    }
    expect(Number((await client.db('admin').command({ ping: 1 })).ok)).toBe(1);
  });

  it('is found, not started twice, by another process', async () => {
    const script = path.join(folder, 'second.mts');
    writeFileSync(
      script,
      `import { start } from ${JSON.stringify(path.join(packageFolder(), 'src/start.ts'))};
       const s = await start({ dataDir: ${JSON.stringify(folder)} });
       console.log(s.uri); await s.stop();`,
    );
    const child = spawn(process.execPath, [...typescriptArguments(), script], {
      cwd: packageFolder(),
    });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    await new Promise((resolve) => child.on('exit', resolve));
    expect(out.trim()).toBe(server.uri);
    expect(Number((await client.db('admin').command({ ping: 1 })).ok)).toBe(1);
  });

  it('names the port or folder in the way', async () => {
    const other = mkdtempSync(path.join(os.tmpdir(), 'mongo-embedded-server-'));
    const port = Number(new URL(server.uri).port);
    await expect(start({ dataDir: other, port })).rejects.toThrow(String(port));
    const file = path.join(other, 'file');
    writeFileSync(file, '');
    await expect(start({ dataDir: file })).rejects.toThrow(file);
    rmSync(other, { recursive: true });
  });
});

describe('data', () => {
  it('keeps every document byte for byte', async () => {
    const scalar = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.integer().map((n) => new Int32(n)),
      fc.double().map((d) => new Double(d)),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => Long.fromBigInt(n)),
      fc.boolean(),
      fc.constant(null),
      fc.date({ noInvalidDate: true }),
      fc.uint8Array({ maxLength: 20 }).map((b) => new BSON.Binary(b)),
      fc.uint8Array({ minLength: 12, maxLength: 12 }).map((b) => new BSON.ObjectId(b)),
      fc
        .constantFrom('1', '0.10', '-1E+6000', 'NaN', '-Infinity', '1.000')
        .map((t) => Decimal128.fromString(t)),
      fc.constantFrom(
        new BSON.MinKey(),
        new BSON.MaxKey(),
        new BSON.BSONRegExp('a.b', 'im'),
        new BSON.Timestamp({ t: 5, i: 6 }),
      ),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        scalar,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(
          fc.string({ maxLength: 5 }).filter((k) => !k.includes('\0')),
          tie('value'),
          { maxKeys: 4 },
        ),
      ),
    }));
    const collection = db.collection('bytes', { raw: true } as object);
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 5 }), async (values) => {
        await collection.deleteMany({});
        const documents = values.map((v, i) => ({ _id: i as never, v }));
        await collection.insertMany(documents as Document[]);
        const raw = (await collection.find({}, { raw: true }).toArray()) as unknown as Buffer[];
        expect(raw.map((b) => Buffer.from(b).toString('hex'))).toEqual(
          documents.map((d) => Buffer.from(BSON.serialize(d)).toString('hex')),
        );
      }),
      { numRuns: 40 },
    );
  });

  it('reports duplicate keys, ordered and unordered', async () => {
    const c = db.collection('duplicates');
    await c.createIndex({ 'a.b': 1 }, { unique: true });
    await c.insertOne({ _id: 1 as never, a: { b: 1 } });
    const error = await failure(c.insertOne({ _id: 2 as never, a: { b: 1 } }));
    expect(error.code).toBe(11000);
    expect(error.errorResponse).toMatchObject({ keyPattern: { 'a.b': 1 }, keyValue: { 'a.b': 1 } });
    const many = [
      { _id: 1 },
      { _id: 3, a: { b: 3 } },
      { _id: 4, a: { b: 4 } },
    ] as unknown as Document[];
    await failure(c.insertMany(many));
    expect(await c.countDocuments()).toBe(1);
    await failure(c.insertMany(many, { ordered: false }));
    expect(await c.countDocuments()).toBe(3);
  });

  it('inserts many, and says which were duplicates', async () => {
    const c = db.collection<{ _id: number; v?: number }>('many');
    const docs = Array.from({ length: 100 }, (_, i) => ({ _id: i === 40 || i === 77 ? 3 : i }));
    const indexesOf = (e: MongoBulkWriteError): number[] =>
      ([] as WriteError[]).concat(e.writeErrors).map((w) => w.index);
    const ordered = (await c.insertMany(docs).catch((e: unknown) => e)) as MongoBulkWriteError;
    expect([ordered.code, ordered.insertedCount, indexesOf(ordered)]).toEqual([11000, 40, [40]]);
    expect(await c.countDocuments()).toBe(40);
    await c.deleteMany({});
    const unordered = (await c
      .insertMany(docs, { ordered: false })
      .catch((e: unknown) => e)) as MongoBulkWriteError;
    expect([unordered.insertedCount, indexesOf(unordered)]).toEqual([98, [40, 77]]);
    // The natural order is that of insertion.
    expect((await c.find().toArray()).map((d) => d._id)).toEqual(
      docs.map((d) => d._id).filter((id, i) => id !== 3 || i === 3),
    );
    const own = db.collection('many ids of the server');
    await db.command({
      insert: own.collectionName,
      documents: Array.from({ length: 40 }, (_, v) => ({ v })),
    });
    expect(
      await own
        .find({ _id: { $type: 'objectId' } })
        .map((d) => d.v as number)
        .toArray(),
    ).toEqual(Array.from({ length: 40 }, (_, v) => v));
  });

  it('writes to several collections with one bulkWrite', async () => {
    const [a, b] = ['bulk.a', 'bulk.b'].map((name) =>
      db.collection<{ _id: number; v: number }>(name),
    ) as [Collection<{ _id: number; v: number }>, Collection<{ _id: number; v: number }>];
    const done = await client.bulkWrite<Record<string, { _id: number; v: number }>>(
      [
        { namespace: a.namespace, name: 'insertOne', document: { _id: 1, v: 1 } },
        { namespace: b.namespace, name: 'insertOne', document: { _id: 2, v: 2 } },
        {
          namespace: a.namespace,
          name: 'updateOne',
          filter: { _id: 1 },
          update: { $inc: { v: 10 } },
        },
        {
          namespace: b.namespace,
          name: 'updateMany',
          filter: { _id: 9 },
          update: [{ $set: { v: 5 } }],
          upsert: true,
        },
        { namespace: b.namespace, name: 'deleteMany', filter: { v: 2 } },
      ],
      { verboseResults: true },
    );
    expect([
      done.insertedCount,
      done.matchedCount,
      done.modifiedCount,
      done.upsertedCount,
      done.deletedCount,
    ]).toEqual([2, 1, 1, 1, 1]);
    expect(done.updateResults?.get(3)?.upsertedId).toBe(9);
    expect([await a.find().toArray(), await b.find().toArray()]).toEqual([
      [{ _id: 1, v: 11 }],
      [{ _id: 9, v: 5 }],
    ]);
    const reply = await client.db('admin').command({
      bulkWrite: 1,
      ops: [
        { insert: 0, document: { _id: 1 } },
        { insert: 0, document: { _id: 5 } },
        { update: 0, filter: { _id: 5 }, updateMods: { $set: { _id: 6 } } },
      ],
      nsInfo: [{ ns: a.namespace }],
      ordered: false,
      errorsOnly: true,
    });
    expect(reply).toMatchObject({
      nErrors: 2,
      nInserted: 1,
      nMatched: 0,
      cursor: {
        id: Long.ZERO.toInt(),
        firstBatch: [
          { ok: 0, idx: 0, code: 11000, n: 0 },
          { ok: 0, idx: 2, code: 66, n: 0, nModified: 0 },
        ],
      },
    });
    expect(
      (
        await failure(
          client.db('admin').command({
            bulkWrite: 1,
            ops: [{ insert: 3, document: {} }],
            nsInfo: [{ ns: a.namespace }],
            extra: 1,
          }),
        )
      ).code,
    ).toBe(40415);
  });

  it('refuses documents over 16 MB', async () => {
    const error = await c16(17 * 1024 * 1024);
    expect(String(error)).toMatch(/too large|larger|out of range/i);
    expect(await c16(15 * 1024 * 1024)).toBeNull();
    const pipeline = [
      { $match: { k: 15728640 } },
      { $project: { both: [{ $concat: ['$text', 'x'] }, '$text'] } },
    ];
    expect((await failure(db.collection('large').aggregate(pipeline).toArray())).code).toBe(10334);
  });
  const c16 = (size: number): Promise<unknown> =>
    db
      .collection('large')
      .insertOne({ k: size, text: 'x'.repeat(size) })
      .then(
        () => null,
        (e: unknown) => e,
      );

  it('updates with operators, positions, filters and pipelines', async () => {
    const c = db.collection<{
      _id: number;
      n?: number;
      x?: number;
      y?: number;
      z?: number;
      total?: number;
      list?: { k: number; v: number }[];
      tags?: string[];
    }>('updates');
    await c.insertOne({
      _id: 1,
      n: 1,
      list: [
        { k: 1, v: 1 },
        { k: 2, v: 2 },
      ],
      tags: ['a', 'b', 'c'],
    });
    await c.updateOne({ 'list.k': 2 }, {
      $inc: { n: 2, 'list.$.v': 10 },
      $push: { tags: { $each: ['d', '0'], $sort: 1, $slice: 3 } },
      $unset: { gone: '' },
    } as object);
    expect(await c.findOne()).toEqual({
      _id: 1,
      n: 3,
      list: [
        { k: 1, v: 1 },
        { k: 2, v: 12 },
      ],
      tags: ['0', 'a', 'b'],
    });
    await c.updateOne(
      {},
      { $set: { 'list.$[e].v': 0 }, $pull: { tags: { $in: ['a', '0'] } } },
      { arrayFilters: [{ 'e.k': { $gt: 1 } }] },
    );
    await c.updateOne({}, [{ $set: { total: { $sum: '$list.v' } } }, { $unset: 'n' }]);
    expect(await c.findOne()).toEqual({
      _id: 1,
      list: [
        { k: 1, v: 1 },
        { k: 2, v: 0 },
      ],
      tags: ['b'],
      total: 1,
    });
    const upserted = await c.updateOne(
      { _id: 2, x: { $gt: 1 }, y: 5 },
      { $setOnInsert: { z: 1 } },
      { upsert: true },
    );
    expect(upserted.upsertedId).toBe(2);
    expect(await c.findOne({ _id: 2 })).toEqual({ _id: 2, y: 5, z: 1 });
    expect((await failure(c.updateOne({ _id: 1 }, { $set: { _id: 3 } }))).code).toBe(66);
    expect(
      (await failure(c.updateOne({}, { $set: { a: 1 }, $inc: { 'a.b': 1 } } as object))).code,
    ).toBe(40);
    expect((await failure(c.updateOne({}, { $nonsense: { a: 1 } } as object))).message).toMatch(
      /\$nonsense.*a MongoDB server is needed/,
    );
  });

  it('projects what only find knows', async () => {
    const c = db.collection('projections');
    await c.insertOne({
      _id: 1 as never,
      a: [1, 5, 9],
      d: [
        { k: 1, v: 1 },
        { k: 2, v: 2 },
        { k: 2, v: 3 },
      ],
      z: 0,
    });
    const project = async (filter: Document, projection: Document): Promise<unknown> =>
      c.findOne(filter, { projection });
    expect(await project({ a: { $gt: 3 } }, { 'a.$': 1 })).toEqual({ _id: 1, a: [5] });
    expect(await project({ 'd.k': 2 }, { _id: 0, 'd.$': 1, z: 1 })).toEqual({
      d: [{ k: 2, v: 2 }],
      z: 0,
    });
    expect(await project({}, { d: { $elemMatch: { k: 2, v: { $gt: 2 } } } })).toEqual({
      _id: 1,
      d: [{ k: 2, v: 3 }],
    });
    expect(await project({}, { a: { $slice: -2 }, d: 0 })).toEqual({ _id: 1, a: [5, 9], z: 0 });
    expect(await project({}, { a: { $slice: [1, 1] }, d: 0 })).toEqual({ _id: 1, a: [5], z: 0 });
    expect(await project({}, { sum: { $sum: '$a' } })).toEqual({ _id: 1, sum: 15 });
  });

  it('pages with cursors and forgets killed ones', async () => {
    const c = db.collection('pages');
    await c.insertMany(Array.from({ length: 1000 }, (_, i) => ({ i })));
    const cursor = c.find({}, { batchSize: 7, sort: { i: -1 } });
    const seen: number[] = [];
    for await (const d of cursor) seen.push(d.i as number);
    expect(seen).toEqual(Array.from({ length: 1000 }, (_, i) => 999 - i));
    const open = await db.command({ find: 'pages', batchSize: 2 });
    const { id } = open.cursor as { id: Long };
    await db.command({ killCursors: 'pages', cursors: [id] });
    expect((await failure(db.command({ getMore: id, collection: 'pages' }))).code).toBe(43);
  });
});

describe('limits', () => {
  const slow = [
    {
      $match: {
        $expr: {
          $gt: [
            {
              $size: {
                $filter: {
                  input: { $range: [0, { $add: [200_000, '$i'] }] },
                  cond: { $eq: [{ $mod: ['$$this', 2] }, 1] },
                },
              },
            },
            0,
          ],
        },
      },
    },
  ];

  it('stops what takes too long, even inside a regular expression', async () => {
    const c = db.collection('pages');
    const error = await failure(c.aggregate(slow, { maxTimeMS: 150 }).toArray());
    expect([error.code, error.codeName]).toEqual([50, 'MaxTimeMSExpired']);
    await db.collection('regex').insertOne({ s: `${'a'.repeat(64)}b` });
    expect(
      (
        await failure(
          db
            .collection('regex')
            .find({ s: /^(a+)+$/ }, { maxTimeMS: 200 })
            .toArray(),
        )
      ).code,
    ).toBe(50);
    expect(await c.countDocuments()).toBe(1000);
  });

  it('answers others meanwhile, and stops when the client leaves', async () => {
    const c = db.collection('pages');
    const leaving = new MongoClient(server.uri);
    const running = leaving
      .db('test')
      .collection('pages')
      .aggregate(slow)
      .toArray()
      .catch(() => 'left');
    await new Promise((resolve) => setTimeout(resolve, 200));
    const started = Date.now();
    expect(Number((await db.command({ ping: 1 })).ok)).toBe(1);
    expect(await c.findOne({ i: 5 })).toMatchObject({ i: 5 });
    await db.collection('other').insertOne({ a: 1 });
    // The slow query takes far longer, also on a busy machine.
    expect(Date.now() - started).toBeLessThan(8000);
    await leaving.close(true);
    expect(await running).toBe('left');
  });
});

describe('indexes', () => {
  it('are used, and explain says so', async () => {
    const c = db.collection('indexed');
    await c.insertMany(
      Array.from({ length: 500 }, (_, i) => ({ a: i % 50, b: { c: i }, list: [i, i + 1] })),
    );
    await c.createIndex({ a: 1, 'b.c': -1 });
    await c.createIndex({ list: 1 });
    const stats = async (filter: Document): Promise<number[]> => {
      const { executionStats: s } = await c.find(filter).explain('executionStats');
      return [s.nReturned, s.totalKeysExamined, s.totalDocsExamined].map(Number);
    };
    expect(await stats({ a: 7 })).toEqual([10, 10, 10]);
    expect(await stats({ a: { $in: [7, 8] }, 'b.c': { $lt: 100 } })).toEqual([4, 4, 4]);
    expect(await stats({ list: 100 })).toEqual([2, 2, 2]);
    expect(await stats({ nothing: 1 })).toEqual([0, 0, 500]);
    const { executionStats } = await c
      .find()
      .sort({ a: -1, 'b.c': -1 })
      .limit(3)
      .explain('executionStats');
    expect([executionStats.totalKeysExamined, executionStats.executionStages.indexName]).toEqual([
      3,
      'a_1_b.c_-1',
    ]);
    expect(await stats({ _id: (await c.findOne({ a: 3 }))?._id })).toEqual([1, 1, 1]);
  });

  it('never change an answer', async () => {
    const plain = db.collection('agree_plain');
    const indexed = db.collection('agree_indexed');
    await indexed.createIndex({ v: 1 });
    await indexed.createIndex({ v: 1, w: 1 });
    await indexed.createIndex({ 'v.x': 1 }, { sparse: true });
    const leaf = fc.oneof(
      fc.integer({ min: -2, max: 3 }),
      fc.constantFrom(
        null,
        true,
        'a',
        'b',
        1.5,
        Long.fromNumber(2),
        Decimal128.fromString('2.0'),
        new Date(1),
      ),
    );
    const field = fc.oneof(
      leaf,
      fc.array(leaf, { maxLength: 3 }),
      fc.record({ x: leaf }),
      fc.array(fc.record({ x: leaf }), { maxLength: 2 }),
    );
    const documents = fc.array(fc.record({ v: field, w: leaf }, { requiredKeys: [] }), {
      minLength: 1,
      maxLength: 12,
    });
    const condition = fc.oneof(
      field,
      leaf.map((v) => ({ $gt: v })),
      leaf.map((v) => ({ $lte: v })),
      fc.tuple(leaf, leaf).map(([a, b]) => ({ $gte: a, $lt: b })),
      fc.array(leaf, { maxLength: 3 }).map((v) => ({ $in: v })),
      leaf.map((v) => ({ $ne: v })),
    );
    const filter = fc.record(
      { v: condition, w: condition, 'v.x': condition },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        documents,
        fc.array(filter, { minLength: 4, maxLength: 4 }),
        async (docs, filters) => {
          const withIds = docs.map((d, i) => ({ _id: i as never, ...d }));
          for (const c of [plain, indexed]) {
            await c.deleteMany({});
            await c.insertMany(withIds);
          }
          for (const f of filters) {
            const query = f as Document;
            const [a, b] = await Promise.all(
              [plain, indexed].map((c) => c.find(query).project({ _id: 1 }).toArray()),
            );
            expect(b).toEqual(a);
          }
          for (const sort of [
            { v: 1 },
            { v: -1 },
            { v: -1, w: -1 },
            { v: 1, w: 1 },
            { v: 1, w: -1 },
          ] as Document[]) {
            // Two arrays in one key are an error, the same one.
            const [a, b] = await Promise.all(
              [plain, indexed].map((c) =>
                c
                  .find()
                  .sort(sort as { v: 1 })
                  .limit(5)
                  .project({ _id: 1 })
                  .toArray()
                  .catch((e: unknown) => String(e)),
              ),
            );
            expect(b).toEqual(a);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('durability', () => {
  it('loses nothing acknowledged when it is killed', async () => {
    const own = mkdtempSync(path.join(os.tmpdir(), 'mongo-embedded-server-'));
    const first = await start({ dataDir: own });
    const c1 = new MongoClient(first.uri);
    const pid = (JSON.parse(readFileSync(path.join(own, 'server.json'), 'utf8')) as { pid: number })
      .pid;
    let acknowledged = 0;
    const writing = (async (): Promise<void> => {
      for (let i = 0; ; i++) {
        await c1.db('k').collection<{ _id: number }>('c').insertOne({ _id: i });
        acknowledged = i + 1;
      }
    })().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 400));
    process.kill(pid, 'SIGKILL');
    await writing;
    await c1.close(true);
    const second = await start({ dataDir: own });
    const c2 = new MongoClient(second.uri);
    expect(acknowledged).toBeGreaterThan(0);
    expect(await c2.db('k').collection('c').countDocuments()).toBeGreaterThanOrEqual(acknowledged);
    await c2.close();
    await first.stop();
    await second.stop();
    rmSync(own, { recursive: true });
  });
});
