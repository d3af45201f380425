import type { Principal } from '../auth/accounts';
import { AppError, notFound } from '../app-error';
import { audited, leaveForAudit, type AuditEntry } from '../db/audit';
import type { BlobStore } from '../db/blob-store';
import {
  isUniqueViolation,
  pgText,
  queriesIn,
  type Database,
  type Queries,
  type Tx,
} from '../db/database';
import { notify } from '../db/notify';
import { lockDatabase, restoreVersion, saveEdit } from '../pipeline/artefact-store';
import { encodeContent } from '../pipeline/content';
import { askToCancel, isItemStage, passedOn, postRequest, stageIndex } from '../pipeline/schedule';
import type { EditOutcome } from '../pipeline/stages/check-edit';
import type { ArtefactKind, GateName, StageName } from '../pipeline/stages/stage';
import type { DecideInput, DecideResponse, DirectiveInput, EditCheck } from './decision-api';
import { lockTask, writeDecision, type DecidableTask } from './decision-record';
import { findDecision } from './decision-rows';
import { leasedBy } from './leases';
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
type PreparedEdit = SavedEdit & { readonly blobHash: string };
interface Restart {
  readonly stage: StageName;
  readonly only: readonly string[] | null;
}

/** Verdicts that make sense at a gate only; the others go everywhere. */
const verdictGates: Partial<Record<DecideInput['verdict'], readonly GateName[]>> = {
  keep_unoptimised: ['optimised_query'],
  exclude: ['untranslated'],
  mark_source_defect: ['untranslated', 'optimised_query', 'evidence'],
  reclassify: ['table_validation'],
};

/**
 * A reviewer's decision on a task, bound to the version on screen and to what that version was made
 * from. Decision, directives, new version, consequences and audit row are one transaction; the same
 * idempotency key decides once.
 */
export async function decide(
  services: DecisionServices,
  user: Principal,
  taskId: string,
  input: DecideInput,
  signal: AbortSignal,
): Promise<DecideResponse> {
  assertPerson(user);
  const { db } = services;
  const edit =
    'content' in input ? await preparedEdit(services, user, taskId, input, signal) : undefined;
  try {
    const first = changesVersions(input)
      ? await audited(db, async (tx) => {
          const audit = await record(queriesIn(tx), user, taskId, input, { tx, edit });
          return { result: audit !== undefined, audit: audit ? [audit] : [] };
        })
      : await db.shortTransaction(async (on) => {
          const audit = await record(on, user, taskId, input);
          if (audit) await leaveForAudit(on, [audit]);
          return audit !== undefined;
        });
    return { ...(await outcome(db, user, input.idempotencyKey, taskId)), first };
  } catch (error) {
    const same = isUniqueViolation(error)
      ? await decidedBefore(db, user, input.idempotencyKey, taskId)
      : undefined;
    if (same) return same;
    throw error;
  }
}

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

// ── One transaction ──────────────────────────────────────────────────────────────────────────────

/** For a decision that edits an artefact or sets agents to work. */
interface Consequences {
  readonly tx: Tx;
  readonly edit: PreparedEdit | undefined;
}

/** Undefined when the same decision has been made before. */
async function record(
  on: Queries,
  user: Principal,
  taskId: string,
  input: DecideInput,
  consequences?: Consequences,
): Promise<AuditEntry | undefined> {
  const edit = consequences?.edit;
  const task = await lockTask(on, taskId, input.idempotencyKey, consequences !== undefined);
  if (task.madeBefore) return undefined;
  assertDecidable(task, user, input);
  const { databaseId, current } = task;
  const saved =
    edit &&
    (await saveEdit(consequences.tx, {
      databaseId,
      userId: user.id,
      artefact: edit.artefact,
      blobHash: edit.blobHash,
    }));
  // An edit of another artefact (a collection's design, from its validation) is answered by doing
  // this one again.
  const elsewhere = saved !== undefined && saved.artefactId !== task.artefactId;
  const bound =
    saved && !elsewhere
      ? saved
      : { versionId: current.id, contentHash: current.contentHash, inputsHash: current.inputsHash };
  const settles = settlesTask(input) && !elsewhere;
  const awaits = !settles && (input.verdict !== 'edit' || elsewhere);
  const restart = restartOf(input, task, edit);
  const replacedId = saved && saved.replacedId !== saved.versionId ? saved.replacedId : null;
  const editedId = elsewhere ? saved.artefactId : null;
  const decisionId = await writeDecision(on, {
    task,
    userId: user.id,
    input,
    bound,
    settles,
    awaits,
    replacedId,
    editedId,
    restart,
  });
  const directives = directivesOf(input, task);
  if (consequences) {
    const { tx } = consequences;
    for (const directive of directives) {
      await tx.directive.create({
        data: { databaseId, decisionId, content: new Uint8Array(encodeContent(directive)) },
      });
    }
    if (restart) {
      if (awaits && !elsewhere) await releaseEdits(tx, databaseId, restart);
      await postRequest(tx, {
        databaseId,
        stage: restart.stage,
        only: restart.only,
        carriesChange: edit !== undefined,
        decisionId,
      });
    }
  }
  return {
    chain: task.benchmarkId,
    actor: user.id,
    action: input.verdict,
    subject: `task:${taskId}`,
    detail: {
      decision: decisionId,
      artefact: `${task.artefact.kind} ${task.artefact.key}`,
      version: bound.contentHash,
      inputs: bound.inputsHash,
      ...(input.verdict === 'request_changes' ? { reason: input.reason } : {}),
      ...(input.note ? { note: pgText(input.note) } : {}),
      ...(directives.length > 0 ? { directives } : {}),
    },
  };
}

const changesVersions = (input: DecideInput): boolean =>
  'content' in input || input.verdict === 'request_changes' || input.verdict === 'keep_unoptimised';

const settlesTask = (input: DecideInput): boolean =>
  input.verdict === 'edit'
    ? input.approve
    : !['request_changes', 'keep_unoptimised'].includes(input.verdict);

function assertDecidable(task: DecidableTask, user: Principal, input: DecideInput): void {
  const allowed = verdictGates[input.verdict];
  if (allowed && !allowed.includes(task.gate as GateName)) {
    throw new AppError(
      'conflict',
      `"${input.verdict.replaceAll('_', ' ')}" is not a decision of the gate ` +
        `${task.gate.replaceAll('_', ' ')}`,
      'Approve, request changes or edit.',
    );
  }
  if (task.state === 'closed')
    throw new AppError(
      'conflict',
      'This task is closed: nothing has to be decided here any more',
      'Take the next one.',
    );
  if (task.holder && task.holder.id !== user.id) throw leasedBy(task.holder.name);
  assertMayOverrule(task, user);
  if (!task.holder)
    throw new AppError(
      'lease_lost',
      'Cannot decide: your lease on this task has ended',
      'Open the task again, look at it, then decide.',
    );
  if (task.current.id !== input.versionId) {
    throw new AppError(
      'version_changed',
      'There is a newer version than the one you looked at',
      'Look at the difference, then decide.',
    );
  }
  if (task.state === 'waiting')
    throw new AppError(
      'being_redone',
      'The agents are redoing this, or something it depends on',
      'Decide when they are done, or undo what was asked of them.',
    );
}

/** A decision that counts is another reviewer's until a lead takes it back, as with `undo`. */
function assertMayOverrule({ state, decider }: DecidableTask, user: Principal): void {
  if (state !== 'done' || !decider || decider.id === user.id || user.role !== 'reviewer') return;
  const verdict = decider.verdict.replaceAll('_', ' ');
  throw new AppError(
    'lease_lost',
    `Cannot decide: ${decider.name} has decided this task (${verdict}) and the decision is current`,
    'Take the next one, or ask a lead to reopen it.',
  );
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

/** An answer to a request may replace a reviewer's edit: that is what was asked for. */
async function releaseEdits(tx: Tx, databaseId: string, restart: Restart): Promise<void> {
  const { stage, only } = restart;
  const keys =
    only && isItemStage(stage) ? { OR: only.map((id) => ({ key: { endsWith: `/${id}` } })) } : {};
  await tx.artefact.updateMany({
    where: { databaseId, stage, heldEdit: true, ...keys },
    data: { heldEdit: false },
  });
}

// ── What follows ─────────────────────────────────────────────────────────────────────────────────

const stageOfGate: Readonly<Record<GateName, StageName>> = {
  conceptual_design: 'conceptual_design',
  collection_validation: 'logical_design',
  cross_validation: 'logical_design',
  table_validation: 'logical_design',
  untranslated: 'translation',
  optimised_query: 'optimisation',
  evidence: 'evidence',
};
const stageOfDirective: Readonly<Record<DirectiveInput['kind'], StageName | undefined>> = {
  relationship: 'conceptual_design',
  without_field: 'conceptual_design',
  without_attributes: 'conceptual_design',
  rename_collection: 'conceptual_design',
  rename_field: 'logical_design',
  keep_type: 'logical_design',
  keep_unoptimised: 'optimisation',
  drop_rule: 'optimisation',
  free_text: undefined,
};

/** The stage that has to run because of a decision. */
function restartOf(
  input: DecideInput,
  task: DecidableTask,
  edit: PreparedEdit | undefined,
): Restart | undefined {
  if (edit)
    return edit.restart
      ? { stage: edit.restart.stage, only: edit.restart.only ?? null }
      : undefined;
  if (input.verdict !== 'request_changes' && input.verdict !== 'keep_unoptimised') return undefined;
  const own = stageOfGate[task.gate as GateName];
  const stages = directivesOf(input, task).map(
    (directive) => stageOfDirective[directive.kind] ?? own,
  );
  const stage = [own, ...stages].reduce((first, other) =>
    stageIndex(other) < stageIndex(first) ? other : first,
  );
  return { stage, only: isItemStage(stage) ? [questionIdOf(task)] : null };
}

const questionIdOf = (task: DecidableTask): string =>
  task.artefact.key.slice(task.artefact.key.indexOf('/') + 1);

/**
 * A note without directives is a directive too: for language models, and for the builtin agent to
 * say that it cannot act.
 */
function directivesOf(input: DecideInput, task: DecidableTask): DirectiveInput[] {
  if (input.verdict === 'keep_unoptimised')
    return [
      {
        kind: 'keep_unoptimised',
        questionId: questionIdOf(task),
        ...(input.note ? { note: input.note } : {}),
      },
    ];
  if (input.verdict !== 'request_changes') return [];
  if (input.directives.length > 0 || !input.note) return input.directives;
  return [{ kind: 'free_text', note: input.note }];
}

// ── Edits ────────────────────────────────────────────────────────────────────────────────────────

/** Checks an edit and stores its content; outside the transaction, because it may take long. */
async function preparedEdit(
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

// ── Undo ─────────────────────────────────────────────────────────────────────────────────────────

/**
 * Takes a decision back with a new one: what stood before stands again, directives are withdrawn,
 * an edited version gives way to the one it replaced, and work that was started is cancelled or
 * done again without it.
 */
export async function undo(
  services: DecisionServices,
  user: Principal,
  decisionId: string,
  input: { idempotencyKey: string; note?: string | undefined },
): Promise<DecideResponse> {
  assertPerson(user);
  const { db, blobs } = services;
  const before = await decidedBefore(db, user, input.idempotencyKey);
  if (before) return before;
  try {
    await audited(db, async (tx) => {
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
      const undoing = await tx.decision.create({
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
          undoesId: decisionId,
          createdAt: await now(tx),
        },
      });
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

// ── Small things ─────────────────────────────────────────────────────────────────────────────────

function assertPerson(user: Principal): void {
  if (user.role === 'consumer')
    throw new AppError('forbidden', 'Consumers do not review', 'Ask an admin if you should.');
  if (user.via !== 'session')
    throw new AppError('forbidden', 'A token cannot decide: only people do', 'Sign in.');
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

/** What a decision of this key has led to; undefined when there is none. */
async function decidedBefore(
  db: Database,
  user: Principal,
  idempotencyKey: string,
  taskId?: string,
): Promise<DecideResponse | undefined> {
  const made = await findDecision(db, idempotencyKey);
  if (!made) return undefined;
  if (made.row.by.id !== user.id || (taskId !== undefined && made.taskId !== taskId)) {
    throw new AppError(
      'conflict',
      'This idempotency key belongs to another decision',
      'Make a new key for each decision.',
    );
  }
  return { decision: made.row, taskState: made.taskState, first: false };
}

async function outcome(
  db: Database,
  user: Principal,
  idempotencyKey: string,
  taskId?: string,
): Promise<DecideResponse> {
  const made = await decidedBefore(db, user, idempotencyKey, taskId);
  if (!made) throw notFound('This decision');
  return made;
}
