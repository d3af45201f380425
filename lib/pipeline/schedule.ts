import type { Database, Tx } from '../db/database';
import { notify } from '../db/notify';
import { decodeContent, encodeContent } from './content';
import { lockDatabase } from './artefact-store';
import { stageNames, type StageName } from './stages/stage';

/**
 * What waits to be done on a source database. A queued row says that a stage has to run (on `only`,
 * or everything); a database's earliest queued stage runs next, one at a time, and each that
 * finishes queues the one after it. So a request made while agents work needs no cancelling: it is
 * reached, and what follows it is done again.
 */
export interface StageRequest {
  readonly databaseId: string;
  readonly stage: StageName;
  /** Question ids or collections; null: everything. */
  readonly only: readonly string[] | null;
  /**
   * What comes after has to be done again even if this stage changes nothing: something before it
   * changed.
   */
  readonly carriesChange?: boolean;
  readonly decisionId?: string;
}

export const stageIndex = (stage: string): number =>
  (stageNames as readonly string[]).indexOf(stage);
export const stageAfter = (stage: StageName): StageName | undefined =>
  stageNames[stageIndex(stage) + 1];
const itemStages: readonly StageName[] = ['translation', 'optimisation', 'evidence'];
export const isItemStage = (stage: StageName): boolean => itemStages.includes(stage);

/**
 * What the next stage has to look at when `stage` ran on `only`: items pass theirs on, everything
 * else concerns all.
 */
export const passedOn = (
  stage: StageName,
  only: readonly string[] | null,
): readonly string[] | null => (isItemStage(stage) ? only : null);

/** Asks for a stage. Asking twice widens the one that waits. */
export async function requestStage(tx: Tx, request: StageRequest): Promise<string> {
  await lockDatabase(tx, request.databaseId);
  const { databaseId, stage, only } = request;
  const waiting = await tx.stageRun.findFirst({ where: { databaseId, stage, state: 'queued' } });
  // What runs at a later stage on everything is void: an earlier stage is about to change what it
  // rests on.
  if (only === null || !isItemStage(stage)) {
    const running = await tx.stageRun.findFirst({ where: { databaseId, state: 'running' } });
    if (running && stageIndex(running.stage) >= stageIndex(stage))
      await askToCancel(tx, [running.id]);
  }
  if (waiting) {
    const widened =
      only === null || waiting.everything
        ? { everything: true, only: [] }
        : { only: [...new Set([...waiting.only, ...only])] };
    await tx.stageRun.update({
      where: { id: waiting.id },
      data: {
        ...widened,
        decisionId: null,
        ...(request.carriesChange ? { carriesChange: true } : {}),
      },
    }); // it is no longer that decision's alone
    return waiting.id;
  }
  const run = await tx.stageRun.create({
    data: {
      databaseId,
      stage,
      everything: only === null,
      only: [...(only ?? [])],
      carriesChange: request.carriesChange ?? false,
      decisionId: request.decisionId ?? null,
    },
  });
  await notifyStages(tx, databaseId);
  return run.id;
}

/** The running stage hears of it by a notification and stops at its next step. */
export async function askToCancel(tx: Tx, runIds: readonly string[]): Promise<void> {
  await tx.stageRun.updateMany({
    where: { id: { in: [...runIds] }, state: 'running' },
    data: { cancelAsked: true },
  });
  for (const runId of runIds) await notify(tx, { type: 'cancel', runId });
}

/** Takes back what waits and stops what runs. */
export async function cancelStages(tx: Tx, databaseId: string): Promise<number> {
  await lockDatabase(tx, databaseId);
  const queued = await tx.stageRun.updateMany({
    where: { databaseId, state: 'queued' },
    data: { state: 'cancelled', endedAt: new Date() },
  });
  const running = await tx.stageRun.findMany({
    where: { databaseId, state: 'running' },
    select: { id: true },
  });
  await askToCancel(
    tx,
    running.map((run) => run.id),
  );
  await notifyStages(tx, databaseId);
  return queued.count + running.length;
}

/** The latest run of each stage of a database. */
export async function latestRuns(on: Tx, databaseId: string) {
  return on.stageRun.findMany({
    where: { databaseId },
    orderBy: { position: 'desc' },
    distinct: ['stage'],
  });
}

/**
 * Queues the first stage that has not been done; when all are, the translation of items whose query
 * hit a limit of time or memory; or nothing.
 */
export async function requestPending(tx: Tx, databaseId: string): Promise<string | undefined> {
  const state = new Map((await latestRuns(tx, databaseId)).map((run) => [run.stage, run.state]));
  const pending = stageNames.find((stage) => state.get(stage) !== 'done');
  if (!pending) {
    const limited = await limitedItems(tx, databaseId);
    return limited.length > 0
      ? requestStage(tx, { databaseId, stage: 'translation', only: limited })
      : undefined;
  }
  if (state.get(pending) === 'running' || state.get(pending) === 'queued') return undefined;
  return requestStage(tx, { databaseId, stage: pending, only: null });
}

/**
 * Items whose latest translation hit a limit, by the reports of the runs since everything was last
 * translated.
 */
async function limitedItems(tx: Tx, databaseId: string): Promise<string[]> {
  const runs = await tx.stageRun.findMany({
    where: { databaseId, stage: 'translation', state: 'done' },
    orderBy: { position: 'desc' },
    select: { everything: true, only: true, report: true },
  });
  const limited: string[] = [];
  const later = new Set<string>();
  for (const { everything, only, report } of runs) {
    const ids = report
      ? (decodeContent<{ limited?: readonly string[] }>(report).limited ?? [])
      : [];
    limited.push(...ids.filter((id) => !later.has(id)));
    if (everything) break;
    for (const id of only) later.add(id);
  }
  return limited;
}

/** After a commit that queued something: wakes the workers, and pages that show the database. */
async function notifyStages(tx: Tx, databaseId: string): Promise<void> {
  await notify(tx, { type: 'work' });
  const database = await tx.sourceDatabase.findUniqueOrThrow({
    where: { id: databaseId },
    select: { benchmarkId: true },
  });
  await notify(tx, { type: 'tasks', benchmarkId: database.benchmarkId, databaseId });
}

/** A consequence that leaves with its transaction and is acted on after it. */
export async function postRequest(tx: Tx, request: StageRequest): Promise<void> {
  await tx.outbox.create({
    data: { topic: 'request_stage', payload: new Uint8Array(encodeContent(request)) },
  });
  await notify(tx, { type: 'work' });
}

/** Queued runs that may start now: the earliest of each database on which nothing runs. */
export async function readyRuns(db: Database): Promise<{ id: string; stage: StageName }[]> {
  return db.prisma.$queryRaw<{ id: string; stage: StageName }[]>`
    SELECT id, stage FROM (SELECT DISTINCT ON (database_id) id, stage, job_id FROM stage_run
    WHERE state = 'queued' AND NOT EXISTS (SELECT 1 FROM stage_run busy
      WHERE busy.database_id = stage_run.database_id AND busy.state = 'running')
    ORDER BY database_id, array_position(${[...stageNames]}::text[], stage)) AS earliest
    WHERE job_id IS NULL`;
}
