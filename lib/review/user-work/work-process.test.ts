import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Double } from 'mongodb';
import { afterAll, afterEach, expect, test } from 'vitest';
import { WorkProcess } from './work-process';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-work-'));
const script = path.join(folder, 'child.mjs');
fs.writeFileSync(
  script,
  `process.on('message', ({ id, kind }) => {
     if (kind === 'endless') for (;;);
     if (kind === 'greedy') for (const list = []; ; ) list.push(new Array(1e6).fill({}));
     if (kind === 'failing') return process.send({ id, error: { code: 'conflict', message: 'm', next: 'n' } });
     process.send({ id, output: '{"pid":{"$numberInt":"' + process.pid + '"},"x":{"$numberDouble":"5.0"}}' });
   });
   process.on('disconnect', () => process.exit(0));`,
);
const worker = new WorkProcess(path.relative(process.cwd(), script));
afterEach(() => worker.close());
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
const run = (kind: string, limitMs = 20_000, signal = new AbortController().signal) =>
  worker.run(kind, {}, limitMs, signal) as Promise<{ pid: number; x: unknown }>;

test('answers keep their BSON types, and the process serves again', async () => {
  const first = await run('check');
  expect(first.x).toEqual(new Double(5));
  await expect(run('failing')).rejects.toMatchObject({ code: 'conflict', message: 'm', next: 'n' });
  expect((await run('check')).pid).toBe(first.pid);
});

test.each([
  ['takes too long', 'endless', 500, /does not finish in 0.5 s/],
  ['takes too much memory', 'greedy', 60_000, /needs more memory/],
])(
  'work that %s ends, and the next is done by another process',
  async (_, kind, limitMs, message) => {
    const { pid } = await run('check');
    await expect(run(kind, limitMs)).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringMatching(message) as string,
    });
    expect((await run('check')).pid).not.toBe(pid);
  },
);

test('work of a request that was given up ends', async () => {
  const stop = new AbortController();
  const endless = run('endless', 60_000, stop.signal);
  const reason = new Error('left');
  setTimeout(() => stop.abort(reason), 300);
  await expect(endless).rejects.toBe(reason);
});
