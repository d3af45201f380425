import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, type Dirent } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import yazl from 'yazl';
import { createUser } from '../lib/auth/accounts';
import { verifyAudit } from '../lib/db/audit';
import type { Database } from '../lib/db/database';
import { createTestDatabase } from '../lib/db/test/test-database';
import { start as startMongoServer, type EmbeddedServer } from 'mongo-embedded';
import type { BenchmarkDetail, DatabaseDetail, ImportRow } from '../lib/benchmarks/benchmark-api';
import type { RunRow } from '../lib/benchmarks/overview-api';
import type { DecideResponse } from '../lib/review/decision-api';
import type { ClaimResponse } from '../lib/review/lease-api';
import { generateSampleBenchmark } from '../sample/generate';

/**
 * The deployment of docker-compose.yml as processes: one web, two workers, Postgres, MongoDB;
 * environment only.
 */
const password = 'a long enough password';
let folder: string;
let db: Database;
let mongo: EmbeddedServer;
let base: string;
let cookie = '';
const children: ChildProcess[] = [];

function start(script: string, name: string): ChildProcess {
  // Each has a data folder of its own, as on machines of their own.
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: db.url,
    MONGODB_URI: mongo.uri,
    APTMQL_DATA: path.join(folder, name),
    NODE_ENV: 'test',
  };
  const child = fork(path.join(import.meta.dirname, script), [], {
    execArgv: ['--import', 'tsx'],
    env: env as unknown as NodeJS.ProcessEnv,
    cwd: path.resolve(import.meta.dirname, '..'),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  children.push(child);
  return child;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'aptmql-topology-'));
  db = await createTestDatabase();
  mongo = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
  await createUser(db, 'test', { email: 'lead@example.org', name: 'Lead', role: 'lead', password });
  const [address] = (await once(start('topology-web.ts', 'web'), 'message')) as [{ port: number }];
  base = `http://127.0.0.1:${address.port}`;
});
afterAll(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  }
  await mongo.stop();
  await db.close();
  await rm(folder, { recursive: true, force: true });
});

async function call<T>(method: string, address: string, body?: object | Buffer): Promise<T> {
  const response = await fetch(base + address, {
    method,
    headers: {
      origin: base,
      cookie,
      ...(body
        ? { 'content-type': Buffer.isBuffer(body) ? 'application/zip' : 'application/json' }
        : {}),
    },
    ...(body ? { body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body) } : {}),
  });
  cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${address}: ${response.status} ${text}`);
  return (text ? JSON.parse(text) : undefined) as T;
}

async function sampleArchive(): Promise<Buffer> {
  const sample = path.join(folder, 'sample');
  await mkdir(sample);
  generateSampleBenchmark(sample);
  const zip = new yazl.ZipFile();
  const entries: Dirent[] = await readdir(sample, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const file = path.join(entry.parentPath, entry.name);
    zip.addFile(file, `sample/${path.relative(sample, file)}`);
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path.join(folder, 'sample.zip')));
  return readFile(path.join(folder, 'sample.zip'));
}

test(
  'an upload on the web is imported by one worker, worked on by both, survives the death of one, and is reviewed',
  { timeout: 240_000 },
  async () => {
    await call('POST', '/api/session', { email: 'lead@example.org', password });
    const queued = (
      await call<{ import: ImportRow }>(
        'POST',
        '/api/benchmarks/upload?name=Sample',
        await sampleArchive(),
      )
    ).import;
    const doomed = start('worker.ts', 'worker-1');
    start('worker.ts', 'worker-2');

    const imported = async () =>
      (await call<{ import: ImportRow }>('GET', `/api/imports/${queued.id}`)).import;
    await expect.poll(async () => (await imported()).state, { timeout: 60_000 }).toBe('done');
    const benchmarkId = (await imported()).benchmarkId!;
    const benchmark = (
      await call<{ benchmark: BenchmarkDetail }>('GET', `/api/benchmarks/${benchmarkId}`)
    ).benchmark;
    expect(benchmark.items).toBe(40);

    const workersSeen = async () =>
      new Set(
        (await db.prisma.stageRun.findMany({ where: { worker: { not: null } } })).map(
          (run) => run.worker?.split(':')[1],
        ),
      ).size;
    await expect.poll(workersSeen, { timeout: 60_000, interval: 100 }).toBe(2);
    doomed.kill('SIGKILL');

    const detail = async (id: string) =>
      (await call<{ database: DatabaseDetail }>('GET', `/api/databases/${id}`)).database;
    for (const { id } of benchmark.databaseRows) {
      await expect
        .poll(async () => (await detail(id)).stages.map(({ run }) => run?.failure ?? run?.state), {
          timeout: 120_000,
          interval: 500,
        })
        .toEqual(Array(10).fill('done'));
    }
    const runs = await call<{ total: number; rows: RunRow[] }>(
      'GET',
      `/api/runs?benchmarkId=${benchmarkId}`,
    );
    expect(runs.total).toBeGreaterThan(40);

    const claim = await call<ClaimResponse>('POST', '/api/queue/claim', { benchmarkId });
    expect(claim.task).not.toBeNull();
    const idempotencyKey = randomUUID();
    const approve = () =>
      call<DecideResponse>('POST', `/api/tasks/${claim.task!.id}/decisions`, {
        verdict: 'approve',
        versionId: claim.task!.current.id,
        idempotencyKey,
      });
    expect(await approve()).toMatchObject({ taskState: 'done', first: true });
    expect(await approve()).toMatchObject({ taskState: 'done', first: false });
    expect(await verifyAudit(db, benchmarkId)).toMatchObject({ ok: true });
  },
);
