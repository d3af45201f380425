import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silenceFor, workerSilence } from './heartbeat';
import { openRunGuard } from './run-guard';
import { requestStage } from './schedule';
import { createTestPipeline, type TestPipeline } from './test/test-pipeline';

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await createTestPipeline(1);
});
afterAll(async () => {
  await pipeline.db.close();
  await rm(pipeline.folder, { recursive: true, force: true });
});

test('what waits says that no worker is there, until one is, and again when it is gone for a while', async () => {
  const { db } = pipeline;
  const { databaseId } = await pipeline.importShop();
  expect(await silenceFor(db, databaseId)).toMatch(/^No worker has reported so far/);

  const worker = await pipeline.startWorker();
  await pipeline.settled(databaseId);
  expect(await workerSilence(db)).toBeNull();
  await worker.stop();
  expect(await workerSilence(db)).toBeNull();

  await db.pool.query(
    `UPDATE setting SET value = (now() - interval '3 minutes')::text WHERE name = 'worker_seen'`,
  );
  expect(await workerSilence(db)).toMatch(/^No worker has reported for 3 minutes/);
  expect(await silenceFor(db, databaseId)).toBeNull(); // nothing waits
  const run = await db.transaction((tx) =>
    requestStage(tx, { databaseId, stage: 'migration', only: null }),
  );
  expect(await silenceFor(db, databaseId)).toMatch(/for 3 minutes/);

  // A worker in the middle of a stage may be too busy to report; one that died over it is not.
  await db.prisma.stageRun.update({ where: { id: run }, data: { state: 'running' } });
  const guard = openRunGuard(db.url, () => undefined);
  await guard.hold(`stage:${run}`);
  expect(await silenceFor(db, databaseId)).toBeNull();
  await guard.close();
  expect(await silenceFor(db, databaseId)).toMatch(/for 3 minutes/);
});
