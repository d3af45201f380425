import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MongoServerError, type Document, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from './connect';
import { start, type EmbeddedServer } from '../start';
import { TestEngine } from './test-engine';

/** Queries that try to take all memory or all time get an error of MongoDB's, soon. */

describe('memory', () => {
  const engine = new TestEngine();
  afterAll(() => engine.close());
  const doubling = (initialValue: unknown, step: unknown): Document => ({
    $reduce: { input: { $range: [0, 60] }, initialValue, in: step },
  });
  const long = {
    $reduce: {
      input: { $range: [0, 20] },
      initialValue: 'x',
      in: { $concat: ['$$value', '$$value'] },
    },
  };
  const project = (r: unknown): Document[] => [{ $project: { _id: 0, r } }];

  it.each([
    [
      'a text that doubles',
      13548,
      project({ $strLenCP: doubling('x', { $concat: ['$$value', '$$value'] }) }),
    ],
    [
      'a text whose parts are replaced',
      13548,
      project({ $strLenCP: { $replaceAll: { input: long, find: 'x', replacement: long } } }),
    ],
    [
      'an array that doubles',
      146,
      project({ $size: doubling([1], { $concatArrays: ['$$value', '$$value'] }) }),
    ],
    ['an array in itself', 10334, project(doubling([1], ['$$value', '$$value']))],
    ['a long range', 146, project({ $size: { $range: [0, 100_000_000] } })],
    [
      'ranges in a map',
      146,
      project({
        $size: { $map: { input: { $range: [0, 1_000_000] }, in: { $range: [0, 1000] } } },
      }),
    ],
    [
      'maps in a map',
      146,
      project({
        $size: {
          $map: {
            input: { $range: [0, 10_000] },
            in: { $map: { input: { $range: [0, 10_000] }, in: { a: '$$this' } } },
          },
        },
      }),
    ],
    [
      'pushing everything',
      146,
      [
        { $set: { a: { $range: [0, 2_000_000] } } },
        { $unwind: '$a' },
        { $group: { _id: null, all: { $push: { a: '$a', b: 'x'.repeat(40) } } } },
        { $project: { n: { $size: '$all' } } },
      ],
    ],
    [
      'a set of everything',
      146,
      [
        { $set: { a: { $range: [0, 1_500_000] } } },
        { $unwind: '$a' },
        {
          $group: {
            _id: null,
            all: { $addToSet: { $concat: [{ $toString: '$a' }, 'x'.repeat(60)] } },
          },
        },
        { $project: { n: { $size: '$all' } } },
      ],
    ],
  ] as [string, number, Document[]][])(
    '%s',
    (_what, code, pipeline) => {
      engine.fill('one', [{ _id: 1 }]);
      expect(() => engine.aggregate('one', pipeline)).toThrow(expect.objectContaining({ code }));
    },
    60_000,
  );

  it('is there for what is large but allowed', () => {
    engine.fill('one', [{ _id: 1 }]);
    expect(engine.aggregate('one', project({ $size: { $range: [0, 5_000_000] } }))).toEqual([
      { r: 5_000_000 },
    ]);
    expect(engine.aggregate('one', project({ $strLenBytes: { $concat: [long, long] } }))).toEqual([
      { r: 2 ** 21 },
    ]);
  });
});

describe('time', () => {
  let folder: string;
  let server: EmbeddedServer;
  let client: MongoClient;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'mongo-embedded-hostile-'));
    server = await start({ dataDir: folder });
    client = await connect(server.uri);
  });
  afterAll(async () => {
    await client.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is bounded for one regular expression, and the server lives on', async () => {
    const c = client.db('test').collection('regex');
    await c.insertOne({ s: `${'a'.repeat(64)}b` });
    const error: unknown = await c
      .find({ s: /^(a+)+$/ })
      .toArray()
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(MongoServerError);
    expect((error as MongoServerError).code).toBe(51156);
    expect(await c.countDocuments({ s: /^a+b$/ })).toBe(1);
  }, 60_000);
});
