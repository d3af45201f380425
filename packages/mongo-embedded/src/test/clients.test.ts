import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MongoClient, MongoServerError, type Db, type Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from './connect';
import { start, type EmbeddedServer } from '../start';

/**
 * What shells and graphical clients send when they connect and when a collection is looked at,
 * through the driver.
 */

let folder: string;
let server: EmbeddedServer;
let client: MongoClient;
let admin: Db;
let db: Db;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'mongo-embedded-clients-'));
  server = await start({ dataDir: folder });
  client = await connect(server.uri);
  admin = client.db('admin');
  db = client.db('shop');
  await db
    .collection<{ _id: number }>('orders')
    .insertMany(
      Array.from({ length: 30 }, (_, i) => ({ _id: i, customer: `c${i % 5}`, total: i * 1.5 })),
    );
  await db.collection('orders').createIndex({ customer: 1 });
  await db.createCollection('big', {
    viewOn: 'orders',
    pipeline: [{ $match: { total: { $gt: 30 } } }],
  });
});
afterAll(async () => {
  await client.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const codeOf = async (work: Promise<unknown>): Promise<unknown> => {
  const error: unknown = await work.catch((e: unknown) => e);
  expect(error).toBeInstanceOf(MongoServerError);
  return (error as MongoServerError).code;
};

describe('a shell', () => {
  it('connects', async () => {
    const hello = await admin.command({ hello: 1 });
    expect(hello).toMatchObject({ isWritablePrimary: true, ok: 1 });
    expect(hello.setName).toBeUndefined();
    expect((await admin.command({ buildInfo: 1 })).version).toBe('8.0.0');
    expect(
      (await admin.command({ connectionStatus: 1, showPrivileges: true })).authInfo
        .authenticatedUserPrivileges,
    ).not.toEqual([]);
    expect(
      (await admin.command({ connectionStatus: 1 })).authInfo.authenticatedUserPrivileges,
    ).toBeUndefined();
    expect(await codeOf(admin.command({ atlasVersion: 1 }))).toBe(59);
    expect(await codeOf(admin.command({ replSetGetStatus: 1 }))).toBe(76);
    expect(
      (await admin.command({ getParameter: 1, featureCompatibilityVersion: 1 }))
        .featureCompatibilityVersion,
    ).toEqual({ version: '8.0' });
    expect(await codeOf(admin.command({ getParameter: 1, nothingSuch: 1 }))).toBe(72);
    expect((await admin.command({ getLog: 'startupWarnings' })).log).toEqual([]);
    expect((await admin.command({ getFreeMonitoringStatus: 1 })).state).toBe('disabled');
    expect((await admin.command({ getCmdLineOpts: 1 })).parsed).toEqual({});
    expect((await admin.command({ whatsmyuri: 1 })).you).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(Object.keys((await admin.command({ listCommands: 1 })).commands as Document)).toContain(
      'aggregate',
    );
    expect(await codeOf(admin.command({ isdbgrid: 1 }))).toBe(59);
  });

  it('shows databases, collections, users and indexes', async () => {
    const { databases } = await admin.command({ listDatabases: 1, nameOnly: false });
    expect((databases as Document[]).find((d) => d.name === 'shop')).toMatchObject({
      empty: false,
    });
    const collections = await db
      .listCollections({}, { nameOnly: true, authorizedCollections: true })
      .toArray();
    expect(collections).toEqual([
      { name: 'orders', type: 'collection' },
      { name: 'big', type: 'view' },
    ]);
    const [orders] = await db.listCollections({ name: 'orders' }).toArray();
    expect(orders).toMatchObject({ info: { readOnly: false }, idIndex: { name: '_id_' } });
    expect((await admin.command({ usersInfo: 1 })).users).toMatchObject([
      { db: 'admin', roles: [{ role: 'root' }] },
    ]);
    expect((await admin.command({ rolesInfo: 'root' })).roles).toMatchObject([
      { role: 'root', isBuiltin: true },
    ]);
    expect((await db.command({ profile: -1 })).was).toBe(0);
    expect((await db.command({ validate: 'orders' })).valid).toBe(true);
    await db.collection('orders').rename('moved');
    await db.collection('moved').rename('orders');
    expect(await db.collection('orders').countDocuments()).toBe(30);
  });

  it('sees what runs, and ends it', async () => {
    const other = new MongoClient(server.uri);
    const slow = other
      .db('shop')
      .collection('orders')
      .aggregate([
        {
          $set: {
            n: {
              $size: {
                $filter: {
                  input: { $range: [0, 3_000_000] },
                  cond: { $eq: [{ $mod: ['$$this', 7] }, 1] },
                },
              },
            },
          },
        },
      ])
      .toArray();
    const ended = slow.then(
      () => 'answered',
      (e: unknown) => (e as MongoServerError).code,
    );
    const find = async (): Promise<Document> => {
      for (;;) {
        const ops = await admin
          .aggregate([
            { $currentOp: { allUsers: true } },
            { $match: { ns: 'shop.orders', 'command.aggregate': 'orders' } },
          ])
          .toArray();
        if (ops[0]) return ops[0];
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const op = await find();
    expect(op).toMatchObject({ type: 'op', active: true, op: 'command' });
    expect(
      ((await admin.command({ currentOp: 1 })).inprog as Document[]).map((o) => o.opid as number),
    ).toContain(op.opid);
    expect((await admin.command({ killOp: 1, op: op.opid })).info).toBe('attempting to kill op');
    expect(await ended).toBe(11601);
    await other.close();
    expect(await codeOf(db.aggregate([{ $currentOp: {} }]).toArray())).toBe(73);
  }, 60_000);
});

it('$indexStats counts what all threads did', async () => {
  const c = db.collection('counted');
  await c.insertMany([{ a: 1 }, { a: 2 }]);
  const before = Date.now();
  await c.createIndex({ a: 1 });
  // At once, so that more than one thread answers; an update is the writer's.
  await Promise.all(Array.from({ length: 12 }, () => c.find({ a: 1 }).toArray()));
  await c.updateOne({ a: 2 }, { $set: { b: 1 } });
  const stats = await c.aggregate([{ $indexStats: {} }, { $sort: { name: 1 } }]).toArray();
  expect(stats.map((s) => [s.name, Number(s.accesses.ops)])).toEqual([
    ['_id_', 0],
    ['a_1', 13],
  ]);
  expect((stats[1]?.accesses.since as Date).getTime()).toBeGreaterThanOrEqual(before);
  await c.drop();
});

describe('a graphical client', () => {
  it('reads instance and performance figures', async () => {
    expect((await admin.command({ hostInfo: 1 })).system.numCores).toBeGreaterThan(0);
    const before = await admin.command({ serverStatus: 1 });
    await db.collection('orders').findOne();
    const after = await admin.command({ serverStatus: 1 });
    expect(Number(after.opcounters.query)).toBe(Number(before.opcounters.query) + 1);
    expect(Number(after.network.numRequests)).toBeGreaterThan(Number(before.network.numRequests));
    const { totals } = await admin.command({ top: 1 });
    expect(Number(totals['shop.orders'].queries.count)).toBeGreaterThan(0);
    expect(await db.command({ dbStats: 1 })).toMatchObject({
      db: 'shop',
      collections: 1,
      views: 1,
      objects: 30,
    });
  });

  it('opens a collection: documents, schema, indexes, plans', async () => {
    const c = db.collection('orders');
    expect((await c.aggregate([{ $collStats: { storageStats: {} } }]).toArray())[0]).toMatchObject({
      storageStats: { count: 30, nindexes: 2 },
    });
    expect(
      await c
        .aggregate([{ $match: {} }, { $skip: 0 }, { $group: { _id: 1, n: { $sum: 1 } } }], {
          maxTimeMS: 5000,
        })
        .toArray(),
    ).toEqual([{ _id: 1, n: 30 }]);
    expect(
      await c.find({}, { limit: 20, skip: 0, maxTimeMS: 60_000, promoteValues: false }).toArray(),
    ).toHaveLength(20);
    expect(await c.estimatedDocumentCount()).toBe(30);
    expect(
      await c
        .aggregate([{ $match: {} }, { $sample: { size: 7 } }], { allowDiskUse: true })
        .toArray(),
    ).toHaveLength(7);
    const stats = await c
      .aggregate([
        { $indexStats: {} },
        {
          $project: {
            name: 1,
            usageHost: '$host',
            usageCount: '$accesses.ops',
            usageSince: '$accesses.since',
          },
        },
      ])
      .toArray();
    expect(stats.map((s) => s.name as string).sort()).toEqual(['_id_', 'customer_1']);
    expect((await c.indexes()).map((i) => i.name)).toEqual(['_id_', 'customer_1']);
    const find = await c.find({ customer: 'c1' }).explain('allPlansExecution');
    expect(find.queryPlanner.winningPlan).toMatchObject({
      stage: 'FETCH',
      inputStage: { stage: 'IXSCAN', indexName: 'customer_1' },
    });
    const aggregated = await c
      .aggregate([{ $match: { customer: 'c1' } }, { $count: 'n' }])
      .explain('queryPlanner');
    expect(aggregated.stages).toHaveLength(2);
    expect(
      await db
        .collection('big')
        .find({}, { sort: { _id: 1 }, limit: 1 })
        .toArray(),
    ).toEqual([{ _id: 21, customer: 'c1', total: 31.5 }]);
    expect(await db.collection('big').countDocuments()).toBe(9);
  });

  it('edits: validation rules, hidden indexes, a dropped collection', async () => {
    await db.command({
      collMod: 'orders',
      validator: { $jsonSchema: { required: ['customer'] } },
      validationLevel: 'moderate',
      validationAction: 'error',
    });
    const [info] = await db.listCollections({ name: 'orders' }).toArray();
    expect(info).toMatchObject({
      options: {
        validator: { $jsonSchema: { required: ['customer'] } },
        validationLevel: 'moderate',
      },
    });
    const error: unknown = await db
      .collection('orders')
      .insertOne({ total: 1 })
      .catch((e: unknown) => e);
    expect(error).toMatchObject({
      code: 121,
      errInfo: { details: { operatorName: '$jsonSchema' } },
    });
    await db.command({ collMod: 'orders', index: { name: 'customer_1', hidden: true } });
    expect(
      (await db.collection('orders').find({ customer: 'c1' }).explain()).queryPlanner.winningPlan
        .stage,
    ).toBe('COLLSCAN');
    await db.command({ collMod: 'orders', index: { name: 'customer_1', hidden: false } });
    expect((await db.collection('orders').indexes())[1]?.hidden).toBeUndefined();
    await db.collection('passing').insertOne({ a: 1 });
    expect(await db.dropCollection('passing')).toBe(true);
  });
});
