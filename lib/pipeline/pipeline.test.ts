import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { MongoNetworkError, MongoServerError } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Unavailable } from '../results/unavailable';
import { encodeContent } from './content';
import { importBenchmark } from './import-benchmark';
import { cancelStages, requestPending, requestStage } from './schedule';
import { stageNames } from './stages/stage';
import { createTestPipeline, type TestPipeline } from './test/test-pipeline';
import type { Worker } from './worker';

let pipeline: TestPipeline;
let workers: Worker[] = [];
let count = 0;
let benchmarkId: string;
let databaseId: string;
beforeAll(async () => {
  pipeline = await createTestPipeline();
});
afterAll(async () => {
  await pipeline.db.close();
  await rm(pipeline.folder, { recursive: true, force: true });
});
beforeEach(async () => {
  pipeline.world.ran.length = 0;
  pipeline.world.instead = {};
  ({ benchmarkId, databaseId } = await pipeline.importShop(`Shop ${++count}`));
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
  await pipeline.db.prisma.stageRun.updateMany({
    where: { state: { in: ['queued', 'running'] } },
    data: { state: 'cancelled' },
  });
});
const work = async () => {
  const worker = await pipeline.startWorker();
  workers.push(worker);
  return worker;
};
const untilAborted = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
};

/** As a restart of PostgreSQL does to the connections that say which work is being done. */
const cutGuards = () =>
  pipeline.db.pool.query(`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE query LIKE '%pg_try_advisory_lock%' AND application_name = 'aptmql-worker'
      AND datname = current_database() AND pid <> pg_backend_pid()`);

const states = async () => {
  const rows = await pipeline.db.pool.query<{ gate: string; state: string; n: string }>(
    'SELECT gate, state, count(*) AS n FROM task_state WHERE database_id = $1 GROUP BY 1, 2 ' +
      'ORDER BY 1, 2',
    [databaseId],
  );
  return rows.rows.map((row) => `${row.gate} ${row.state} ${row.n}`);
};

test('runs all stages in order, leaves versions, tasks and reports', async () => {
  await work();
  await pipeline.settled(databaseId);
  expect(pipeline.world.ran).toEqual(stageNames);
  expect(await states()).toEqual([
    'collection_validation open 1',
    'conceptual_design open 1',
    'evidence open 4',
    'optimised_query open 4',
  ]);
  const runs = await pipeline.db.prisma.stageRun.findMany({ where: { databaseId } });
  expect(runs.every((run) => run.state === 'done' && run.endedAt && run.report)).toBe(true);
});

test('the same content again is no new version, and what follows is not run again', async () => {
  await work();
  await pipeline.settled(databaseId);
  const versions = await pipeline.db.prisma.artefactVersion.count();
  pipeline.world.ran.length = 0;
  await pipeline.db.transaction((tx) =>
    requestStage(tx, { databaseId, stage: 'conceptual_design', only: null }),
  );
  await pipeline.settled(databaseId);
  expect(pipeline.world.ran).toEqual(['conceptual_design']);
  expect(await pipeline.db.prisma.artefactVersion.count()).toBe(versions);
});

test('a stage that was restricted to an item passes that on', async () => {
  await work();
  await pipeline.settled(databaseId);
  pipeline.world.ran.length = 0;
  pipeline.world.instead.optimisation = async () => {};
  await pipeline.db.prisma.artefact.updateMany({
    where: { databaseId, kind: 'gold' },
    data: { retiredAt: new Date() },
  });
  await pipeline.db.transaction((tx) =>
    requestStage(tx, { databaseId, stage: 'optimisation', only: ['2'] }),
  );
  await pipeline.settled(databaseId);
  expect(pipeline.world.ran).toEqual(['optimisation 2', 'evidence 2']);
});

test('failed work keeps its reason, stops what follows, and can be retried', async () => {
  pipeline.world.instead.migration = () => Promise.reject(new Error('disk full'));
  await work();
  await pipeline.settled(databaseId);
  const failed = await pipeline.db.prisma.stageRun.findFirstOrThrow({
    where: { databaseId, stage: 'migration' },
  });
  expect(failed).toMatchObject({ state: 'failed', failure: 'disk full' });
  expect(pipeline.world.ran.at(-1)).toBe('migration');
  pipeline.world.instead = {};
  await pipeline.db.transaction((tx) => requestPending(tx, databaseId));
  await pipeline.settled(databaseId);
  expect(pipeline.world.ran.at(-1)).toBe('evidence');
});

test.each([
  ['MongoDB goes away', new MongoNetworkError('connection closed')],
  [
    'MongoDB is shut down',
    new MongoServerError({ message: 'interrupted at shutdown', code: 11600 }),
  ],
  ['an engine finds MongoDB away', new Unavailable('MongoDB', 'gone')],
  [
    'PostgreSQL goes away',
    Object.assign(new Error("Can't reach database server"), { code: 'P1001' }),
  ],
])(
  '%s in a stage: the stage runs again, and nothing is recorded as its result',
  async (_, outage) => {
    let failures = 0;
    pipeline.world.instead.translation = () =>
      ++failures > 2 ? Promise.resolve() : Promise.reject(outage);
    await work();
    await pipeline.settled(databaseId);
    expect(failures).toBe(3);
    expect(pipeline.world.ran.at(-1)).toBe('evidence');
    const runs = await pipeline.db.prisma.stageRun.findMany({ where: { databaseId } });
    expect(runs.map(({ state, failure }) => [state, failure])).toEqual(
      stageNames.map(() => ['done', null]),
    );
  },
);

test('an outage that lasts is waited for, and ends when it is cancelled', async () => {
  let attempts = 0;
  pipeline.world.instead.migration = () =>
    Promise.reject(new Unavailable('disk', `full, ${++attempts}`));
  await work();
  await expect.poll(() => attempts, { timeout: 20_000 }).toBe(1);
  await setTimeout(3000);
  expect(attempts).toBeGreaterThan(1);
  expect(attempts).toBeLessThan(5);
  await pipeline.db.transaction((tx) => cancelStages(tx, databaseId));
  await pipeline.settled(databaseId);
  const last = await pipeline.db.prisma.stageRun.findFirst({
    where: { databaseId, stage: 'migration' },
  });
  expect(last).toMatchObject({ state: 'cancelled', deaths: 0 });
}, 40_000);

test('a stage that was asked to stop while it was about to be put back is cancelled', async () => {
  let attempts = 0;
  pipeline.world.instead.migration = async () => {
    attempts++;
    // Asked for without the notification that would abort the pause.
    await pipeline.db.prisma.stageRun.updateMany({
      where: { databaseId, stage: 'migration' },
      data: { cancelAsked: true },
    });
    throw new Unavailable('disk', 'full');
  };
  await work();
  await pipeline.settled(databaseId);
  expect(attempts).toBe(1);
  expect(
    await pipeline.db.prisma.stageRun.findFirst({ where: { databaseId, stage: 'migration' } }),
  ).toMatchObject({ state: 'cancelled' });
});

test('what hit a limit is pending again, item by item', async () => {
  await work();
  await pipeline.settled(databaseId);
  const report = (ids: readonly string[]) => ({
    report: new Uint8Array(encodeContent({ limited: ids })),
  });
  const whole = { databaseId, stage: 'translation' };
  await pipeline.db.prisma.stageRun.updateMany({ where: whole, data: report(['1', '3']) });
  const ended = { state: 'done' as const, everything: false, endedAt: new Date() };
  await pipeline.db.prisma.stageRun.create({
    data: { ...whole, ...ended, only: ['1', '2'], ...report(['2']) },
  });
  await pipeline.db.transaction((tx) => requestPending(tx, databaseId));
  const pending = await pipeline.db.prisma.stageRun.findFirst({
    where: { ...whole, state: 'queued' },
  });
  expect(pending?.only.toSorted()).toEqual(['2', '3']);
});

test('running work can be cancelled', async () => {
  pipeline.world.instead.migration = (signal) =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error)),
    );
  await work();
  await expect.poll(() => pipeline.world.ran.at(-1), { timeout: 20_000 }).toBe('migration');
  await expect
    .poll(() => pipeline.db.prisma.stageRun.count({ where: { databaseId, state: 'running' } }))
    .toBe(1);
  await pipeline.db.transaction((tx) => cancelStages(tx, databaseId));
  await pipeline.settled(databaseId);
  expect(
    await pipeline.db.prisma.stageRun.findFirst({ where: { databaseId, stage: 'migration' } }),
  ).toMatchObject({ state: 'cancelled' });
});

test('an orderly stop puts work back; the next worker resumes it', async () => {
  pipeline.world.instead.migration = (signal) =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error)),
    );
  const first = await work();
  await expect.poll(() => pipeline.world.ran.at(-1), { timeout: 20_000 }).toBe('migration');
  await first.stop();
  expect(
    await pipeline.db.prisma.stageRun.findFirst({ where: { databaseId, stage: 'migration' } }),
  ).toMatchObject({ state: 'queued' });
  pipeline.world.instead = {};
  await work();
  await pipeline.settled(databaseId);
  expect(pipeline.world.ran.at(-1)).toBe('evidence');
});

test('work of a worker that lost its connection is taken over, once', async () => {
  let attempts = 0;
  pipeline.world.instead.migration = (signal) =>
    ++attempts > 1 ? Promise.resolve() : untilAborted(signal);
  await work();
  await work();
  await expect.poll(() => attempts, { timeout: 20_000 }).toBe(1);
  await cutGuards();
  await pipeline.settled(databaseId);
  expect(attempts).toBe(2);
  expect(pipeline.world.ran.filter((stage) => stage === 'evidence')).toHaveLength(1);
  const run = await pipeline.db.prisma.stageRun.findFirst({
    where: { databaseId, stage: 'migration' },
  });
  expect(run).toMatchObject({ state: 'done', deaths: 0 });
});

test.each([1, 2])(
  'PostgreSQL goes away in a stage again and again: no death of %i workers',
  async (count) => {
    let attempts = 0;
    pipeline.world.instead.migration = (signal) =>
      ++attempts > 4 ? Promise.resolve() : untilAborted(signal);
    for (let started = 0; started < count; started++) await work();
    for (let cut = 1; cut <= 4; cut++) {
      await expect.poll(() => attempts, { timeout: 20_000 }).toBe(cut);
      await cutGuards();
    }
    await pipeline.settled(databaseId);
    const run = await pipeline.db.prisma.stageRun.findFirst({
      where: { databaseId, stage: 'migration' },
    });
    expect(run).toMatchObject({ state: 'done', deaths: 0, failure: null });
    expect(pipeline.world.ran.at(-1)).toBe('evidence');
  },
  60_000,
);

test.each(['import', 'bundle'] as const)(
  'a worker that dies over an unfinished %s is a death, after a while',
  async (kind) => {
    const user = await pipeline.db.prisma.user.create({
      data: { email: `d${count}@x.y`, name: 'D', role: 'lead' },
    });
    const state = 'running' as const;
    const { id } =
      kind === 'import'
        ? await pipeline.db.prisma.import.create({
            data: { name: 'orphan', path: '/nowhere', state },
          })
        : await pipeline.db.prisma.bundle.create({
            data: { benchmarkId, draft: true, userId: user.id, state },
          });
    await work();
    const find = () =>
      kind === 'import'
        ? pipeline.db.prisma.import.findUniqueOrThrow({ where: { id } })
        : pipeline.db.prisma.bundle.findUniqueOrThrow({ where: { id } });
    const wait = { timeout: 20_000 };
    await expect
      .poll(async () => (await find()).state, wait)
      .toBe(kind === 'import' ? 'failed' : 'done');
    expect((await find()).deaths).toBe(1);
  },
  30_000,
);

test('a stage that kills three workers fails, and says so', async () => {
  const first = await work();
  await pipeline.settled(databaseId);
  await first.stop();
  const dead = { state: 'running' as const, deaths: 2, worker: 'elsewhere:1:dead', endedAt: null };
  await pipeline.db.prisma.stageRun.updateMany({
    where: { databaseId, stage: 'evidence' },
    data: dead,
  });
  await work();
  await pipeline.settled(databaseId);
  const run = await pipeline.db.prisma.stageRun.findFirst({
    where: { databaseId, stage: 'evidence' },
  });
  expect(run).toMatchObject({ state: 'failed', deaths: 3 });
  expect(run?.failure).toMatch(/the worker died 3 times/);
}, 30_000);

test('an import is all or nothing, and a name is taken once', async () => {
  await expect(pipeline.importShop(`Shop ${count}`)).rejects.toThrow(/choose another name/);
  expect(await pipeline.db.prisma.benchmark.count({ where: { name: `Shop ${count}` } })).toBe(1);
  expect(
    await pipeline.db.prisma.benchmark.findUnique({ where: { id: benchmarkId } }),
  ).not.toBeNull();
});

test('a benchmark with a damaged database is not imported without it', async () => {
  const source = {
    kind: 'bird' as const,
    questionFiles: [],
    databases: [],
    items: [],
    problems: [
      {
        kind: 'database_unreadable' as const,
        subject: 'shop',
        detail: 'the database file is damaged',
      },
    ],
  };
  await expect(
    importBenchmark(pipeline.db, pipeline.blobs, source, { name: 'Damaged', actor: 'test' }),
  ).rejects.toThrow(
    'one database cannot be read. shop: the database file is damaged. Repair the files, or take ' +
      'them out of the folder.',
  );
  expect(await pipeline.db.prisma.benchmark.count({ where: { name: 'Damaged' } })).toBe(0);
});

test('imports and bundles are jobs too', async () => {
  await work();
  const wanted = await pipeline.db.prisma.import.create({
    data: { name: 'nowhere', path: '/nowhere/at/all' },
  });
  await expect
    .poll(
      async () =>
        (await pipeline.db.prisma.import.findUniqueOrThrow({ where: { id: wanted.id } })).state,
      { timeout: 20_000 },
    )
    .toBe('failed');
  const user = await pipeline.db.prisma.user.create({
    data: { email: `u${count}@x.y`, name: 'U', role: 'lead' },
  });
  const bundle = await pipeline.db.prisma.bundle.create({
    data: { benchmarkId, draft: true, userId: user.id },
  });
  await expect
    .poll(
      async () =>
        (await pipeline.db.prisma.bundle.findUniqueOrThrow({ where: { id: bundle.id } })).state,
      { timeout: 20_000 },
    )
    .toBe('done');
  const done = await pipeline.db.prisma.bundle.findUniqueOrThrow({ where: { id: bundle.id } });
  expect((await pipeline.blobs.read(done.blobHash!)).subarray(0, 2).toString()).toBe('PK');
});
