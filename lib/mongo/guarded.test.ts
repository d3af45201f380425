import { Double, Int32, type Db, type MongoClient } from 'mongodb';
import { start as startMongoServer, type EmbeddedServer } from 'mongo-embedded';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectMongo } from './client';
import { GuardedError, runGuarded } from './guarded';

let server: EmbeddedServer;
let client: MongoClient;
let db: Db;
beforeAll(async () => {
  server = await startMongoServer();
  client = await connectMongo(server.uri);
  db = client.db('test');
  await db.collection('pages').insertMany(Array.from({ length: 1000 }, (_, i) => ({ i })));
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

const odd = { $eq: [{ $mod: ['$$this', 2] }, 1] };
const numbers = { $range: [0, { $add: [200_000, '$i'] }] };
const slow = [
  { $match: { $expr: { $gt: [{ $size: { $filter: { input: numbers, cond: odd } } }, 0] } } },
];

it('guards untrusted pipelines', async () => {
  const limits = { maxTimeMS: 5000, maxRows: 10, maxBytes: 10_000 };
  const rows = await runGuarded(
    db,
    'pages',
    [{ $sort: { i: 1 } }, { $limit: 2 }, { $project: { _id: 0, i: 1, d: { $toDouble: '$i' } } }],
    limits,
  );
  expect(rows).toEqual([
    { i: new Int32(0), d: new Double(0) },
    { i: new Int32(1), d: new Double(1) },
  ]);
  const kind = async (pipeline: unknown, more = {}): Promise<string> => {
    const error: unknown = await runGuarded(db, 'pages', pipeline, { ...limits, ...more }).catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(GuardedError);
    return (error as GuardedError).kind === 'error'
      ? `error ${(error as GuardedError).message}`
      : (error as GuardedError).kind;
  };
  expect(await kind([{ $out: 'x' }])).toBe('forbidden');
  expect(await kind([{ $match: {} }])).toBe('too_many_rows');
  expect(
    await kind([
      { $limit: 5 },
      {
        $set: {
          t: {
            $reduce: {
              input: { $range: [0, 500] },
              initialValue: '',
              in: { $concat: ['$$value', 'xxxxxxxxxx'] },
            },
          },
        },
      },
    ]),
  ).toBe('too_many_rows');
  expect(await kind(slow, { maxTimeMS: 150 })).toBe('timeout');
  expect(await kind([{ $project: { a: { $divide: ['$i', 0] } } }])).toMatch(/^error .*zero/);
  // Who gave up is told so, in their own words.
  const givenUp = runGuarded(db, 'pages', slow as object[], {
    ...limits,
    signal: AbortSignal.timeout(150),
  });
  await expect(givenUp).rejects.toMatchObject({ name: 'TimeoutError' });
});
