import { AppError, notFound } from '../app-error';
import type { Principal } from '../auth/accounts';
import { audited } from '../db/audit';
import type { BlobStore } from '../db/blob-store';
import { isUniqueViolation, pgText, type Tx } from '../db/database';
import { notify } from '../db/notify';
import { lockDatabase } from '../pipeline/artefact-store';
import { restoreVersion } from '../pipeline/save-edit';
import { askToCancel, passedOn, postRequest } from '../pipeline/schedule';
import type { StageName } from '../pipeline/stages/stage';
import type { DecisionServices } from './check-task-edit';
import type { DecideResponse } from './decision-api';
import { assertPerson, decidedBefore, outcome } from './decision-outcome';

interface UndoInput {
  readonly idempotencyKey: string;
  readonly note?: string | undefined;
}

/**
 * Takes a decision back with a new one: what stood before stands again, directives are withdrawn,
 * an edited version gives way to the one it replaced, and work that was started is cancelled or
 * done again without it.
 */
export async function undo(
  services: DecisionServices,
  user: Principal,
  decisionId: string,
  input: UndoInput,
): Promise<DecideResponse> {
  assertPerson(user);
  const { db, blobs } = services;
  const before = await decidedBefore(db, user, input.idempotencyKey);
  if (before) return before;
  try {
    await audited(db, async (tx) => {
      const decision = await lockUndoable(tx, user, decisionId);
      const { task } = decision;
      const undoing = await recordUndo(tx, user, decision, input);
      if (task)
        await tx.task.update({ where: { id: task.id }, data: { decisionId: decision.previousId } });
      await tx.directive.updateMany({
        where: { decisionId, withdrawnAt: null },
        data: { withdrawnAt: new Date() },
      });
      await takeBackEdit(tx, blobs, decision);
      await takeBackWork(tx, decision);
      const where = { benchmarkId: decision.benchmarkId, databaseId: decision.databaseId };
      await notify(
        tx,
        task
          ? { type: 'task', ...where, taskId: task.id, change: 'undone' }
          : { type: 'tasks', ...where },
      );
      return {
        result: undefined,
        audit: [
          {
            chain: decision.benchmarkId,
            actor: user.id,
            action: 'undo',
            subject: task ? `task:${task.id}` : `database:${decision.databaseId}`,
            detail: { decision: undoing.id, undoes: decisionId, verdict: decision.verdict },
          },
        ],
      };
    });
  } catch (error) {
    const same = isUniqueViolation(error)
      ? await decidedBefore(db, user, input.idempotencyKey)
      : undefined;
    if (same) return same;
    if (isUniqueViolation(error))
      throw new AppError(
        'conflict',
        'Somebody has undone this decision already',
        'Reload the task.',
      );
    throw error;
  }
  return { ...(await outcome(db, user, input.idempotencyKey)), first: true };
}

/** The decision, its database locked. @throws {AppError} where it is not this user's to undo */
async function lockUndoable(tx: Tx, user: Principal, decisionId: string) {
  const asked = await tx.decision.findUnique({ where: { id: decisionId } });
  if (!asked) throw notFound('This decision');
  await lockDatabase(tx, asked.databaseId);
  const decision = await tx.decision.findUniqueOrThrow({
    where: { id: decisionId },
    include: { task: { include: { artefact: true } }, undoneBy: true },
  });
  if (decision.userId !== user.id && user.role === 'reviewer')
    throw new AppError(
      'forbidden',
      'This is another reviewer’s decision',
      'A lead can re-open it.',
    );
  const { task } = decision;
  if (
    decision.undoneBy ||
    decision.verdict === 'undo' ||
    (task && task.decisionId !== decisionId)
  ) {
    throw new AppError(
      'conflict',
      'A later decision has taken the place of this one',
      'Reload the task to see it.',
    );
  }
  return decision;
}

async function recordUndo(
  tx: Tx,
  user: Principal,
  decision: Awaited<ReturnType<typeof lockUndoable>>,
  input: UndoInput,
) {
  return tx.decision.create({
    data: {
      benchmarkId: decision.benchmarkId,
      databaseId: decision.databaseId,
      taskId: decision.taskId,
      versionId: decision.versionId,
      contentHash: decision.contentHash,
      inputsHash: decision.inputsHash,
      userId: user.id,
      verdict: 'undo',
      settles: false,
      awaits: false,
      note: input.note === undefined ? null : pgText(input.note),
      idempotencyKey: input.idempotencyKey,
      undoesId: decision.id,
      createdAt: await now(tx),
    },
  });
}

interface UndoneDecision {
  readonly id: string;
  readonly databaseId: string;
  readonly versionId: string | null;
  readonly replacedId: string | null;
  readonly editedId: string | null;
  readonly restartStage: string | null;
  readonly restartOnly: string[];
  readonly restartAll: boolean;
}

async function takeBackEdit(tx: Tx, blobs: BlobStore, decision: UndoneDecision): Promise<void> {
  if (!decision.replacedId) return;
  const replaced = await tx.artefactVersion.findUniqueOrThrow({
    where: { id: decision.replacedId },
    include: { artefact: true },
  });
  // Where agents have answered since, their version stays: it was made without the edit, or is done
  // again below.
  if (replaced.artefact.heldEdit) await restoreVersion(tx, blobs, decision.replacedId);
}

async function takeBackWork(tx: Tx, decision: UndoneDecision): Promise<void> {
  if (!decision.restartStage) return;
  const stage = decision.restartStage as StageName;
  const unsent = await tx.$queryRaw<{ id: bigint }[]>`
    UPDATE outbox SET handled_at = now(), failure = 'undone'
      WHERE handled_at IS NULL AND topic = 'request_stage'
      AND position(convert_to(${decision.id}, 'UTF8') in payload) > 0 RETURNING id`;
  if (unsent.length > 0) return;
  const own = await tx.stageRun.findMany({
    where: { decisionId: decision.id, state: { in: ['queued', 'running'] } },
  });
  await tx.stageRun.updateMany({
    where: { id: { in: own.map((run) => run.id) }, state: 'queued' },
    data: { state: 'cancelled', endedAt: new Date() },
  });
  await askToCancel(
    tx,
    own.filter((run) => run.state === 'running').map((run) => run.id),
  );
  if (own.length > 0) return;
  // It has been done already, or together with other requests: done again, without the directive or
  // the edit.
  await postRequest(tx, {
    databaseId: decision.databaseId,
    stage,
    only: decision.restartAll ? null : passedOn(stage, decision.restartOnly),
    carriesChange: decision.replacedId !== null,
  });
}

/**
 * A clock reading after the database was locked, so that it is not before anything that was saved
 * meanwhile.
 */
async function now(tx: Tx): Promise<Date> {
  const [row] = await tx.$queryRaw<
    { now: Date }[]
  >`SELECT date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond' AS now`;
  return row!.now;
}
