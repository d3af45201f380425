import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  Int32,
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoClient,
  type BulkWriteResult,
  type Db,
} from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isOutage, Unavailable } from '../results/unavailable';
import { connectMongo } from './client';
import { start as startMongoServer } from 'mongo-embedded';
import { documentsExamined } from './explain';
import { GuardedError, runGuarded } from './guarded';
import { asOutage } from './outage';

/** As the driver wraps what goes wrong while it writes many documents. */
const whileWriting = (error: unknown): MongoBulkWriteError =>
  new MongoBulkWriteError(error as MongoNetworkError, {} as BulkWriteResult);
const serverError = (code: unknown): MongoServerError =>
  new MongoServerError({ message: 'm', code });

test.each<[string, unknown, string | undefined]>([
  ['a lost connection', new MongoNetworkError('gone'), 'MongoDB'],
  ['no server to select', new MongoServerSelectionError('none', {} as never), 'MongoDB'],
  ['an interruption at shutdown', serverError(11600), 'MongoDB'],
  ['a cursor lost with its server', serverError(43), 'MongoDB'],
  ['a code that keeps its BSON type', serverError(new Int32(91)), 'MongoDB'],
  ['a full disk', serverError(14031), 'disk'],
  [
    'a lost connection while many documents are written',
    whileWriting(new MongoNetworkError('gone')),
    'MongoDB',
  ],
  ['a shutdown while many documents are written', whileWriting(serverError(91)), 'MongoDB'],
  ['a disk full of many documents', whileWriting({ message: 'm', code: 14031 }), 'disk'],
  ['a duplicate among many documents', whileWriting({ message: 'm', code: 11000 }), undefined],
  ['a complaint about the query', serverError(40324), undefined],
  ['the time limit of the query', serverError(50), undefined],
  ['the memory limit of a stage', serverError(292), undefined],
  ['another error', new Error('gone'), undefined],
])('%s', (_, error, resource) => {
  const outage = asOutage(error);
  if (resource === undefined) expect(outage).toBe(error);
  else expect(outage).toMatchObject({ name: 'Unavailable', resource });
});

test('limits are no outage: waiting does not help', () => {
  const waits = ['MongoDB', 'SQLite', 'disk'] as const;
  expect(waits.every((resource) => isOutage(new Unavailable(resource, '')))).toBe(true);
  expect([isOutage(new Unavailable('time', '')), isOutage(new Unavailable('memory', ''))]).toEqual([
    false,
    false,
  ]);
});

describe('a guarded pipeline', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-outage-'));
  let server: Awaited<ReturnType<typeof startMongoServer>>;
  let mongo: MongoClient;
  const limits = { maxTimeMS: 5000, maxRows: 10, maxBytes: 1000 };
  beforeAll(async () => {
    server = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
    mongo = await connectMongo(server.uri);
    await mongo.db('d').collection('c').insertOne({ a: 1 });
  });
  afterAll(async () => {
    await mongo.close();
    await server.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  test('an error of the query is a verdict, a cancelled one is its reason', async () => {
    const run = (pipeline: object[], signal?: AbortSignal) =>
      runGuarded(mongo.db('d'), 'c', pipeline, { ...limits, ...(signal && { signal }) });
    await expect(run([{ $set: { x: { $divide: [1, 0] } } }])).rejects.toBeInstanceOf(GuardedError);
    const reason = new Error('stopped');
    await expect(run([{ $match: {} }], AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  const standsStill = async <T>(work: () => Promise<T>): Promise<T | unknown> => {
    const { pid } = JSON.parse(
      fs.readFileSync(path.join(folder, 'mongo', 'server.json'), 'utf8'),
    ) as { pid: number };
    process.kill(pid, 'SIGSTOP');
    try {
      return await work().catch((error: unknown) => error);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  };

  test.each<[string, (db: Db) => Promise<unknown>]>([
    ['a pipeline', (db) => runGuarded(db, 'c', [{ $match: {} }], { ...limits, maxTimeMS: 60_000 })],
    ['explain', (db) => documentsExamined(db, 'c', [{ $match: {} }])],
    ['a write of many documents', (db) => db.collection('c').insertMany([{}, {}])],
    ['a count', (db) => db.collection('c').countDocuments()],
    ['an index', (db) => db.collection('c').createIndex({ a: 1 })],
    ['a list of collections', (db) => db.listCollections().toArray()],
  ])(
    'a server that stands still for longer than it may be silent is no verdict: %s',
    async (_, work) => {
      const impatient = new MongoClient(server.uri, {
        heartbeatFrequencyMS: 500,
        connectTimeoutMS: 500,
        serverSelectionTimeoutMS: 2000,
      });
      await impatient.connect();
      await impatient.db('d').collection('c').findOne();
      const still = await standsStill(() => work(impatient.db('d')));
      await impatient.close();
      expect(asOutage(still)).toMatchObject({ name: 'Unavailable', resource: 'MongoDB' });
    },
    30_000,
  );

  test('a server that went away is no verdict', async () => {
    await server.stop();
    const away = await runGuarded(mongo.db('d'), 'c', [{ $match: {} }], limits).catch(
      (error: unknown) => error,
    );
    expect(away).toMatchObject({ name: 'Unavailable', resource: 'MongoDB' });
    server = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
  }, 60_000);
});
