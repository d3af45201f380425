import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MongoClient, type Db } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { start as startMongoServer, type EmbeddedServer } from 'mongo-embedded';
import { documentsExamined } from './explain';

const folder = mkdtempSync(path.join(tmpdir(), 'explain-'));
let server: EmbeddedServer;
let client: MongoClient;
let db: Db;
beforeAll(async () => {
  server = await startMongoServer({ dataDir: folder });
  client = await new MongoClient(server.uri).connect();
  db = client.db('explained');
  await db
    .collection<{ _id: number; team: number }>('hero')
    .insertMany([1, 2, 3, 4].map((id) => ({ _id: id, team: id % 2 })));
});
afterAll(async () => {
  await client.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('counts what the pipeline and its lookups examine', async () => {
  expect(await documentsExamined(db, 'hero', [{ $match: { team: 1 } }])).toBe(4);
  expect(
    await documentsExamined(db, 'hero', [
      { $match: { _id: 1 } },
      { $lookup: { from: 'hero', localField: 'team', foreignField: '_id', as: 'other' } },
    ]),
  ).toBe(2);
});

test('a server that cannot explain it tells nothing; a cancelled one is no such answer', async () => {
  expect(
    await documentsExamined(db, 'hero', [{ $project: { x: { $divide: ['$_id', 0] } } }]),
  ).toBeNull();
  await expect(
    documentsExamined(db, 'hero', [{ $match: {} }], AbortSignal.abort(new Error('cancelled'))),
  ).rejects.toThrow('cancelled');
});
