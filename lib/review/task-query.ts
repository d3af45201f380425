import { Prisma } from '../db/generated/client';
import type { Database, Tx } from '../db/database';
import type { Page } from '../api-fields';
import type { ArtefactKind, GateName } from '../pipeline/stages/stage';
import type { TaskCounts, TaskState } from '../pipeline/task-state';
import type { Verdict } from './decision-api';
import type { TaskRow } from './queue-api';

/**
 * Reviewers work through the gates in their order, within a gate in the order in which agents
 * delivered.
 */
export const queueOrder = Prisma.sql`gate_rank(task.gate), task.position`;

export interface QueueFilter {
  readonly benchmarkId?: string | undefined;
  readonly databaseId?: string | undefined;
  readonly gate?: GateName | undefined;
  readonly assignee?: string | undefined;
}

/** Conditions on `task` for what a caller filters by. */
export function filterSql(filter: QueueFilter, userId: string): Prisma.Sql {
  const conditions = [Prisma.sql`true`];
  if (filter.benchmarkId)
    conditions.push(Prisma.sql`task.benchmark_id = ${filter.benchmarkId}::uuid`);
  if (filter.databaseId) conditions.push(Prisma.sql`task.database_id = ${filter.databaseId}::uuid`);
  // The rank is what the indices of a claim are ordered by.
  if (filter.gate)
    conditions.push(
      Prisma.sql`task.gate = ${filter.gate} AND gate_rank(task.gate) = gate_rank(${filter.gate})`,
    );
  if (filter.assignee === 'nobody') conditions.push(Prisma.sql`task.assignee_id IS NULL`);
  else if (filter.assignee)
    conditions.push(
      Prisma.sql`task.assignee_id = ${filter.assignee === 'me' ? userId : filter.assignee}::uuid`,
    );
  return Prisma.join(conditions, ' AND ');
}

export interface RawRow {
  readonly id: string;
  readonly benchmark_id: string;
  readonly database_id: string;
  readonly database: string;
  readonly gate: GateName;
  readonly kind: ArtefactKind;
  readonly key: string;
  readonly title: string;
  readonly state: TaskState;
  readonly verdict: Verdict | null;
  readonly decided_by: string | null;
  readonly decided_at: Date | null;
  readonly leased_by: string | null;
  readonly leased_until: Date | null;
  readonly assignee_id: string | null;
  readonly assignee: string | null;
  readonly seq: number;
  readonly comments: number;
}

export const rowColumns = Prisma.sql`
  task.id, task.benchmark_id, task.database_id, source_database.name AS database, task.gate,
    artefact.kind, artefact.key,
    task.title, task.state, decision.verdict, decider.name AS decided_by,
      decision.created_at AS decided_at,
    holder.name AS leased_by, lease.expires_at AS leased_until, task.assignee_id,
      assignee.name AS assignee, version.seq,
    (SELECT count(*)::int FROM comment
      WHERE comment.task_id = task.id AND comment.resolved_at IS NULL) AS comments`;
export const rowTables = Prisma.sql`
  task
  JOIN source_database ON source_database.id = task.database_id
  JOIN artefact ON artefact.id = task.artefact_id
  JOIN artefact_version version ON version.id = artefact.current_id
  LEFT JOIN decision ON decision.id = task.decision_id
  LEFT JOIN app_user decider ON decider.id = decision.user_id
  LEFT JOIN lease ON lease.task_id = task.id AND lease.expires_at > now()
  LEFT JOIN app_user holder ON holder.id = lease.user_id
  LEFT JOIN app_user assignee ON assignee.id = task.assignee_id`;

export const taskRow = (row: RawRow): TaskRow => ({
  id: row.id,
  benchmarkId: row.benchmark_id,
  databaseId: row.database_id,
  database: row.database,
  gate: row.gate,
  kind: row.kind,
  key: row.key,
  title: row.title,
  state: row.state,
  verdict: row.verdict,
  decidedBy: row.decided_by,
  decidedAt: row.decided_at?.toISOString() ?? null,
  leasedBy: row.leased_by,
  leasedUntil: row.leased_until?.toISOString() ?? null,
  assignee: row.assignee_id && row.assignee ? { id: row.assignee_id, name: row.assignee } : null,
  version: row.seq,
  comments: row.comments,
});

export interface QueueQuery extends QueueFilter {
  readonly state: TaskState | 'actionable' | 'all';
  readonly search?: string | undefined;
  readonly sort: 'queue' | 'newest' | 'key';
  readonly page: number;
  readonly pageSize: number;
}

/** A page of the queue; payloads are never loaded. */
export async function listTasks(
  db: Database,
  query: QueueQuery,
  userId: string,
): Promise<Page<TaskRow>> {
  const states = statesOf(query.state);
  const search = query.search ? `%${query.search.replaceAll(/[\\%_]/g, '\\$&')}%` : null;
  const where = Prisma.sql`${filterSql(query, userId)}
    AND ${states === null ? Prisma.sql`true` : Prisma.sql`task.state = ANY(${states}::text[])`}
    AND ${search === null ? Prisma.sql`true` : Prisma.sql`(task.title ILIKE ${search} OR artefact.key ILIKE ${search})`}`;
  const order = {
    queue: queueOrder,
    newest: Prisma.sql`task.position DESC`,
    key: Prisma.sql`artefact.key, task.position`,
  }[query.sort];
  const [rows, totals] = await Promise.all([
    db.prisma.$queryRaw<
      RawRow[]
    >`SELECT ${rowColumns} FROM ${rowTables} WHERE ${where} ORDER BY ${order}
      LIMIT ${query.pageSize} OFFSET ${(query.page - 1) * query.pageSize}`,
    db.prisma.$queryRaw<{ total: number }[]>`
      SELECT count(*)::int AS total FROM task JOIN artefact ON artefact.id = task.artefact_id
        WHERE ${where}`,
  ]);
  return {
    rows: rows.map(taskRow),
    total: totals[0]?.total ?? 0,
    page: query.page,
    pageSize: query.pageSize,
  };
}

// ── Counts ───────────────────────────────────────────────────────────────────────────────────────

export interface GateCounts {
  readonly databaseId: string;
  readonly gate: GateName;
  readonly tasks: TaskCounts;
}

/** Tasks by state, for each database and gate: the numbers of queue, dashboard and export. */
export async function countTasks(on: Tx, filter: QueueFilter, userId = ''): Promise<GateCounts[]> {
  const rows = await on.$queryRaw<
    {
      database_id: string;
      gate: GateName;
      open: number;
      stale: number;
      waiting: number;
      done: number;
    }[]
  >`
    SELECT task.database_id, task.gate,
      count(*) FILTER (WHERE task.state = 'open')::int AS open,
      count(*) FILTER (WHERE task.state = 'stale')::int AS stale,
      count(*) FILTER (WHERE task.state = 'waiting')::int AS waiting,
      count(*) FILTER (WHERE task.state = 'done')::int AS done
    FROM task
    WHERE ${filterSql(filter, userId)} AND task.state <> 'closed'
    GROUP BY 1, 2 ORDER BY 1, gate_rank(task.gate)`;
  return rows.map(({ database_id, gate, ...tasks }) => ({ databaseId: database_id, gate, tasks }));
}

export function sumCounts(counts: readonly TaskCounts[]): TaskCounts {
  const sum = { open: 0, stale: 0, waiting: 0, done: 0 };
  for (const { open, stale, waiting, done } of counts) {
    sum.open += open;
    sum.stale += stale;
    sum.waiting += waiting;
    sum.done += done;
  }
  return sum;
}

/** The states that a filter names; null for all. */
function statesOf(filter: QueueQuery['state']): readonly string[] | null {
  if (filter === 'actionable') return ['open', 'stale'];
  return filter === 'all' ? null : [filter];
}
