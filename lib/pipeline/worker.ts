import { randomUUID } from 'node:crypto';
import os from 'node:os';
import { PgBoss } from 'pg-boss';
import { isUnreachable, pgText, type Tx } from '../db/database';
import { listen } from '../db/notify';
import { KnownResults } from '../translation/check/known-results';
import { decodeContent } from './content';
import { heartbeat } from './heartbeat';
import { runBundleJob, type BundleMaker } from './bundle-job';
import { runImportJob } from './import-job';
import { abandoned, openRunGuard, type RunGuard } from './run-guard';
import { runStage, StageStopped, type StageRunner } from './run-stage';
import { readyRuns, requestStage, type StageRequest } from './schedule';
import { stageNames } from './stages/stage';
import { watchForStuckStages } from './stuck-watch';

export interface WorkerOptions extends Omit<StageRunner, 'known'> {
  /** For unpacking archives and writing bundles; on this machine's disk. */
  readonly scratchFolder: string;
  readonly makeBundle: BundleMaker;
  /**
   * End this process when a stage does not stop that was asked to: only where something starts
   * another one.
   */
  readonly endWhenStuck?: boolean;
  /** Pieces of work at the same time. */
  readonly slots?: number;
}

export interface Worker {
  /** Puts unfinished work back into the queue and ends. */
  stop(): Promise<void>;
}

const queues = [...stageNames.map((stage) => `stage.${stage}`), 'import', 'bundle'];
const pollMs = 2000;
const tidyMs = 3_600_000;
/** After that many deaths of a worker over the same work, the work is at fault. */
const maxDeaths = 3;
/**
 * A worker that lives and lost its connection to Postgres requeues its work itself; longer absence
 * is death.
 */
const deathAfterMs = 10_000;

interface JobData {
  readonly id: string;
}

/**
 * A worker: takes jobs from pg-boss, one queue a stage, on however many machines. pg-boss only
 * hands out; the state of work is in our own rows, so that a job that comes twice does nothing and
 * one that is lost is sent again.
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  return new JobLoop(options, await startBoss(options.db.url));
}

async function startBoss(connectionString: string): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString,
    max: 3,
    schedule: false,
    application_name: 'aptmql-worker',
  });
  boss.on('error', (error) => console.warn(`pg-boss: ${error.message}`));
  await boss.start();
  for (const queue of queues) {
    // Expiry is no sign of death here (see RunGuard); the limit is what pg-boss allows.
    await boss.createQueue(queue, {
      retryLimit: 0,
      expireInSeconds: 86_399,
      deleteAfterSeconds: 86_400,
    });
  }
  return boss;
}

interface RunningJob {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

class JobLoop implements Worker {
  private readonly name = `${os.hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  private readonly known = new KnownResults();
  private readonly running = new Map<string, RunningJob>();
  private readonly stopping = new AbortController();
  private readonly watch: DeathWatch = { survived: new Set(), unheldSince: new Map() };
  private readonly guard: RunGuard;
  private readonly beat: () => Promise<void>;
  private readonly stuckWatch: ReturnType<typeof watchForStuckStages> | undefined;
  private readonly events: ReturnType<typeof listen>;
  private readonly loop: Promise<void>;
  private tidied = Date.now();
  private wake = (): void => {};

  constructor(
    private readonly options: WorkerOptions,
    private readonly boss: PgBoss,
  ) {
    const { db } = options;
    this.guard = openRunGuard(db.url, () => {
      for (const { abort } of this.running.values()) abort.abort(new StageStopped('lost'));
    });
    this.beat = heartbeat(db);
    this.stuckWatch = options.endWhenStuck ? watchForStuckStages(db.url, this.name) : undefined;
    this.events = listen(db.url);
    this.events.subscribe((message) => {
      const { type, runId } = message as { type?: string; runId?: string };
      if (type === 'cancel' && runId)
        this.running.get(runId)?.abort.abort(new StageStopped('cancelled'));
      if (type === 'work' || type === 'reconnected') this.wake();
    });
    this.loop = this.run();
  }

  async stop(): Promise<void> {
    if (this.stopping.signal.aborted) return;
    this.stopping.abort();
    this.wake();
    await this.loop;
    for (const { abort } of this.running.values()) abort.abort(new StageStopped('shutdown'));
    await Promise.all([...this.running.values()].map(({ ended }) => ended));
    await this.stuckWatch?.close();
    await this.events.close();
    await this.guard.close();
    await this.boss.stop({ graceful: false, close: true });
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const woken = new Promise<void>((resolve) => (this.wake = resolve));
      try {
        await this.turn();
      } catch (error) {
        console.warn(
          'the worker cannot reach Postgres: ' +
            `${error instanceof Error ? error.message : String(error)}`,
        );
      }
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([woken, new Promise((resolve) => (timer = setTimeout(resolve, pollMs)))]);
      clearTimeout(timer);
    }
  }

  private async turn(): Promise<void> {
    const { options } = this;
    await this.beat();
    await relayOutbox(options);
    await requeueAbandoned(options, this.watch);
    await forgetLostJobs(options);
    if (Date.now() - this.tidied > tidyMs) {
      this.tidied = Date.now();
      await tidy(options);
    }
    await dispatch(options, this.boss);
    await this.takeJobs();
  }

  private async takeJobs(): Promise<void> {
    for (const queue of queues) {
      if (this.running.size >= (this.options.slots ?? 1)) return;
      const [job] = await this.boss.fetch<JobData>(queue);
      if (job) this.start(queue, job.id, job.data.id);
    }
  }

  private start(queue: string, jobId: string, id: string): void {
    const abort = new AbortController();
    const ended = this.perform(queue, jobId, id, abort.signal).finally(() => {
      this.running.delete(id);
      this.wake();
    });
    this.running.set(id, { abort, ended });
  }

  /** Never fails: what a job could not do is in its own row. */
  private async perform(
    queue: string,
    jobId: string,
    id: string,
    signal: AbortSignal,
  ): Promise<void> {
    const key = `${queue}:${id}`;
    try {
      await this.performHeld(queue, id, signal);
    } catch (error) {
      console.error(`${key}: ${error instanceof Error ? error.message : String(error)}`);
    }
    try {
      await this.boss.complete(queue, jobId);
    } catch (error) {
      console.warn(`${key} was not ticked off: ${String(error)}`);
    }
  }

  private async performHeld(queue: string, id: string, signal: AbortSignal): Promise<void> {
    const key = guardKey(queue, id);
    // Another worker has it; `forgetLostJobs` sends it again if that one lets go.
    if (!(await this.guard.hold(key))) return;
    try {
      await this.work(queue, id, signal);
    } finally {
      this.watch.survived.add(key);
      await this.guard.release(key);
    }
  }

  private work(queue: string, id: string, signal: AbortSignal): Promise<void> {
    const { options, known, name } = this;
    if (queue === 'import') return runImportJob(options, id, signal);
    if (queue === 'bundle') return runBundleJob(options, id, signal);
    return runStage({ ...options, known }, id, name, signal);
  }
}

// ── What every worker does for all ───────────────────────────────────────────────────────────────

const guardKey = (queue: string, id: string): string =>
  `${queue.startsWith('stage.') ? 'stage' : queue}:${id}`;

/**
 * Acts on the consequences of committed transactions, in their order, each in a transaction of its
 * own.
 */
async function relayOutbox({ db }: WorkerOptions): Promise<void> {
  for (;;) {
    let id: bigint | undefined;
    try {
      await db.transaction(async (tx) => {
        const [row] = await tx.$queryRaw<{ id: bigint; topic: string; payload: Uint8Array }[]>`
          SELECT id, topic, payload FROM outbox WHERE handled_at IS NULL AND attempts < 20
            ORDER BY attempts, id LIMIT 1 FOR UPDATE SKIP LOCKED`;
        id = row?.id;
        if (!row) return;
        await tx.outbox.update({ where: { id: row.id }, data: { handledAt: new Date() } });
        await actOn(tx, row.topic, row.payload);
      });
    } catch (error) {
      if (id === undefined || isUnreachable(error)) throw error;
      // Others are not held up by it; it is tried again.
      await db.prisma.outbox.update({
        where: { id },
        data: { attempts: { increment: 1 }, failure: pgText(String(error)) },
      });
    }
    if (id === undefined) return;
  }
}

async function actOn(tx: Tx, topic: string, payload: Uint8Array): Promise<void> {
  if (topic !== 'request_stage') throw new Error(`the outbox holds an unknown topic ${topic}`);
  const request = decodeContent<StageRequest>(payload);
  // The benchmark may have been deleted meanwhile.
  if (
    await tx.sourceDatabase.findUnique({ where: { id: request.databaseId }, select: { id: true } })
  )
    await requestStage(tx, request);
}

/** Hands what may start now to pg-boss. A crash in between sends it again. */
async function dispatch({ db }: WorkerOptions, boss: PgBoss): Promise<void> {
  const unsent = { jobId: null, state: 'queued' as const };
  for (const { id, stage } of await readyRuns(db)) {
    const jobId = await boss.send(`stage.${stage}`, { id });
    await db.prisma.stageRun.updateMany({ where: { id, ...unsent }, data: { jobId } });
  }
  for (const { id } of await db.prisma.import.findMany({ where: unsent, select: { id: true } })) {
    await db.prisma.import.updateMany({
      where: { id, ...unsent },
      data: { jobId: await boss.send('import', { id }) },
    });
  }
  for (const { id } of await db.prisma.bundle.findMany({ where: unsent, select: { id: true } })) {
    await db.prisma.bundle.updateMany({
      where: { id, ...unsent },
      data: { jobId: await boss.send('bundle', { id }) },
    });
  }
}

interface DeathWatch {
  /**
   * What this process stopped doing. What is still `running` then was interrupted, and nobody died.
   */
  readonly survived: Set<string>;
  /** Since when nobody has done what is `running`, by this process's monotonic clock. */
  readonly unheldSince: Map<string, number>;
}

/** Work that nobody does any more waits again; work that keeps killing workers fails. */
async function requeueAbandoned({ db }: WorkerOptions, watch: DeathWatch): Promise<void> {
  const stopped = new Set(watch.survived);
  const running = await runningWork(db);
  const free = new Set(
    await abandoned(
      db,
      running.map(({ key }) => key),
    ),
  );
  for (const key of watch.unheldSince.keys()) if (!free.has(key)) watch.unheldSince.delete(key);
  for (const work of running.filter(({ key }) => free.has(key))) {
    if (stopped.has(work.key)) await requeue(db, work, { state: 'queued', jobId: null });
    else {
      const since = watch.unheldSince.get(work.key) ?? performance.now();
      watch.unheldSince.set(work.key, since);
      if (performance.now() - since < deathAfterMs) continue;
      watch.unheldSince.delete(work.key);
      await requeue(db, work, afterDeath(work.deaths + 1));
    }
  }
  for (const key of stopped) watch.survived.delete(key);
}

const afterDeath = (deaths: number) =>
  deaths < maxDeaths
    ? { state: 'queued' as const, deaths, jobId: null }
    : {
        state: 'failed' as const,
        deaths,
        endedAt: new Date(),
        failure: `the worker died ${deaths} times while doing this (out of memory?)`,
      };

type RunningWork = Awaited<ReturnType<typeof runningWork>>[number];

async function runningWork({ prisma }: WorkerOptions['db']) {
  const query = { where: { state: 'running' as const }, select: { id: true, deaths: true } };
  const [stages, imports, bundles] = await Promise.all([
    prisma.stageRun.findMany(query),
    prisma.import.findMany(query),
    prisma.bundle.findMany(query),
  ]);
  return [
    ...stages.map((row) => ({ ...row, key: `stage:${row.id}`, table: 'stage_run' as const })),
    ...imports.map((row) => ({ ...row, key: `import:${row.id}`, table: 'import' as const })),
    ...bundles.map((row) => ({ ...row, key: `bundle:${row.id}`, table: 'bundle' as const })),
  ];
}

type WorkChange =
  ReturnType<typeof afterDeath> | { readonly state: 'queued'; readonly jobId: null };

async function requeue(
  { prisma }: WorkerOptions['db'],
  { id, deaths, table }: RunningWork,
  data: WorkChange,
): Promise<void> {
  const which = { where: { id, state: 'running' as const, deaths }, data };
  if (table === 'stage_run') await requeueStage(prisma, id, which);
  else if (table === 'import') await prisma.import.updateMany(which);
  else await prisma.bundle.updateMany(which);
}

/**
 * A worker may die between taking a job and claiming the work: then the job is gone and the work
 * still waits.
 */
async function forgetLostJobs({ db }: WorkerOptions): Promise<void> {
  for (const table of ['stage_run', 'import', 'bundle']) {
    await db.pool.query(`
      UPDATE ${table} SET job_id = NULL
        WHERE state = 'queued' AND job_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM pgboss.job WHERE id = job_id::uuid
        AND (state IN ('created', 'retry')
        OR (state = 'active' AND started_on > now() - interval '10 seconds')))`);
  }
}

/** Removes what nobody will ask for again. The audit trail and decisions are not among it. */
async function tidy({ db, blobs }: WorkerOptions): Promise<void> {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
  await blobs.removeUnreferenced();
  await db.prisma.outbox.deleteMany({ where: { handledAt: { lt: ago(7) } } });
  await db.prisma.failedSignIn.deleteMany({ where: { at: { lt: ago(1) } } });
  await db.prisma.session.deleteMany({ where: { expiresAt: { lt: ago(7) } } });
  await db.prisma.$executeRaw`DELETE FROM lease WHERE expires_at < now() - interval '1 day'`;
}

async function requeueStage(
  on: Tx,
  id: string,
  change: Parameters<Tx['stageRun']['updateMany']>[0],
): Promise<void> {
  const run = await on.stageRun.findUniqueOrThrow({ where: { id } });
  const waiting = await on.stageRun.count({
    where: { databaseId: run.databaseId, stage: run.stage, state: 'queued' },
  });
  // Who asked it to stop did not ask for it again, whatever became of its worker.
  const isOver = waiting > 0 || run.cancelAsked;
  if (isOver)
    await on.stageRun.updateMany({
      where: { id, state: 'running' },
      data: { state: 'cancelled', endedAt: new Date() },
    });
  else await on.stageRun.updateMany(change);
}
