import type { Principal } from '../auth/accounts';
import { notFound } from '../app-error';
import { audited } from '../db/audit';
import type { Database, Tx } from '../db/database';
import { cancelStages, latestRuns, requestPending, requestStage } from '../pipeline/schedule';
import { stageNames, type StageName } from '../pipeline/stages/stage';
import type { Page } from '../api-fields';
import type { RunRow, StepRow } from './overview-api';
import type { StageRunRow } from '../pipeline/stage-api';
import { stageRunRow } from './overview';

// ── Stages on request ────────────────────────────────────────────────────────────────────────────

/**
 * Queues the first unfinished stage, or everything from `from`. Null when there is nothing to do.
 */
export async function runDatabase(
  db: Database,
  user: Principal,
  databaseId: string,
  from?: StageName,
): Promise<StageRunRow | null> {
  return onDatabase(db, user, databaseId, 'run_stages', { from: from ?? null }, async (tx) => {
    const id = from
      ? await requestStage(tx, { databaseId, stage: from, only: null, carriesChange: true })
      : await requestPending(tx, databaseId);
    return id ? stageRunRow(await tx.stageRun.findUniqueOrThrow({ where: { id } })) : null;
  });
}

/**
 * Queues the earliest stage that failed or was cancelled, with all that follows it; where none did,
 * what is pending.
 */
export async function retryDatabase(
  db: Database,
  user: Principal,
  databaseId: string,
): Promise<StageRunRow | null> {
  return onDatabase(db, user, databaseId, 'retry_stages', {}, async (tx) => {
    const state = new Map((await latestRuns(tx, databaseId)).map((run) => [run.stage, run.state]));
    const stage = stageNames.find(
      (name) => state.get(name) === 'failed' || state.get(name) === 'cancelled',
    );
    const id = stage
      ? await requestStage(tx, { databaseId, stage, only: null, carriesChange: true })
      : await requestPending(tx, databaseId);
    return id ? stageRunRow(await tx.stageRun.findUniqueOrThrow({ where: { id } })) : null;
  });
}

export const cancelDatabase = (
  db: Database,
  user: Principal,
  databaseId: string,
): Promise<number> =>
  onDatabase(db, user, databaseId, 'cancel_stages', {}, (tx) => cancelStages(tx, databaseId));

export async function runBenchmark(
  db: Database,
  user: Principal,
  benchmarkId: string,
  from?: StageName,
): Promise<number> {
  const databases = await db.prisma.sourceDatabase.findMany({
    where: { benchmarkId },
    select: { id: true },
  });
  if (databases.length === 0) throw notFound('This benchmark');
  let queued = 0;
  for (const { id } of databases) if (await runDatabase(db, user, id, from)) queued++;
  return queued;
}

async function onDatabase<T>(
  db: Database,
  user: Principal,
  databaseId: string,
  action: string,
  detail: Record<string, unknown>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return audited(db, async (tx) => {
    const database = await tx.sourceDatabase.findUnique({
      where: { id: databaseId },
      select: { benchmarkId: true },
    });
    if (!database) throw notFound('This source database');
    const result = await work(tx);
    return {
      result,
      audit: [
        {
          chain: database.benchmarkId,
          actor: user.id,
          action,
          subject: `database:${databaseId}`,
          detail,
        },
      ],
    };
  });
}

// ── Agent runs ───────────────────────────────────────────────────────────────────────────────────

const withRun = {
  database: { select: { name: true, benchmark: { select: { id: true, name: true } } } },
  _count: { select: { steps: true } },
} as const;

interface LoadedRun {
  readonly id: string;
  readonly agent: string;
  readonly stage: string;
  readonly subject: string;
  readonly state: string;
  readonly failure: string | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly retries: number;
  readonly database: {
    readonly name: string;
    readonly benchmark: { readonly id: string; readonly name: string };
  };
  readonly _count: { readonly steps: number };
}

const runRow = (run: LoadedRun): RunRow => ({
  id: run.id,
  agent: run.agent,
  benchmarkId: run.database.benchmark.id,
  benchmark: run.database.benchmark.name,
  database: run.database.name,
  stage: run.stage as StageName,
  subject: run.subject,
  state: run.state as RunRow['state'],
  failure: run.failure,
  startedAt: run.startedAt.toISOString(),
  endedAt: run.endedAt?.toISOString() ?? null,
  inputTokens: run.inputTokens,
  outputTokens: run.outputTokens,
  costUsd: run.costUsd,
  retries: run.retries,
  steps: run._count.steps,
});

export async function listAgentRuns(
  db: Database,
  query: {
    page: number;
    pageSize: number;
    benchmarkId?: string | undefined;
    databaseId?: string | undefined;
    stage?: StageName | undefined;
  },
): Promise<Page<RunRow>> {
  const where = {
    ...(query.databaseId ? { databaseId: query.databaseId } : {}),
    ...(query.benchmarkId ? { database: { benchmarkId: query.benchmarkId } } : {}),
    ...(query.stage ? { stage: query.stage } : {}),
  };
  const [runs, total] = await Promise.all([
    db.prisma.agentRun.findMany({
      where,
      orderBy: [{ startedAt: 'desc' }, { id: 'asc' }],
      skip: (query.page - 1) * query.pageSize,
      take: query.pageSize,
      include: withRun,
    }),
    db.prisma.agentRun.count({ where }),
  ]);
  return { rows: runs.map(runRow), total, page: query.page, pageSize: query.pageSize };
}

export async function agentRun(
  db: Database,
  id: string,
): Promise<{ run: RunRow; steps: StepRow[] }> {
  const run = await db.prisma.agentRun.findUnique({
    where: { id },
    include: { ...withRun, steps: { orderBy: { seq: 'asc' } } },
  });
  if (!run) throw notFound('This agent run');
  const steps = run.steps.map((step): StepRow => ({
    seq: step.seq,
    kind: step.kind as StepRow['kind'],
    text: Buffer.from(step.text).toString('utf8'),
    at: step.at.toISOString(),
    inputTokens: step.inputTokens,
    outputTokens: step.outputTokens,
    costUsd: step.costUsd,
  }));
  return { run: runRow(run), steps };
}
