import { Prisma } from '../db/generated/client';
import type { Principal } from '../auth/accounts';
import { AppError, notFound } from '../app-error';
import type { Database, Tx } from '../db/database';
import { notification, notify } from '../db/notify';
import { workerSilence } from '../pipeline/heartbeat';
import type { WorkState } from '../pipeline/stage-api';
import type { StageName } from '../pipeline/stages/stage';
import type { EmptyQueue, LeaseInfo } from './lease-api';
import { countTasks, filterSql, queueOrder, sumCounts, type QueueFilter } from './task-query';

const leaseSeconds = 120;
export const heartbeatSeconds = 30;
/** The task on screen and those prefetched; what is decided and not saved yet is not counted. */
const maxLeases = 4;

const expiry = Prisma.sql`now() + make_interval(secs => ${leaseSeconds})`;

/**
 * Leases the next task to a reviewer: one that they hold already but do not list in `holding`
 * first, then the first of the queue that nobody else holds. Whoever comes from a task (`after`)
 * stays in its database, else in its benchmark, as long as there is something to do: what they hold
 * elsewhere comes last. What is in `leaveOut` is never the answer: the caller has decided it and
 * the decision is on its way, or has skipped it. Undefined when there is none.
 */
export async function claimTask(
  db: Database,
  user: Principal,
  filter: QueueFilter,
  holding: readonly string[],
  after?: string,
  leaveOut: readonly string[] = [],
): Promise<LeaseInfo | undefined> {
  const condition = filterSql(filter, user.id);
  const passOver = Prisma.sql`${[...holding, ...leaveOut]}::uuid[]`;
  const from = await claimContext(db, user, { condition, passOver, leaveOut, after });
  const resumed = from.resumeHere && (await renewLease(db, user, from.resumeHere));
  if (resumed) return resumed;
  const elsewhere = () =>
    from.resumeElsewhere ? renewLease(db, user, from.resumeElsewhere) : undefined;
  if (from.held >= maxLeases) {
    const held = await elsewhere();
    if (held) return held;
    throw new AppError(
      'conflict',
      `You hold ${maxLeases} tasks already`,
      'Decide or release one of them first.',
    );
  }
  // One index each (`task_claim…`): its first entry that nobody holds is the next task.
  const owners = from.assigned
    ? [Prisma.sql`task.assignee_id = ${user.id}::uuid`, unassigned]
    : [unassigned];
  for (const owner of owners) {
    for (const place of nearestFirst(from)) {
      const lease = await claimFirst(
        db,
        user,
        Prisma.sql`${condition} AND ${owner} AND ${place}`,
        passOver,
      );
      if (lease) return lease;
    }
  }
  return elsewhere();
}

const unassigned = Prisma.sql`task.assignee_id IS NULL`;

interface ClaimContext {
  /** Of the task that the reviewer comes from. */
  readonly databaseId: string | null;
  readonly benchmarkId: string | null;
  /** Live leases, without those of decisions on their way. */
  readonly held: number;
  /** Whether anything to do is assigned to the reviewer. */
  readonly assigned: boolean;
  /**
   * A lease of the reviewer's own that is not on screen: in the database they come from, and in
   * any.
   */
  readonly resumeHere: string | null;
  readonly resumeElsewhere: string | null;
}

interface ClaimConditions {
  readonly condition: Prisma.Sql;
  readonly passOver: Prisma.Sql;
  readonly leaveOut: readonly string[];
  readonly after: string | undefined;
}

/** What a claim has to know of the reviewer, in one statement. */
async function claimContext(
  db: Database,
  user: Principal,
  conditions: ClaimConditions,
): Promise<ClaimContext> {
  const { condition, passOver, leaveOut, after } = conditions;
  const [row] = await db.query<ClaimContext>(Prisma.sql`
    WITH origin AS (SELECT database_id, benchmark_id FROM task WHERE id = ${after ?? null}::uuid),
    own AS (
      SELECT task.id, task.database_id, gate_rank(task.gate) AS rank, task.position
      FROM lease JOIN task ON task.id = lease.task_id
      WHERE lease.user_id = ${user.id}::uuid AND task.state IN ('open', 'stale')
        AND NOT task.id = ANY(${passOver}) AND ${condition}
    )
    SELECT (SELECT database_id FROM origin) AS "databaseId", (SELECT benchmark_id
      FROM origin) AS "benchmarkId",
      (SELECT count(*)::int FROM lease
        WHERE user_id = ${user.id}::uuid AND expires_at > now()
          AND NOT task_id = ANY(${[...leaveOut]}::uuid[])) AS held,
      EXISTS (SELECT 1 FROM task WHERE assignee_id = ${user.id}::uuid
        AND state IN ('open', 'stale')) AS assigned,
      (SELECT own.id FROM own WHERE NOT EXISTS (SELECT 1 FROM origin
        WHERE origin.database_id <> own.database_id)
        ORDER BY own.rank, own.position LIMIT 1) AS "resumeHere",
      (SELECT own.id FROM own ORDER BY own.rank, own.position LIMIT 1) AS "resumeElsewhere"`);
  return row!;
}

const nearestFirst = ({ databaseId, benchmarkId }: ClaimContext): Prisma.Sql[] =>
  databaseId === null
    ? [Prisma.sql`true`]
    : [
        Prisma.sql`task.database_id = ${databaseId}::uuid`,
        Prisma.sql`task.benchmark_id = ${benchmarkId}::uuid`,
        Prisma.sql`true`,
      ];

/** Renews one's own lease; undefined when somebody else has it by now. */
async function renewLease(
  db: Database,
  user: Principal,
  taskId: string,
): Promise<LeaseInfo | undefined> {
  const [row] = await db.query<{ task_id: string; expires_at: Date }>(Prisma.sql`
    UPDATE lease SET heartbeat_at = now(), expires_at = ${expiry}
    WHERE task_id = ${taskId}::uuid AND user_id = ${user.id}::uuid RETURNING task_id, expires_at`);
  return row && leaseInfo(row);
}

/** Leases the first task of the queue under a condition. */
async function claimFirst(
  db: Database,
  user: Principal,
  condition: Prisma.Sql,
  passOver: Prisma.Sql,
): Promise<LeaseInfo | undefined> {
  for (let attempt = 0; attempt < 60; attempt++) {
    const outcome = await claimOnce(db, user, condition, passOver);
    if (outcome !== 'lost') return outcome === 'none' ? undefined : outcome;
  }
  throw new AppError(
    'unavailable',
    'Too many reviewers ask for tasks at this moment',
    'Try again.',
  );
}

/**
 * One statement. The chosen task's row is locked, and rows that others are choosing at this moment
 * are skipped. Who comes just after another one's commit may still choose the same row by its older
 * snapshot; then the lease's own condition refuses (`lost`), and the caller asks again.
 */
async function claimOnce(
  db: Database,
  user: Principal,
  condition: Prisma.Sql,
  passOver: Prisma.Sql,
): Promise<LeaseInfo | 'none' | 'lost'> {
  const [row] = await db.query<{ task_id: string | null; expires_at: Date | null }>(Prisma.sql`
    WITH candidate AS (
      SELECT task.id, task.benchmark_id, task.database_id FROM task
      WHERE task.state IN ('open', 'stale') AND ${condition}
        AND NOT task.id = ANY(${passOver})
        AND NOT EXISTS (SELECT 1 FROM lease
        WHERE lease.task_id = task.id AND lease.expires_at > now())
      ORDER BY ${queueOrder}
      LIMIT 1 FOR NO KEY UPDATE OF task SKIP LOCKED
    ), claimed AS (
      INSERT INTO lease (task_id, user_id, expires_at) SELECT id, ${user.id}::uuid, ${expiry}
        FROM candidate
      ON CONFLICT (task_id) DO UPDATE
        SET user_id = excluded.user_id, acquired_at = now(), heartbeat_at = now(),
          expires_at = excluded.expires_at
        WHERE lease.expires_at <= now()
      RETURNING task_id, expires_at
    )
    SELECT claimed.task_id, claimed.expires_at, ${notification(
      Prisma.sql`jsonb_build_object('type', 'task', 'benchmarkId', candidate.benchmark_id,
      'databaseId', candidate.database_id, 'taskId', claimed.task_id, 'change', 'leased')`,
      Prisma.sql`claimed.task_id IS NOT NULL`,
    )}
    FROM candidate LEFT JOIN claimed ON claimed.task_id = candidate.id`);
  if (!row) return 'none';
  return row.task_id && row.expires_at
    ? leaseInfo({ task_id: row.task_id, expires_at: row.expires_at })
    : 'lost';
}

/** Takes this very task, or renews one's own lease. @throws {AppError} leased, naming the holder */
export async function leaseTask(db: Database, user: Principal, taskId: string): Promise<LeaseInfo> {
  if (!(await db.prisma.task.findUnique({ where: { id: taskId }, select: { id: true } })))
    throw notFound('This task');
  const [lease] = await db.query<{ task_id: string; expires_at: Date }>(Prisma.sql`
    INSERT INTO lease (task_id, user_id, expires_at)
      VALUES (${taskId}::uuid, ${user.id}::uuid, ${expiry})
    ON CONFLICT (task_id) DO UPDATE
      SET user_id = excluded.user_id, heartbeat_at = now(), expires_at = excluded.expires_at,
      acquired_at = CASE WHEN lease.user_id = excluded.user_id THEN lease.acquired_at ELSE now() END
      WHERE lease.expires_at <= now() OR lease.user_id = excluded.user_id
    RETURNING task_id, expires_at`);
  if (lease) return leaseInfo(lease);
  throw await heldByAnother(db.prisma, taskId);
}

async function heldByAnother(on: Tx, taskId: string): Promise<AppError> {
  const lease = await on.lease.findUnique({ where: { taskId }, include: { user: true } });
  return leasedBy(lease?.user.name);
}
export const leasedBy = (name: string | undefined): AppError =>
  new AppError(
    'leased',
    `${name ?? 'Somebody else'} is working on this task`,
    'Take the next one, or come back when it is free.',
  );

export async function releaseTask(db: Database, user: Principal, taskId: string): Promise<void> {
  const { count } = await db.prisma.lease.deleteMany({ where: { taskId, userId: user.id } });
  if (count === 0) return; // given back already, or expired and taken: both are what was wanted
  const task = await db.prisma.task.findUnique({ where: { id: taskId } });
  if (task)
    await notify(db, {
      type: 'task',
      benchmarkId: task.benchmarkId,
      databaseId: task.databaseId,
      taskId,
      change: 'released',
    });
}

const leaseInfo = (row: { task_id: string; expires_at: Date }): LeaseInfo => ({
  taskId: row.task_id,
  expiresAt: row.expires_at.toISOString(),
  heartbeatSeconds,
});

/** Why there is nothing to claim. `skipped`: what the caller left out. */
export async function explainEmptyQueue(
  db: Database,
  user: Principal,
  filter: QueueFilter,
  skipped: readonly string[] = [],
): Promise<EmptyQueue> {
  const [gates, leased, left, stages, silence] = await Promise.all([
    countTasks(db.prisma, filter, user.id),
    db.prisma.$queryRaw<{ name: string; tasks: number; until: Date }[]>`
      SELECT app_user.name, count(*)::int AS tasks, max(lease.expires_at) AS until
      FROM lease JOIN task ON task.id = lease.task_id JOIN app_user ON app_user.id = lease.user_id
      WHERE lease.expires_at > now() AND lease.user_id <> ${user.id}::uuid
        AND task.state IN ('open', 'stale') AND ${filterSql(filter, user.id)}
      GROUP BY app_user.id, app_user.name ORDER BY app_user.name`,
    db.prisma.$queryRaw<{ n: number }[]>`
      SELECT count(*)::int AS n FROM task
        WHERE task.id = ANY(${[...skipped]}::uuid[]) AND task.state IN ('open', 'stale')
        AND (task.assignee_id IS NULL OR task.assignee_id = ${user.id}::uuid)
        AND ${filterSql(filter, user.id)}
        AND NOT EXISTS (SELECT 1 FROM lease
        WHERE lease.task_id = task.id AND lease.expires_at > now()
          AND lease.user_id <> ${user.id}::uuid)`,
    unfinishedStages(db, filter),
    workerSilence(db),
  ]);
  const counts = sumCounts(gates.map(({ tasks }) => tasks));
  const leasedToOthers = leased.reduce((sum, row) => sum + row.tasks, 0);
  const failed = stages.find((stage) => stage.state === 'failed');
  const working = stages.some((stage) => stage.state === 'queued' || stage.state === 'running');
  const skippedTasks = left[0]?.n ?? 0;
  const reasons: readonly (readonly [EmptyQueue['reason'], boolean])[] = [
    ['skipped', skippedTasks > 0],
    ['leased_to_others', leasedToOthers > 0],
    ['waiting_for_agents', working],
    ['stage_failed', failed !== undefined],
    ['waiting_for_agents', counts.waiting > 0],
    ['all_done', counts.done > 0],
  ];
  const reason = reasons.find(([, applies]) => applies)?.[0] ?? 'nothing_yet';
  const messages: Record<EmptyQueue['reason'], string> = {
    skipped: `You skipped the ${skippedTasks} remaining ${skippedTasks === 1 ? 'task' : 'tasks'}.`,
    leased_to_others:
      `Other reviewers are working on the ${leasedToOthers} remaining ` +
      `${leasedToOthers === 1 ? 'task' : 'tasks'}.`,
    waiting_for_agents: silence ?? 'The agents are at work; new tasks come when they are done.',
    stage_failed:
      `A stage failed: ${failed?.database}, ${failed?.stage.replaceAll('_', ' ')}: ` +
      `${failed?.failure ?? ''}. A lead can retry it.`,
    all_done:
      counts.open + counts.stale > 0
        ? 'What is left is assigned to others.'
        : 'All tasks are done.',
    nothing_yet: 'There are no tasks here yet.',
  };
  return {
    reason,
    message: messages[reason],
    counts: { ...counts, leasedToOthers, skipped: skippedTasks },
    leasedTo: leased.map(({ name, tasks, until }) => ({ name, tasks, until: until.toISOString() })),
    stages,
  };
}

async function unfinishedStages(db: Database, filter: QueueFilter): Promise<EmptyQueue['stages']> {
  const { benchmarkId, databaseId } = filter;
  const inBenchmark = benchmarkId
    ? Prisma.sql`source_database.benchmark_id = ${benchmarkId}::uuid`
    : Prisma.sql`true`;
  const inDatabase = databaseId
    ? Prisma.sql`source_database.id = ${databaseId}::uuid`
    : Prisma.sql`true`;
  const rows = await db.prisma.$queryRaw<
    {
      database_id: string;
      database: string;
      stage: StageName;
      state: WorkState;
      failure: string | null;
    }[]
  >`
    SELECT * FROM (
      SELECT DISTINCT ON (stage_run.database_id, stage) stage_run.database_id,
        source_database.name AS database, stage, state::text, failure
      FROM stage_run JOIN source_database ON source_database.id = stage_run.database_id
      WHERE ${inBenchmark} AND ${inDatabase}
      ORDER BY stage_run.database_id, stage, stage_run.position DESC) latest
    WHERE state IN ('queued', 'running', 'failed') LIMIT 200`;
  return rows.map((row) => ({
    databaseId: row.database_id,
    database: row.database,
    stage: row.stage,
    state: row.state,
    failure: row.failure,
  }));
}
