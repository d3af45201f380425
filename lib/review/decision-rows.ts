import type { Database } from '../db/database';
import { Prisma } from '../db/generated/client';
import type { TaskState } from '../pipeline/task-state';
import type { DecisionRow, ReasonCode, Verdict } from './decision-api';

interface RawDecision {
  readonly id: string;
  readonly task_id: string | null;
  readonly verdict: Verdict;
  readonly settles: boolean;
  readonly created_at: Date;
  readonly reason_code: ReasonCode | null;
  readonly note: string | null;
  readonly user_id: string;
  readonly user_name: string;
  readonly seq: number | null;
  readonly undone_by: string | null;
  /** Whether it is the task's standing one; null without a task. */
  readonly latest: boolean | null;
  readonly state: TaskState | null;
}

const selectDecisions = Prisma.sql`
  SELECT decision.id, decision.task_id, decision.verdict, decision.settles, decision.created_at,
    decision.reason_code, decision.note,
    decider.id AS user_id, decider.name AS user_name, version.seq, undoer.name AS undone_by,
    task.decision_id IS NOT DISTINCT FROM decision.id AS latest, task.state
  FROM decision
  JOIN app_user decider ON decider.id = decision.user_id
  LEFT JOIN artefact_version version ON version.id = decision.version_id
  LEFT JOIN decision undoing ON undoing.undoes_id = decision.id
  LEFT JOIN app_user undoer ON undoer.id = undoing.user_id
  LEFT JOIN task ON task.id = decision.task_id`;

/** What a decision is worth now. */
function standingOf(row: RawDecision): DecisionRow['standing'] {
  if (row.undone_by !== null) return 'undone';
  if (row.task_id === null) return 'counts';
  if (!row.latest) return 'superseded';
  if (row.settles) return row.state === 'done' ? 'counts' : 'stale';
  return row.state === 'waiting' ? 'counts' : 'answered';
}

const decisionRow = (row: RawDecision): DecisionRow => ({
  id: row.id,
  verdict: row.verdict,
  by: { id: row.user_id, name: row.user_name },
  at: row.created_at.toISOString(),
  reason: row.reason_code,
  note: row.note,
  version: row.seq ?? 0,
  undoneBy: row.undone_by,
  standing: standingOf(row),
});

/** A task's decisions, newest first, with what each is worth now. */
export async function decisionRows(db: Database, taskId: string): Promise<DecisionRow[]> {
  const rows = await db.query<RawDecision>(
    Prisma.sql`${selectDecisions} WHERE decision.task_id = ${taskId}::uuid
      ORDER BY decision.created_at DESC`,
  );
  return rows.map(decisionRow);
}

export interface FoundDecision {
  readonly row: DecisionRow;
  readonly taskId: string | null;
  readonly taskState: TaskState;
}

/**
 * The decision of an idempotency key; one on a whole database has no task, which is as a closed
 * one.
 */
export async function findDecision(
  db: Database,
  idempotencyKey: string,
): Promise<FoundDecision | undefined> {
  const [row] = await db.query<RawDecision>(
    Prisma.sql`${selectDecisions} WHERE decision.idempotency_key = ${idempotencyKey}::uuid`,
  );
  return row && { row: decisionRow(row), taskId: row.task_id, taskState: row.state ?? 'closed' };
}
