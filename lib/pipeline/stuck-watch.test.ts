import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestPipeline, type TestPipeline } from './test/test-pipeline';

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await createTestPipeline();
});
afterAll(async () => {
  await pipeline.db.close();
  await rm(pipeline.folder, { recursive: true, force: true });
});

/** A stage that runs in the process of this name. */
async function runStage(worker: string, cancelAsked: boolean): Promise<string> {
  const { databaseId } = await pipeline.importShop(worker, false);
  const state = { stage: 'profile', state: 'running' as const, everything: true };
  const data = { databaseId, ...state, worker, cancelAsked };
  return (await pipeline.db.prisma.stageRun.create({ data })).id;
}

/** A process that watches for itself and then computes without end. */
function stuckProcess(worker: string): Promise<unknown[]> {
  const script = `
    import { watchForStuckStages } from './lib/pipeline/stuck-watch.ts';
    await watchForStuckStages(${JSON.stringify(pipeline.db.url)}, ${JSON.stringify(worker)}, 1000).started;
    const end = Date.now() + 8000;
    while (Date.now() < end);
    process.exit(3);`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', script];
  return once(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit');
}

test('a process whose stage does not stop when asked is ended', async () => {
  await runStage('stuck', true);
  expect(await stuckProcess('stuck')).toEqual([null, 'SIGKILL']);
});

test('one that nobody asked to stop goes on', async () => {
  await runStage('busy', false);
  expect(await stuckProcess('busy')).toEqual([3, null]);
});

test('what was asked to stop when its worker died is cancelled, what was not runs again', async () => {
  const [asked, other] = [await runStage('dead', true), await runStage('dead too', false)];
  const worker = await pipeline.startWorker();
  const stateOf = async (id: string) =>
    (await pipeline.db.prisma.stageRun.findUniqueOrThrow({ where: { id } })).state;
  await expect.poll(() => stateOf(asked), { timeout: 20_000 }).toBe('cancelled');
  await expect.poll(() => stateOf(other), { timeout: 20_000 }).toBe('done');
  await worker.stop();
});
