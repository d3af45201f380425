import { AppError, notFound } from '../app-error';
import type { Principal } from '../auth/accounts';
import type { BlobStore } from '../db/blob-store';
import type { Database, Tx } from '../db/database';
import { encodeContent } from '../pipeline/content';
import type { EditOutcome } from '../pipeline/stages/edit-outcome';
import type { ArtefactKind } from '../pipeline/stages/stage';
import type { DecideInput, EditCheck } from './decision-api';
import type { UserWork } from './user-work/work';

export interface DecisionServices {
  readonly db: Database;
  readonly blobs: BlobStore;
  /** Checks what a user edited, outside this process where that may take long. */
  checkEdit(
    userId: string,
    edit: UserWork['check']['input'],
    signal: AbortSignal,
  ): Promise<EditOutcome>;
}

type SavedEdit = Extract<EditOutcome, { ok: true }>;
/** An edit that passed the checks, its content stored. */
export type PreparedEdit = SavedEdit & { readonly blobHash: string };

/** What is wrong with an edit, or what its checks could not show, without saving it. */
export async function checkTaskEdit(
  services: DecisionServices,
  user: Principal,
  taskId: string,
  content: object,
  signal: AbortSignal,
): Promise<EditCheck> {
  const task = await loadTask(services.db.prisma, taskId);
  const outcome = await runCheck(services, user, task, content, signal);
  if (!outcome.ok) return { problems: outcome.problems, notes: [] };
  return { problems: [], notes: outcome.notes ?? [] };
}

/** Checks an edit and stores its content; outside the transaction, because it may take long. */
export async function preparedEdit(
  services: DecisionServices,
  user: Principal,
  taskId: string,
  input: DecideInput & { content: object },
  signal: AbortSignal,
): Promise<PreparedEdit | undefined> {
  const { db, blobs } = services;
  if (
    await db.prisma.decision.findUnique({
      where: { idempotencyKey: input.idempotencyKey },
      select: { id: true },
    })
  )
    return undefined;
  const outcome = await runCheck(
    services,
    user,
    await loadTask(db.prisma, taskId),
    input.content,
    signal,
  );
  if (!outcome.ok) {
    throw new AppError(
      'check_failed',
      `The edit does not pass the checks: ${outcome.problems[0]?.message ?? ''}`,
      'Correct what is named and save again; nothing was saved.',
      outcome.problems,
    );
  }
  return { ...outcome, blobHash: await blobs.put(encodeContent(outcome.artefact.content)) };
}

function runCheck(
  services: DecisionServices,
  user: Principal,
  task: LoadedTask,
  content: object,
  signal: AbortSignal,
): Promise<EditOutcome> {
  const ref = { kind: task.artefact.kind as ArtefactKind, key: task.artefact.key };
  return services.checkEdit(user.id, { databaseId: task.databaseId, ref, content }, signal);
}

type LoadedTask = Awaited<ReturnType<typeof loadTask>>;
async function loadTask(on: Tx, taskId: string) {
  const task = await on.task.findUnique({
    where: { id: taskId },
    include: { artefact: { include: { current: true } } },
  });
  if (!task?.artefact.current) throw notFound('This task');
  return task;
}
