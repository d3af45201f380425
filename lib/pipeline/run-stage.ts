import { setTimeout as sleep } from 'node:timers/promises';
import type { MongoClient } from 'mongodb';
import type { Agent } from '../../agents/contract';
import type { BlobStore } from '../db/blob-store';
import { pgText, type Database, type Tx } from '../db/database';
import { notify } from '../db/notify';
import type { CannotAct, Directive } from '../design/model/directive';
import type { KnownResults } from '../translation/check/known-results';
import { recordAgent } from './agent-runs';
import { lockDatabase } from './artefact-store';
import { prepareProduction } from './save-production';
import { decodeContent, encodeContent } from './content';
import { isAway } from './outage';
import { latestRuns, passedOn, requestStage, stageAfter, stageIndex } from './schedule';
import { stageInput } from './stage-input';
import {
  stageNames,
  type Stage,
  type StageInput,
  type StageName,
  type StageResult,
} from './stages/stage';

export interface StageRunner {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly mongo: MongoClient;
  readonly stages: Readonly<Record<StageName, Stage>>;
  agentNamed(name: string): Agent | Promise<Agent>;
  /** What the stages that ran here found out. */
  readonly known?: KnownResults;
}

/** Thrown into a stage's signal: why it has to stop. */
export class StageStopped extends Error {
  constructor(readonly why: 'cancelled' | 'shutdown' | 'lost') {
    super(`stopped: ${why}`);
  }
}

/**
 * Runs one queued stage run: claims it, calls the stage, and makes what it produced current in one
 * transaction with the run's end and the request for the next stage. Calling it twice, or for a run
 * that may not start yet, does nothing.
 */
export async function runStage(
  runner: StageRunner,
  runId: string,
  worker: string,
  signal: AbortSignal,
): Promise<void> {
  const { db } = runner;
  const run = await claim(db, runId, worker);
  if (!run) return;
  const only = run.everything ? null : run.only;
  try {
    await report(db, run, { state: 'running', done: 0, total: 0, unit: '' });
    const { result, recorder } = await callStage(runner, run, only, signal);
    signal.throwIfAborted();
    await recorder.flush();
    const production = await prepareProduction(db, runner.blobs, {
      benchmarkId: run.database.benchmarkId,
      databaseId: run.databaseId,
      stage: run.stage,
      stageRunId: run.id,
      artefacts: result.artefacts,
      everything: run.everything,
      agentRunOf: (ref) => recorder.runOf(ref),
    });
    await db.transaction(async (tx) => {
      await lockDatabase(tx, run.databaseId);
      await stillOurs(tx, run.id, worker);
      const { changed } = await production.save(tx);
      await answerDirectives(tx, run.databaseId, run.stage, result);
      await tx.stageRun.update({
        where: { id: run.id },
        data: {
          state: 'done',
          endedAt: new Date(),
          failure: null,
          report: new Uint8Array(encodeContent(result.report)),
        },
      });
      await requestNext(tx, run.databaseId, run.stage, only, changed > 0 || run.carriesChange);
      await notify(tx, {
        type: 'tasks',
        benchmarkId: run.database.benchmarkId,
        databaseId: run.databaseId,
      });
      await notify(tx, { type: 'work' });
    });
    await report(db, run, { state: 'done', done: 1, total: 1, unit: '' });
  } catch (error) {
    await endUnfinished(db, run, worker, error, signal);
  }
}

// ── Claiming ─────────────────────────────────────────────────────────────────────────────────────

type ClaimedRun = NonNullable<Awaited<ReturnType<typeof claim>>>;

async function claim(db: Database, runId: string, worker: string) {
  return db.transaction(async (tx) => {
    const asked = await tx.stageRun.findUnique({
      where: { id: runId },
      select: { databaseId: true },
    });
    if (!asked) return undefined;
    await lockDatabase(tx, asked.databaseId);
    const active = await tx.stageRun.findMany({
      where: { databaseId: asked.databaseId, state: { in: ['queued', 'running'] } },
    });
    const run = active.find((candidate) => candidate.id === runId);
    if (run?.state !== 'queued') return undefined;
    if (
      active.some(
        (other) => other.state === 'running' || stageIndex(other.stage) < stageIndex(run.stage),
      )
    ) {
      // dispatched again when its turn comes
      await tx.stageRun.update({ where: { id: runId }, data: { jobId: null } });
      return undefined;
    }
    const claimed = await tx.stageRun.update({
      where: { id: runId },
      data: {
        state: 'running',
        worker,
        startedAt: new Date(),
        endedAt: null,
        done: 0,
        total: 0,
        unit: '',
        cancelAsked: false,
      },
      include: { database: { include: { benchmark: true } } },
    });
    return { ...claimed, stage: claimed.stage as StageName };
  });
}

/** A worker that lost its connection may have been taken for dead, and the run given to another. */
async function stillOurs(tx: Tx, runId: string, worker: string): Promise<void> {
  const run = await tx.stageRun.findUnique({
    where: { id: runId },
    select: { state: true, worker: true, cancelAsked: true },
  });
  if (run?.state !== 'running' || run.worker !== worker) throw new StageStopped('lost');
  if (run.cancelAsked) throw new StageStopped('cancelled');
}

// ── Calling ──────────────────────────────────────────────────────────────────────────────────────

async function callStage(
  runner: StageRunner,
  run: ClaimedRun,
  only: readonly string[] | null,
  signal: AbortSignal,
) {
  const { db, blobs } = runner;
  const { database } = run;
  const agent = await runner.agentNamed(database.benchmark.agent);
  const recorder = recordAgent(db, agent, {
    databaseId: run.databaseId,
    database: database.name,
    stageRunId: run.id,
    stage: run.stage,
  });
  const input: StageInput = {
    ...(await stageInput(
      { db, blobs, mongo: runner.mongo, agent: recorder.agent },
      run.databaseId,
    )),
    ...(only ? { only } : {}),
    ...(runner.known ? { known: runner.known } : {}),
  };
  const progress = throttledProgress(db, run, recorder.flush);
  try {
    const result = await runner.stages[run.stage](input, { progress: progress.take, signal });
    return { result, recorder };
  } catch (error) {
    await recorder
      .flush()
      .catch((lost: unknown) =>
        console.warn(`the transcript of ${run.id} was not kept: ${String(lost)}`),
      );
    throw error;
  } finally {
    await progress.end();
  }
}

/** Stages report often; Postgres and the pages hear of it twice a second. */
function throttledProgress(db: Database, run: ClaimedRun, flush: () => Promise<void>) {
  let latest: { done: number; total: number; unit: string } | undefined;
  let sent = 0;
  let sending: Promise<void> | undefined;
  const send = async () => {
    const progress = latest;
    latest = undefined;
    if (!progress) return;
    await report(db, run, { state: 'running', ...progress });
    await flush();
  };
  return {
    take: (done: number, total: number, unit: string) => {
      latest = { done, total, unit };
      if (sending || Date.now() - sent < 500) return;
      sent = Date.now();
      // A failure to report progress is no failure of the stage; the connection guard notices a
      // lost database.
      sending = send()
        .catch((error: unknown) =>
          console.warn(`progress of ${run.stage} was not saved: ${String(error)}`),
        )
        .finally(() => (sending = undefined));
    },
    end: async () => {
      await sending;
    },
  };
}

async function report(
  db: Database,
  run: ClaimedRun,
  progress: {
    state: 'running' | 'done' | 'failed' | 'cancelled' | 'queued';
    done: number;
    total: number;
    unit: string;
  },
): Promise<void> {
  if (progress.state === 'running') {
    const { done, total, unit } = progress;
    await db.prisma.stageRun.updateMany({
      where: { id: run.id, state: 'running' },
      data: { done: Math.trunc(done), total: Math.trunc(total), unit: pgText(unit) },
    });
  }
  await notify(db, {
    type: 'stage',
    benchmarkId: run.database.benchmarkId,
    databaseId: run.databaseId,
    stage: run.stage,
    runId: run.id,
    ...progress,
    unit: progress.unit.slice(0, 200),
  });
}

// ── Ending ───────────────────────────────────────────────────────────────────────────────────────

async function answerDirectives(
  tx: Tx,
  databaseId: string,
  stage: StageName,
  result: StageResult,
): Promise<void> {
  // Agents read notes where they design; what a note asks for elsewhere nobody has done, and the
  // reviewer has to hear so.
  if (stage !== 'conceptual_design') {
    const asked = await tx.directive.findMany({
      where: {
        databaseId,
        withdrawnAt: null,
        cannotAct: null,
        decision: { task: { artefact: { stage } } },
      },
      select: {
        id: true,
        content: true,
        decision: {
          select: {
            createdAt: true,
            task: { select: { artefact: { select: { producedAt: true } } } },
          },
        },
      },
    });
    const unread = asked.filter(
      ({ content, decision }) =>
        decodeContent<Directive>(content).kind === 'free_text' &&
        decision.task!.artefact.producedAt > decision.createdAt,
    );
    await tx.directive.updateMany({
      where: { id: { in: unread.map(({ id }) => id) } },
      data: {
        cannotAct:
          'no agent reads notes at this step: edit it, or give an instruction where the screen ' +
          'offers one',
      },
    });
  }
  const answers = (result.report.cannotAct ?? []) as readonly CannotAct[];
  for (const { directive, reason } of answers) {
    await tx.directive.updateMany({
      where: { databaseId, withdrawnAt: null, content: new Uint8Array(encodeContent(directive)) },
      data: { cannotAct: pgText(reason) },
    });
  }
}

async function requestNext(
  tx: Tx,
  databaseId: string,
  stage: StageName,
  only: readonly string[] | null,
  changed: boolean,
): Promise<void> {
  const next = stageAfter(stage);
  if (!next) return;
  const state = new Map((await latestRuns(tx, databaseId)).map((run) => [run.stage, run.state]));
  const unfinished = stageNames
    .slice(stageIndex(next))
    .find((later) => state.get(later) !== 'done');
  if (unfinished === next)
    await requestStage(tx, { databaseId, stage: next, only: null, carriesChange: changed });
  else if (changed)
    await requestStage(tx, {
      databaseId,
      stage: next,
      only: passedOn(stage, only),
      carriesChange: true,
    });
  // Nothing changed here or before: what follows need not be done again, unless somebody waits for
  // it or it was never finished.
  else if (await isAwaited(tx, databaseId, next))
    await requestStage(tx, { databaseId, stage: next, only: passedOn(stage, only) });
  else if (unfinished && state.get(unfinished) !== 'queued')
    await requestStage(tx, { databaseId, stage: unfinished, only: null });
}

/**
 * A reviewer has asked for changes of something that this stage or a later one produces, and it has
 * not been produced since.
 */
async function isAwaited(tx: Tx, databaseId: string, stage: StageName): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ awaited: boolean }[]>`
    SELECT EXISTS (
      SELECT 1 FROM task_state state
      JOIN decision ON decision.id = state.decision_id AND decision.awaits
      JOIN artefact ON artefact.id = state.artefact_id
      WHERE state.database_id = ${databaseId}::uuid AND state.state = 'waiting'
        AND artefact.produced_at <= decision.created_at
        AND artefact.stage = ANY(${stageNames.slice(stageIndex(stage))}::text[])) AS awaited`;
  return row!.awaited;
}

/** A server that is away, or a full disk, is asked again after this, not at once. */
const OUTAGE_PAUSE_MS = 1000;

/** Before work that met an outage is put back into the queue. */
export async function pauseForOutage(signal: AbortSignal): Promise<void> {
  await sleep(OUTAGE_PAUSE_MS, undefined, { signal }).catch(() => undefined); // woken by a stop
}

async function endUnfinished(
  db: Database,
  run: ClaimedRun,
  worker: string,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const outage = isAway(error);
  if (outage) await pauseForOutage(signal);
  const reason: unknown = error instanceof StageStopped ? error : signal.reason;
  const stopped = reason instanceof StageStopped ? reason : undefined;
  if (stopped?.why === 'lost') return; // another worker has it, or will
  const message = pgText(error instanceof Error ? error.message : String(error));
  const isRepeated = stopped ? stopped.why === 'shutdown' : outage;
  const ended = stopped ? 'cancelled' : 'failed';
  const state = isRepeated ? 'queued' : ended;
  if (state === 'failed')
    console.error(
      `${run.database.name}: ${run.stage} failed: ` +
        `${process.env.DEBUG && error instanceof Error ? error.stack : message}`,
    );
  await db.transaction(async (tx) => {
    await lockDatabase(tx, run.databaseId);
    const now = await tx.stageRun.findUnique({ where: { id: run.id } });
    if (now?.state !== 'running' || now.worker !== worker) return;
    // It may have been asked to stop just before this: then it is not put back.
    const again = isRepeated && !now.cancelAsked;
    // The same stage may have been asked for meanwhile: then that row stands for both.
    const waiting = await tx.stageRun.findFirst({
      where: { databaseId: run.databaseId, stage: run.stage, state: 'queued' },
    });
    if (again && !waiting) {
      await tx.stageRun.update({
        where: { id: run.id },
        data: {
          state: 'queued',
          worker: null,
          jobId: null,
          failure: stopped ? null : `waiting: ${message}`,
        },
      });
      return;
    }
    if (again && waiting && run.everything)
      await tx.stageRun.update({ where: { id: waiting.id }, data: { everything: true, only: [] } });
    await tx.stageRun.update({
      where: { id: run.id },
      data: {
        state: isRepeated ? 'cancelled' : state,
        endedAt: new Date(),
        failure: state === 'failed' ? message : null,
      },
    });
    await notify(tx, { type: 'work' });
    await notify(tx, {
      type: 'tasks',
      benchmarkId: run.database.benchmarkId,
      databaseId: run.databaseId,
    });
  });
  await report(db, run, { state, done: 0, total: 0, unit: '' });
}
