import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtinAgent } from '../../../agents/drivers/builtin';
import type { ConceptualDesign, LogicalDesign } from '../../design/model/document-design';
import { logicalCsv, parseLogicalCsv } from '../../design/logical/logical-csv';
import type { Migration } from '../../migration/migrate';
import { connectMongo } from '../../mongo/client';
import { start as startMongoServer } from 'mongo-embedded';
import { readBenchmarkFolder } from '../../sqlite/source/benchmark-folder';
import type { CollectionValidation } from '../../validation/collection-validation';
import type { CrossValidation } from '../../validation/cross-validation';
import type { GoldContent, TranslationContent } from './artefacts';
import { stages } from './index';
import { runInMemory, type MemoryRun, type MemoryRunInput } from './memory-run';
import { writeOutlierBenchmark } from './test/outlier-fixture';
import { defaultSettings } from './stage';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-outlier-'));
let server: Awaited<ReturnType<typeof startMongoServer>>;
let mongo: MongoClient;
let input: MemoryRunInput;
let run: MemoryRun;

beforeAll(async () => {
  writeOutlierBenchmark(path.join(folder, 'bird'));
  server = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
  mongo = await connectMongo(server.uri);
  const benchmark = await readBenchmarkFolder(path.join(folder, 'bird'), {
    copies: path.join(folder, 'copies'),
  });
  input = {
    source: benchmark.databases[0]!,
    items: benchmark.items,
    settings: defaultSettings,
    agent: builtinAgent,
    mongo,
    mongoPrefix: 'outlier',
    signal: new AbortController().signal,
  };
  run = await runInMemory(input);
}, 120_000);
afterAll(async () => {
  await mongo.close();
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

const conceptual = async (): Promise<ConceptualDesign> =>
  (await run.artefacts<ConceptualDesign>({ kind: 'conceptual_design', key: 'shop' }))!;
const gold = async (id: number): Promise<GoldContent> =>
  (await run.artefacts<GoldContent>({ kind: 'gold', key: `shop/${id}` }))!;

test('the design keeps the orders of customers, the three with many flagged', async () => {
  const design = await conceptual();
  expect(design.relationships).toMatchObject([
    {
      relationship: 'orders(customer_id)->customer(id)',
      outlier: {
        field: 'orders',
        flag: 'orders_elsewhere',
        limit: 100,
        columns: ['oid', 'total', 'day'],
      },
    },
  ]);
  expect(design.patterns.find(({ pattern }) => pattern === 'Outlier')?.reason).toContain(
    '3 of 2000 have more, up to 1500',
  );
  const logical = (await run.artefacts<LogicalDesign>({
    kind: 'logical_design',
    key: 'shop/customer',
  }))!;
  expect(parseLogicalCsv(logicalCsv(logical))).toEqual(logical);
});

test('documents hold them, and every order is a document as well', async () => {
  const { mongoDatabase } = (await run.artefacts<Migration>({ kind: 'migration', key: 'shop' }))!;
  const customers = await mongo
    .db(mongoDatabase)
    .collection<{ _id: number; orders: unknown[]; orders_elsewhere?: number }>('customer')
    .find()
    .toArray();
  expect(
    customers
      .filter((document) => 'orders_elsewhere' in document)
      .map(({ _id, orders, orders_elsewhere: flag }) => [_id, orders, flag]),
  ).toEqual([
    [7, [], 7],
    [700, [], 700],
    [1403, [], 1403],
  ]);
  expect(
    customers.every(
      ({ _id, orders }) => orders.length === ([7, 700, 1403].includes(_id) ? 0 : _id % 6),
    ),
  ).toBe(true);
  expect(customers.find(({ _id }) => _id === 2)).toMatchObject({
    orders: [
      { _id: 2, total: 74, day: new Date('2022-03-12') },
      { _id: 3, total: 111, day: new Date('2023-04-13') },
    ],
  });
  expect(await mongo.db(mongoDatabase).collection('orders').countDocuments()).toBe(
    customers.reduce((sum, { orders }) => sum + orders.length, 0) + 4500 + 3,
  );
});

test('nothing is lost, every mapping passes, every planted fault is caught, the documents agree with each other', async () => {
  expect(run.reports.table_validation).toMatchObject({ failed: 0 });
  expect(run.reports.collection_validation).toMatchObject({ failed: 0, holes: 0 });
  const { mappings, faults } = (await run.artefacts<CollectionValidation>({
    kind: 'collection_validation',
    key: 'shop/customer',
  }))!;
  expect(mappings.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'customer.orders: all rows of orders up to 100',
      'customer.orders_elsewhere: more than 100 rows of orders',
    ]),
  );
  expect(faults.holes).toEqual([]);
  expect(faults.planted).toBeGreaterThan(20);
  const { references } = (await run.artefacts<CrossValidation>({
    kind: 'cross_validation',
    key: 'shop/customer',
  }))!;
  expect(
    references.map(({ relationship, holds }) => [
      relationship.replace('orders(customer_id)->customer(id), ', ''),
      holds,
    ]),
  ).toEqual([
    ['sum of total in orders_sum_total', true],
    ['all copied up to 100', true],
    ['all of them up to 100, of more none', true],
    ['flagged where there are more than 100', true],
  ]);
});

test('every query gives the rows of its SQL; joins look up the orders of three customers', async () => {
  expect(run.reports.translation).toMatchObject({ total: 13, translated: 13, untranslated: 0 });
  for (const id of [0, 1, 3, 4, 5, 6, 7, 8]) {
    const { mql } = (await run.artefacts<TranslationContent>({
      kind: 'translation',
      key: `shop/${id}`,
    }))!;
    expect(JSON.stringify(mql), String(id)).toContain('"localField":"orders_elsewhere"');
    const { verdict } = await gold(id);
    expect(verdict.kind, String(id)).toBe('equal');
  }
  // The orders that a filter finds are the better start; the note is not kept.
  for (const id of [2, 12])
    expect(JSON.stringify((await gold(id)).mql)).not.toContain('orders_elsewhere');
});

test('a reviewer can do without it', async () => {
  const { artefacts } = await stages.conceptual_design(
    {
      ...input,
      read: run.artefacts,
      directives: [
        {
          kind: 'without_field',
          relationship: 'orders(customer_id)->customer(id)',
          field: 'orders',
        },
      ],
    },
    { signal: input.signal, progress: () => undefined },
  );
  const design = artefacts.find(({ kind }) => kind === 'conceptual_design')!
    .content as ConceptualDesign;
  expect(design.relationships[0]!.outlier).toBeUndefined();
  expect(design.patterns.find(({ pattern }) => pattern === 'Outlier')).toMatchObject({
    status: 'considered',
  });
});
