import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../lib/db/database';
import { listen } from '../lib/db/notify';
import { decodeContent } from '../lib/pipeline/content';
import { importBenchmark } from '../lib/pipeline/import-benchmark';
import { requestStage } from '../lib/pipeline/schedule';
import { stageNames } from '../lib/pipeline/stages/stage';
import { canonicalText } from '../lib/results/extended-json';
import { contentHash } from '../lib/results/hash';
import type { SourceBenchmark } from '../lib/sqlite/benchmark';
import { finalBundle } from './outage-bundle';
import { patiently } from './outage-product';
import { type Stores } from './outage-stores';

export interface Disturbance {
  /** Takes the service away once. */
  disturb(): Promise<void>;
  /** How long each stage takes undisturbed: the outage begins after a quarter. */
  readonly stageMs: ReadonlyMap<string, number>;
}

export interface Outcome {
  /** Content of every current artefact, and of every file of the bundle with items or data. */
  readonly hashes: ReadonlyMap<string, string>;
  readonly bundle: ReadonlyMap<string, string>;
  readonly gold: number;
  readonly stageMs: ReadonlyMap<string, number>;
  readonly disturbed: readonly string[];
  readonly failed: readonly string[];
  readonly deaths: number;
  readonly seconds: number;
}

/** A benchmark of one database through all stages and into its bundle, with one outage in each. */
export async function runThrough(
  stores: Stores,
  source: SourceBenchmark,
  name: string,
  disturbance: Disturbance | undefined,
): Promise<Outcome> {
  const { db } = stores;
  const started = Date.now();
  const options = { name, actor: 'bench', start: false };
  const benchmarkId = await importBenchmark(db, stores.blobs, source, options);
  const where = { benchmarkId };
  const { id: databaseId } = await db.prisma.sourceDatabase.findFirstOrThrow({ where });
  const outages = disturbance && disturbEachStage(db, databaseId, disturbance);
  await db.transaction((tx) => requestStage(tx, { databaseId, stage: 'profile', only: null }));
  await settled(db, databaseId);
  const disturbed = (await outages?.end()) ?? [];
  const bundle = await finalBundle(stores, benchmarkId, databaseId, disturbance?.disturb);
  const runs = await db.prisma.stageRun.findMany({ where: { databaseId } });
  const unfinished = runs.filter(({ state }) => state !== 'done');
  return {
    hashes: await currentHashes(stores, benchmarkId),
    bundle,
    gold: await db.prisma.artefact.count({ where: { ...where, kind: 'gold', retiredAt: null } }),
    stageMs: new Map(runs.map((run) => [run.stage, Number(run.endedAt) - Number(run.startedAt)])),
    disturbed,
    failed: unfinished.map(({ stage, state, failure }) => `${stage} ${state}: ${failure ?? ''}`),
    deaths: runs.reduce((sum, { deaths }) => sum + deaths, 0),
    seconds: (Date.now() - started) / 1000,
  };
}

export async function settled({ prisma }: Database, databaseId: string): Promise<void> {
  const where = { databaseId, state: { in: ['queued' as const, 'running' as const] } };
  while ((await patiently(() => prisma.stageRun.count({ where }))) > 0) await sleep(250);
}

interface StageEvent {
  readonly type: string;
  readonly databaseId?: string;
  readonly state?: string;
  readonly stage?: string;
}

function disturbEachStage(db: Database, databaseId: string, { disturb, stageMs }: Disturbance) {
  const disturbed = new Set<string>();
  let isAway = false;
  let outages: Promise<void> = Promise.resolve();
  const where = { databaseId, state: 'running' as const };
  const findRunning = () => db.prisma.stageRun.findMany({ where });
  const whileItRuns = async (stage: string): Promise<void> => {
    await sleep((stageMs.get(stage) ?? 0) / 4);
    const running = await patiently(findRunning);
    if (disturbed.has(stage) || !running.some((run) => run.stage === stage)) return;
    disturbed.add(stage);
    isAway = true;
    await disturb();
    isAway = false;
  };
  const onRunning = (stage: string): void => {
    if (isAway)
      disturbed.add(stage); // it began while the service was away
    else if (!disturbed.has(stage)) outages = outages.then(() => whileItRuns(stage));
  };
  const events = listen(db.url);
  events.subscribe((message) => {
    const event = message as StageEvent;
    const isOurs = event.type === 'stage' && event.databaseId === databaseId;
    if (isOurs && event.state === 'running') onRunning(event.stage!);
    if (event.type !== 'reconnected') return;
    // What was said while PostgreSQL was away was lost.
    void patiently(findRunning).then((runs) => runs.forEach(({ stage }) => onRunning(stage)));
  });
  return {
    end: async () => {
      await outages;
      await events.close();
      return stageNames.filter((stage) => disturbed.has(stage));
    },
  };
}

/** With the names of the benchmark's own MongoDB databases made equal, and without times. */
async function currentHashes(
  { db, blobs }: Stores,
  benchmarkId: string,
): Promise<Map<string, string>> {
  const where = { id: benchmarkId };
  const { mongoPrefix } = await db.prisma.benchmark.findUniqueOrThrow({ where });
  const artefacts = await db.prisma.artefact.findMany({
    where: { benchmarkId, retiredAt: null },
    include: { current: true },
  });
  const hashes = new Map<string, string>();
  for (const { kind, key, current } of artefacts) {
    const stored = decodeContent<Record<string, unknown>>(await blobs.read(current!.blobHash));
    const { timing: _timing, ...content } = stored;
    const text = canonicalText(content).replaceAll(mongoPrefix, 'prefix_');
    hashes.set(`${kind} ${key}`, contentHash(text));
  }
  return hashes;
}
