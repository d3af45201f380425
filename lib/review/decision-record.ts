import { randomUUID } from 'node:crypto';
import { notFound } from '../app-error';
import { pgText, type Queries } from '../db/database';
import { Prisma } from '../db/generated/client';
import { notification } from '../db/notify';
import type { StageName } from '../pipeline/stages/stage';
import type { TaskState } from '../pipeline/task-state';
import type { DecideInput } from './decision-api';

/** A task as a decision finds it, locked until the transaction ends. */
export interface DecidableTask {
  readonly id: string;
  readonly benchmarkId: string;
  readonly databaseId: string;
  readonly artefactId: string;
  readonly gate: string;
  readonly decisionId: string | null;
  readonly artefact: { readonly kind: string; readonly key: string };
  readonly current: {
    readonly id: string;
    readonly contentHash: string;
    readonly inputsHash: string;
  };
  /** As derived at this moment, by the view's definition. */
  readonly state: TaskState;
  /** Who holds a live lease, by PostgreSQL's clock. */
  readonly holder: { readonly id: string; readonly name: string } | null;
  /** Who made the latest decision. */
  readonly decider: { readonly id: string; readonly name: string; readonly verdict: string } | null;
  /** Whether a decision with this idempotency key has been made. */
  readonly madeBefore: boolean;
}

interface RawTask {
  readonly id: string;
  readonly benchmark_id: string;
  readonly database_id: string;
  readonly artefact_id: string;
  readonly gate: string;
  readonly decision_id: string | null;
  readonly kind: string;
  readonly key: string;
  readonly current_id: string;
  readonly content_hash: string;
  readonly inputs_hash: string;
  readonly state: TaskState;
  readonly holder_id: string | null;
  readonly holder: string | null;
  readonly decider_id: string | null;
  readonly decider: string | null;
  readonly verdict: string | null;
  readonly made_before: boolean;
}

/**
 * Locks a task and reads what a decision rests on. `changesVersions`: the decision edits an
 * artefact or sets agents to work, so that it waits for others that do. Read after the locks were
 * got, so that nothing of it is outdated.
 */
export async function lockTask(
  on: Queries,
  taskId: string,
  idempotencyKey: string,
  changesVersions: boolean,
): Promise<DecidableTask> {
  const [row] = await on.query<RawTask>(Prisma.sql`
    SELECT * FROM decidable_task(${taskId}::uuid, ${idempotencyKey}::uuid,
      ${changesVersions}::boolean)`);
  if (!row) throw notFound('This task');
  return {
    id: row.id,
    benchmarkId: row.benchmark_id,
    databaseId: row.database_id,
    artefactId: row.artefact_id,
    gate: row.gate,
    decisionId: row.decision_id,
    artefact: { kind: row.kind, key: row.key },
    current: { id: row.current_id, contentHash: row.content_hash, inputsHash: row.inputs_hash },
    state: row.state,
    holder: row.holder_id && row.holder ? { id: row.holder_id, name: row.holder } : null,
    decider:
      row.decider_id && row.decider && row.verdict
        ? { id: row.decider_id, name: row.decider, verdict: row.verdict }
        : null,
    madeBefore: row.made_before,
  };
}

/** A decision to be written, beside what was sent. */
export interface NewDecision {
  readonly task: DecidableTask;
  readonly userId: string;
  readonly input: DecideInput;
  /** The version that it is bound to. */
  readonly bound: {
    readonly versionId: string;
    readonly contentHash: string;
    readonly inputsHash: string;
  };
  readonly settles: boolean;
  readonly awaits: boolean;
  /**
   * The version that an edit replaced, and the artefact that it changed where that is another one
   * than the task's.
   */
  readonly replacedId: string | null;
  readonly editedId: string | null;
  readonly restart:
    { readonly stage: StageName; readonly only: readonly string[] | null } | undefined;
}

/**
 * The decision, what it was bound to, and what ends with it: the lease, the decider's draft. One
 * statement. The time is read after the locks were got, so that it is not before anything that was
 * saved meanwhile.
 */
export async function writeDecision(on: Queries, made: NewDecision): Promise<string> {
  const { task, userId, input, bound, restart } = made;
  const id = randomUUID();
  const reason = input.verdict === 'request_changes' ? input.reason : null;
  const note = input.note === undefined ? null : pgText(input.note);
  const message = JSON.stringify({
    type: 'task',
    benchmarkId: task.benchmarkId,
    databaseId: task.databaseId,
    taskId: task.id,
    change: 'decided',
  });
  await on.query(Prisma.sql`
    WITH decided AS (
      INSERT INTO decision (id, benchmark_id, database_id, task_id, version_id, content_hash,
        inputs_hash, user_id, verdict, settles,
        awaits, restart_stage, restart_only, restart_all, edited_id, reason_code, note,
          idempotency_key, replaced_id, previous_id, created_at)
      VALUES (${id}::uuid, ${task.benchmarkId}::uuid, ${task.databaseId}::uuid, ${task.id}::uuid,
        ${bound.versionId}::uuid,
        ${bound.contentHash}, ${bound.inputsHash}, ${userId}::uuid, ${input.verdict},
          ${made.settles},
        ${made.awaits}, ${restart?.stage ?? null}, ${[...(restart?.only ?? [])]}::text[],
          ${restart?.only === null}, ${made.editedId}::uuid,
        ${reason}, ${note}, ${input.idempotencyKey}::uuid, ${made.replacedId}::uuid,
          ${task.decisionId}::uuid,
        date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond')
    ), bound AS (
      INSERT INTO decision_input (decision_id, kind, key, part, hash)
      SELECT ${id}::uuid, kind, key, part, hash FROM artefact_input
        WHERE version_id = ${bound.versionId}::uuid
    ), pointed AS (
      UPDATE task SET decision_id = ${id}::uuid WHERE id = ${task.id}::uuid
    ), released AS (
      DELETE FROM lease WHERE task_id = ${task.id}::uuid
    ), drafted AS (
      DELETE FROM draft_text WHERE task_id = ${task.id}::uuid AND user_id = ${userId}::uuid
    ), looked_at AS (
      INSERT INTO seen (user_id, artefact_id, version_id)
        VALUES (${userId}::uuid, ${task.artefactId}::uuid, ${bound.versionId}::uuid)
      ON CONFLICT (user_id, artefact_id) DO UPDATE SET version_id = excluded.version_id, at = now()
    )
    SELECT ${notification(Prisma.sql`${message}`, Prisma.sql`true`)}`);
  return id;
}
