/**
 * Outages in every stage: starts the product on a data folder of its own, lets all stages of a source database run
 * undisturbed, then again for each service (MongoDB, PostgreSQL, the worker) and each way to go (kill -9; stopped for 40 s),
 * with one outage in the middle of each stage. Every current artefact must be the same as undisturbed, and so must the
 * bundle that is made at the end, during which the service goes away once more. Linux only.
 *
 *   npx tsx bench/outages.ts <BIRD folder> --database superhero [--services mongodb,postgres,worker] [--modes kill,stop]
 *     [--seconds 40]
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openBlobStore, type BlobStore } from '../lib/db/blob-store';
import { openDatabase, type Database } from '../lib/db/database';
import { ensureEmbeddedPostgres } from '../lib/db/embedded-postgres';
import { listen, notify } from '../lib/db/notify';
import { decodeContent } from '../lib/pipeline/content';
import { importBenchmark } from '../lib/pipeline/import-benchmark';
import { stageNames } from '../lib/pipeline/stages/stage';
import { canonicalText } from '../lib/results/extended-json';
import { contentHash, sha256 } from '../lib/results/hash';
import { extractBenchmarkZip } from '../lib/sqlite/benchmark-zip';
import { openBenchmark } from '../lib/sqlite/open-benchmark';
import { processTree, signalAll } from './process-tree';

type Service = 'mongodb' | 'postgres' | 'worker';
type Mode = 'kill' | 'stop';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: 'superhero' },
    services: { type: 'string', default: 'mongodb,postgres,worker' },
    modes: { type: 'string', default: 'kill,stop' },
    seconds: { type: 'string', default: '40' },
    port: { type: 'string', default: '3987' },
  },
});
const folder = positionals[0];
if (folder === undefined) throw new Error('name a BIRD folder');
const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-outages-'));
fs.chmodSync(dataDir, 0o755); // PostgreSQL runs as another user where this one is root

// ── The product ─────────────────────────────────────────────────────────────────────────────────────────────────────

const log = fs.openSync(path.join(dataDir, 'log'), 'a');
const product = spawn(process.execPath, ['--import', 'tsx', 'cli/start.ts'], {
  env: { ...process.env, APTMQL_DATA: dataDir, PORT: values.port },
  stdio: ['ignore', log, log],
});
const productEnded = new Promise<void>((resolve) => product.once('exit', () => resolve()));

async function ready(): Promise<void> {
  const file = path.join(dataDir, 'log');
  while (!fs.readFileSync(file, 'utf8').includes('is ready')) {
    if (product.exitCode !== null) throw new Error(`it does not start: ${fs.readFileSync(file, 'utf8')}`);
    await sleep(500);
  }
}

/** The process that is a service, and those that work for it. */
function processesOf(service: Service): number[] {
  const own = processTree(product.pid!);
  const script = service === 'mongodb' ? 'lib/mongo/embedded/process.ts' : 'cli/worker.ts';
  // pg_ctl detaches PostgreSQL from us; its pid file is in our data folder.
  const root =
    service === 'postgres'
      ? Number(fs.readFileSync(path.join(dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0])
      : own.find(({ command }) => command.includes(script))?.pid;
  return root === undefined ? [] : processTree(root).map(({ pid }) => pid);
}

/** A service goes away once, and is back (or being started again) when this resolves. */
async function disturb(service: Service, mode: Mode): Promise<boolean> {
  const pids = processesOf(service);
  if (pids.length === 0) return false;
  if (mode === 'kill') signalAll(pids.slice(0, 1), 'SIGKILL');
  else {
    signalAll(pids, 'SIGSTOP');
    await sleep(Number(values.seconds) * 1000);
    signalAll(pids, 'SIGCONT');
  }
  return true;
}

// ── One benchmark through all stages ────────────────────────────────────────────────────────────────────────────────

interface Outcome {
  readonly hashes: ReadonlyMap<string, string>;
  readonly stageMs: ReadonlyMap<string, number>;
  readonly failed: readonly string[];
  readonly deaths: number;
  readonly items: number;
  readonly disturbed: readonly string[];
  readonly bundle: ReadonlyMap<string, string>;
  readonly seconds: number;
}

interface Outage {
  readonly service: Service;
  readonly mode: Mode;
  /** How long each stage takes undisturbed: the outage begins in its middle. */
  readonly stageMs: ReadonlyMap<string, number>;
}

interface Stores {
  readonly db: Database;
  readonly blobs: BlobStore;
}

/** Asked again while PostgreSQL is away. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + 300_000; ; await sleep(1000)) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

async function settled({ db }: Stores, databaseId: string): Promise<void> {
  const active = () => db.prisma.stageRun.count({ where: { databaseId, state: { in: ['queued', 'running'] } } });
  while ((await patiently(active)) > 0) await sleep(250);
}

async function runThrough(stores: Stores, name: string, outage: Outage | undefined): Promise<Outcome> {
  const { db, blobs } = stores;
  const started = Date.now();
  const opened = await openBenchmark(folder!, { databases: [values.database] });
  const events = listen(db.url);
  const disturbed = new Set<string>();
  let outages: Promise<unknown> = Promise.resolve();
  let isAway = false;
  const once = (stage: string, isStill: () => Promise<boolean>): void => {
    if (!outage) return;
    outages = outages.then(async () => {
      await sleep((outage.stageMs.get(stage) ?? 0) / 2);
      if (disturbed.has(stage) || !(await patiently(isStill))) return;
      disturbed.add(stage);
      isAway = true;
      await disturb(outage.service, outage.mode);
      isAway = false;
    });
  };
  try {
    let databaseId = '';
    const seen = (stage: string, runId: string): void => {
      if (isAway) disturbed.add(stage); // it began while the service was away, and had to wait for it
      else if (!disturbed.has(stage)) once(stage, async () => (await db.prisma.stageRun.count({ where: { id: runId, state: 'running' } })) > 0);
    };
    events.subscribe((message) => {
      const event = message as { type: string; state?: string; databaseId?: string; stage?: string; runId?: string; total?: number };
      if (event.type === 'stage' && event.state === 'running' && event.databaseId === databaseId && event.total === 0) seen(event.stage!, event.runId!);
      // What was said while PostgreSQL was away was lost.
      if (event.type === 'reconnected') void db.prisma.stageRun.findMany({ where: { databaseId: databaseId || randomUUID(), state: 'running' } }).then((runs) => runs.forEach(({ stage, id }) => seen(stage, id)), () => undefined);
    });
    const benchmarkId = await importBenchmark(db, blobs, opened.benchmark, { name, actor: 'bench', start: false });
    const database = await db.prisma.sourceDatabase.findFirstOrThrow({ where: { benchmarkId } });
    databaseId = database.id;
    await db.prisma.stageRun.create({ data: { databaseId, stage: 'profile', everything: true } });
    await notify(db, { type: 'work' });
    await settled(stores, databaseId);
    await outages;
    const bundle = await draftBundle(stores, benchmarkId, outage);
    const runs = await db.prisma.stageRun.findMany({ where: { databaseId }, orderBy: { position: 'asc' } });
    return {
      hashes: await currentHashes(stores, benchmarkId),
      stageMs: new Map(runs.map(({ stage, startedAt, endedAt }) => [stage, Number(endedAt) - Number(startedAt)])),
      failed: runs.filter(({ state }) => state !== 'done').map(({ stage, state, failure }) => `${stage} ${state}: ${failure ?? ''}`),
      deaths: runs.reduce((sum, { deaths }) => sum + deaths, 0),
      items: await db.prisma.artefact.count({ where: { benchmarkId, kind: 'gold', retiredAt: null } }),
      disturbed: stageNames.filter((stage) => disturbed.has(stage)),
      bundle,
      seconds: (Date.now() - started) / 1000,
    };
  } finally {
    await events.close();
    await opened.close();
  }
}

/** What a run produced, with the names of its own MongoDB databases made equal. */
async function currentHashes({ db, blobs }: Stores, benchmarkId: string): Promise<Map<string, string>> {
  const { mongoPrefix } = await db.prisma.benchmark.findUniqueOrThrow({ where: { id: benchmarkId } });
  const artefacts = await db.prisma.artefact.findMany({ where: { benchmarkId, retiredAt: null }, include: { current: true } });
  const hashes = new Map<string, string>();
  for (const { kind, key, current } of artefacts) {
    const content = decodeContent<Record<string, unknown>>(await blobs.read(current!.blobHash));
    const { timing: _differs, ...rest } = content;
    hashes.set(`${kind} ${key}`, contentHash(canonicalText(rest).replaceAll(mongoPrefix, 'prefix_')));
  }
  return hashes;
}

// ── The bundle ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** Makes a draft, during which the service goes away; digests of the files that tell what is in the benchmark. */
async function draftBundle({ db, blobs }: Stores, benchmarkId: string, outage: Outage | undefined): Promise<Map<string, string>> {
  const user = await db.prisma.user.findFirstOrThrow({ where: { role: 'admin' } });
  const { id } = await db.prisma.bundle.create({ data: { benchmarkId, draft: true, userId: user.id } });
  await notify(db, { type: 'work' });
  const find = () => patiently(() => db.prisma.bundle.findUniqueOrThrow({ where: { id } }));
  const until = async (isReached: (state: string) => boolean): Promise<void> => {
    while (!isReached((await find()).state)) await sleep(100);
  };
  await until((state) => state !== 'queued');
  if (outage) await sleep(1000).then(() => disturb(outage.service, outage.mode));
  await until((state) => state !== 'queued' && state !== 'running');
  const { state, failure, blobHash } = await find();
  if (state !== 'done') return new Map([['bundle', `${state}: ${failure}`]]);
  const unpacked = path.join(dataDir, 'unpacked', id);
  await extractBenchmarkZip(await blobs.materialise(blobHash!), unpacked);
  const files = fs.readdirSync(unpacked, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const digests = files.map((entry): [string, string] => {
    const file = path.join(entry.parentPath, entry.name);
    return [path.relative(unpacked, file).split(path.sep).slice(1).join('/'), sha256(fs.readFileSync(file))];
  });
  // The others name the benchmark, its audit chain and its agent runs.
  return new Map(digests.filter(([file]) => /^(data|results|databases)\//.test(file)));
}

// ── All of them ─────────────────────────────────────────────────────────────────────────────────────────────────────

function differences(expected: ReadonlyMap<string, string>, actual: ReadonlyMap<string, string>): { missing: string[]; added: string[]; differing: string[] } {
  return {
    missing: [...expected.keys()].filter((key) => !actual.has(key)),
    added: [...actual.keys()].filter((key) => !expected.has(key)),
    differing: [...expected].filter(([key, hash]) => actual.has(key) && actual.get(key) !== hash).map(([key]) => key),
  };
}

function printRow(what: string, outcome: Outcome, reference: Outcome): void {
  const artefacts = differences(reference.hashes, outcome.hashes);
  const files = differences(reference.bundle, outcome.bundle);
  const { disturbed, failed, deaths, seconds } = outcome;
  const count = ({ missing, added, differing }: typeof files): string => `${missing.length}/${added.length}/${differing.length}`;
  console.log(
    [what.padEnd(16), `${disturbed.length} stages`, `${outcome.hashes.size} artefacts`, count(artefacts), `${outcome.items} gold`, `${outcome.bundle.size} files`, count(files), `${failed.length} failed`, `${deaths} deaths`, `${seconds.toFixed(0)} s`].join(' | '),
  );
  for (const reason of failed) console.log(`  ${reason}`);
  const untouched = what.startsWith('undisturbed') ? [] : stageNames.filter((stage) => !disturbed.includes(stage));
  if (untouched.length > 0) console.log(`  over before it could be disturbed: ${untouched.join(', ')}`);
  for (const [name, { missing, added, differing }] of Object.entries({ artefacts, files })) {
    for (const [how, keys] of Object.entries({ missing, added, differing })) if (keys.length > 0) console.log(`  ${name} ${how}: ${keys.slice(0, 8).join(', ')}`);
  }
}

async function main(): Promise<void> {
  await ready();
  const server = await ensureEmbeddedPostgres({ dataDir });
  if (server.owned) throw new Error('the product does not own its PostgreSQL');
  const db = openDatabase(server.url);
  const stores: Stores = { db, blobs: openBlobStore(db, path.join(dataDir, 'cache')) };
  try {
    for (const { id } of await db.prisma.sourceDatabase.findMany()) await settled(stores, id); // the sample
    const reference = await runThrough(stores, 'undisturbed', undefined);
    console.log('outage           | disturbed | artefacts | missing/added/differing | gold | bundle files | missing/added/differing | runs | worker deaths | time');
    printRow('undisturbed', reference, reference);
    for (const [stage, milliseconds] of reference.stageMs) console.log(`  ${stage} ${(milliseconds / 1000).toFixed(1)} s`);
    printRow('undisturbed again', await runThrough(stores, 'undisturbed again', undefined), reference);
    for (const mode of values.modes.split(',') as Mode[]) {
      for (const service of values.services.split(',') as Service[]) {
        const outage = { service, mode, stageMs: reference.stageMs };
        printRow(`${service} ${mode}`, await runThrough(stores, `${service} ${mode}`, outage), reference);
      }
    }
  } finally {
    await db.close();
  }
}

await main().finally(async () => {
  for (const service of ['mongodb', 'postgres', 'worker'] as const) signalAll(processesOf(service), 'SIGCONT');
  product.kill('SIGTERM');
  await productEnded;
});
