import { Prisma } from '../db/generated/client';
import type { Principal } from '../auth/accounts';
import { AppError, notFound } from '../auth/errors';
import type { Database, Tx } from '../db/database';
import { notify } from '../db/notify';
import { workerSilence } from '../pipeline/heartbeat';
import type { EmptyQueue, LeaseInfo, StageName, WorkState } from './api-types';
import { countTasks, filterSql, queueOrder, sumCounts, type QueueFilter } from './task-query';

const leaseSeconds = 120;
export const heartbeatSeconds = 30;
/** The task on screen and those prefetched. */
const maxLeases = 4;

const expiry = Prisma.sql`now() + make_interval(secs => ${leaseSeconds})`;

/**
 * Leases the next task to a reviewer: one that they hold already but do not list in `holding` first, then the first of
 * the queue that nobody else holds. Whoever comes from a task (`after`) stays in its database, else in its benchmark, as
 * long as there is something to do: what they hold elsewhere comes last. Undefined when there is none.
 */
export async function claimTask(db: Database, user: Principal, filter: QueueFilter, holding: readonly string[], after?: string): Promise<LeaseInfo | undefined> {
  const from = after === undefined ? null : await db.prisma.task.findUnique({ where: { id: after }, select: { databaseId: true, benchmarkId: true } });
  const order = from ? Prisma.sql`task.database_id <> ${from.databaseId}::uuid, task.benchmark_id <> ${from.benchmarkId}::uuid, ${queueOrder}` : queueOrder;
  const resume = (condition: Prisma.Sql) => resumeLease(db, user, Prisma.sql`${filterSql(filter, user.id)} AND ${condition}`, holding, order);
  const resumed = await resume(from ? Prisma.sql`task.database_id = ${from.databaseId}::uuid` : Prisma.sql`true`);
  if (resumed) return resumed;
  const elsewhere = () => (from ? resume(Prisma.sql`true`) : undefined);
  if ((await db.prisma.lease.count({ where: { userId: user.id, expiresAt: { gt: new Date() } } })) >= maxLeases) {
    const held = await elsewhere();
    if (held) return held;
    throw new AppError('conflict', `You hold ${maxLeases} tasks already`, 'Decide or give back one of them first.');
  }
  for (let attempt = 0; attempt < 60; attempt++) {
    const outcome = await claimOnce(db, user, filter, holding, order);
    if (outcome === 'none') return elsewhere();
    if (outcome !== 'lost') return outcome;
  }
  throw new AppError('unavailable', 'Too many reviewers ask for tasks at this moment', 'Try again.');
}

/** Renews the first of one's own leases that is not listed in `holding`. */
async function resumeLease(db: Database, user: Principal, condition: Prisma.Sql, holding: readonly string[], order: Prisma.Sql): Promise<LeaseInfo | undefined> {
  const [row] = await db.prisma.$queryRaw<{ task_id: string; expires_at: Date }[]>`
    UPDATE lease SET heartbeat_at = now(), expires_at = ${expiry}
    WHERE task_id = (
      SELECT lease.task_id FROM lease JOIN task ON task.id = lease.task_id JOIN task_state state ON state.id = task.id
      WHERE lease.user_id = ${user.id}::uuid AND NOT lease.task_id = ANY(${[...holding]}::uuid[]) AND state.state IN ('open', 'stale')
        AND ${condition}
      ORDER BY ${order} LIMIT 1)
    AND user_id = ${user.id}::uuid
    RETURNING task_id, expires_at`;
  return row && leaseInfo(row);
}

/**
 * One statement. The chosen task's row is locked, and rows that others are choosing at this moment are skipped. Who comes
 * just after another one's commit may still choose the same row by its older snapshot; then the lease's own condition
 * refuses (`lost`), and the caller asks again.
 */
async function claimOnce(db: Database, user: Principal, filter: QueueFilter, holding: readonly string[], order: Prisma.Sql): Promise<LeaseInfo | 'none' | 'lost'> {
  const rows = await db.prisma.$queryRaw<{ candidate: string | null; task_id: string | null; expires_at: Date | null; benchmark_id: string; database_id: string }[]>`
    WITH candidate AS (
      SELECT task.id, task.benchmark_id, task.database_id FROM task JOIN task_state state ON state.id = task.id
      WHERE state.state IN ('open', 'stale')
        AND ${filterSql(filter, user.id)}
        AND NOT task.id = ANY(${[...holding]}::uuid[])
        AND (task.assignee_id IS NULL OR task.assignee_id = ${user.id}::uuid)
        AND NOT EXISTS (SELECT 1 FROM lease WHERE lease.task_id = task.id AND lease.expires_at > now())
      ORDER BY (task.assignee_id IS NULL), ${order}
      LIMIT 1 FOR UPDATE OF task SKIP LOCKED
    ), claimed AS (
      INSERT INTO lease (task_id, user_id, expires_at) SELECT id, ${user.id}::uuid, ${expiry} FROM candidate
      ON CONFLICT (task_id) DO UPDATE SET user_id = excluded.user_id, acquired_at = now(), heartbeat_at = now(), expires_at = excluded.expires_at
        WHERE lease.expires_at <= now()
      RETURNING task_id, expires_at
    )
    SELECT candidate.id AS candidate, candidate.benchmark_id, candidate.database_id, claimed.task_id, claimed.expires_at
    FROM candidate LEFT JOIN claimed ON claimed.task_id = candidate.id`;
  const [row] = rows;
  if (!row) return 'none';
  if (!row.task_id || !row.expires_at) return 'lost';
  await notify(db, { type: 'task', benchmarkId: row.benchmark_id, databaseId: row.database_id, taskId: row.task_id, change: 'leased' });
  return leaseInfo({ task_id: row.task_id, expires_at: row.expires_at });
}

/** Takes this very task, or renews one's own lease. @throws {AppError} leased, naming the holder */
export async function leaseTask(db: Database, user: Principal, taskId: string): Promise<LeaseInfo> {
  if (!(await db.prisma.task.findUnique({ where: { id: taskId }, select: { id: true } }))) throw notFound('This task');
  const [lease] = await db.prisma.$queryRaw<{ task_id: string; expires_at: Date }[]>`
    INSERT INTO lease (task_id, user_id, expires_at) VALUES (${taskId}::uuid, ${user.id}::uuid, ${expiry})
    ON CONFLICT (task_id) DO UPDATE SET user_id = excluded.user_id, heartbeat_at = now(), expires_at = excluded.expires_at,
      acquired_at = CASE WHEN lease.user_id = excluded.user_id THEN lease.acquired_at ELSE now() END
      WHERE lease.expires_at <= now() OR lease.user_id = excluded.user_id
    RETURNING task_id, expires_at`;
  if (lease) return leaseInfo(lease);
  throw await heldByAnother(db.prisma, taskId);
}

export async function heldByAnother(on: Tx, taskId: string): Promise<AppError> {
  const lease = await on.lease.findUnique({ where: { taskId }, include: { user: true } });
  return new AppError('leased', `${lease?.user.name ?? 'Somebody else'} is working on this task`, 'Take the next one, or come back when it is free.');
}

export async function releaseTask(db: Database, user: Principal, taskId: string): Promise<void> {
  const { count } = await db.prisma.lease.deleteMany({ where: { taskId, userId: user.id } });
  if (count === 0) return; // given back already, or expired and taken: both are what was wanted
  const task = await db.prisma.task.findUnique({ where: { id: taskId } });
  if (task) await notify(db, { type: 'task', benchmarkId: task.benchmarkId, databaseId: task.databaseId, taskId, change: 'released' });
}

const leaseInfo = (row: { task_id: string; expires_at: Date }): LeaseInfo => ({ taskId: row.task_id, expiresAt: row.expires_at.toISOString(), heartbeatSeconds });

/** Why there is nothing to claim. */
export async function explainEmptyQueue(db: Database, user: Principal, filter: QueueFilter): Promise<EmptyQueue> {
  const [gates, leased, stages, silence] = await Promise.all([
    countTasks(db.prisma, filter, user.id),
    db.prisma.$queryRaw<{ name: string; tasks: number; until: Date }[]>`
      SELECT app_user.name, count(*)::int AS tasks, max(lease.expires_at) AS until
      FROM lease JOIN task ON task.id = lease.task_id JOIN task_state state ON state.id = task.id JOIN app_user ON app_user.id = lease.user_id
      WHERE lease.expires_at > now() AND lease.user_id <> ${user.id}::uuid AND state.state IN ('open', 'stale') AND ${filterSql(filter, user.id)}
      GROUP BY app_user.id, app_user.name ORDER BY app_user.name`,
    unfinishedStages(db, filter),
    workerSilence(db),
  ]);
  const counts = sumCounts(gates.map(({ tasks }) => tasks));
  const leasedToOthers = leased.reduce((sum, row) => sum + row.tasks, 0);
  const failed = stages.find((stage) => stage.state === 'failed');
  const working = stages.some((stage) => stage.state === 'queued' || stage.state === 'running');
  const reason = leasedToOthers > 0 ? 'leased_to_others' : working ? 'waiting_for_agents' : failed ? 'stage_failed' : counts.waiting > 0 ? 'waiting_for_agents' : counts.done > 0 ? 'all_done' : 'nothing_yet';
  const messages: Record<EmptyQueue['reason'], string> = {
    leased_to_others: `Other reviewers are working on the ${leasedToOthers} remaining ${leasedToOthers === 1 ? 'task' : 'tasks'}.`,
    waiting_for_agents: silence ?? 'The agents are at work; new tasks come when they are done.',
    stage_failed: `A stage failed: ${failed?.database}, ${failed?.stage.replaceAll('_', ' ')}: ${failed?.failure ?? ''}. A lead can retry it.`,
    all_done: counts.open + counts.stale > 0 ? 'What is left is assigned to others.' : 'All tasks are done.',
    nothing_yet: 'There are no tasks here yet.',
  };
  return {
    reason,
    message: messages[reason],
    counts: { ...counts, leasedToOthers },
    leasedTo: leased.map(({ name, tasks, until }) => ({ name, tasks, until: until.toISOString() })),
    stages,
  };
}

async function unfinishedStages(db: Database, filter: QueueFilter): Promise<EmptyQueue['stages']> {
  const rows = await db.prisma.$queryRaw<{ database_id: string; database: string; stage: StageName; state: WorkState; failure: string | null }[]>`
    SELECT * FROM (
      SELECT DISTINCT ON (stage_run.database_id, stage) stage_run.database_id, source_database.name AS database, stage, state::text, failure
      FROM stage_run JOIN source_database ON source_database.id = stage_run.database_id
      WHERE ${filter.benchmarkId ? Prisma.sql`source_database.benchmark_id = ${filter.benchmarkId}::uuid` : Prisma.sql`true`}
        AND ${filter.databaseId ? Prisma.sql`source_database.id = ${filter.databaseId}::uuid` : Prisma.sql`true`}
      ORDER BY stage_run.database_id, stage, stage_run.position DESC) latest
    WHERE state IN ('queued', 'running', 'failed') LIMIT 200`;
  return rows.map((row) => ({ databaseId: row.database_id, database: row.database, stage: row.stage, state: row.state, failure: row.failure }));
}
