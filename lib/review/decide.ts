import type { MongoClient } from 'mongodb';
import type { Principal } from '../auth/accounts';
import { AppError, notFound } from '../auth/errors';
import { audited, type AuditEntry } from '../db/audit';
import type { BlobStore } from '../db/blob-store';
import { isUniqueViolation, pgText, type Database, type Tx } from '../db/database';
import { notify } from '../db/notify';
import { lockDatabase, restoreVersion, saveEdit } from '../pipeline/artefact-store';
import { encodeContent } from '../pipeline/content';
import { parseRelaxed } from '../results/extended-json';
import { askToCancel, isItemStage, passedOn, postRequest, stageIndex } from '../pipeline/schedule';
import { stageInput } from '../pipeline/stage-input';
import type { EditOutcome } from '../pipeline/stages/check-edit';
import type { ArtefactKind, ArtefactRef, GateName, StageInput, StageName } from '../pipeline/stages/stage';
import type { DecideInput, DecideResponse, DirectiveInput, EditCheck, TaskState } from './api-types';
import { heldByAnother } from './leases';
import { decisionRow, decisionRows } from './task-detail';

export interface DecisionServices {
  readonly db: Database;
  readonly blobs: BlobStore;
  /** For the check of an edit. */
  mongo(): Promise<MongoClient>;
  checkEdit(ref: ArtefactRef, content: unknown, input: StageInput, signal: AbortSignal): Promise<EditOutcome>;
}

type SavedEdit = Extract<EditOutcome, { ok: true }>;
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
 * A reviewer's decision on a task, bound to the version on screen and to what that version was made from. Decision,
 * directives, new version, consequences and audit row are one transaction; the same idempotency key decides once.
 */
export async function decide(services: DecisionServices, user: Principal, taskId: string, input: DecideInput, signal: AbortSignal): Promise<DecideResponse> {
  assertPerson(user);
  const { db } = services;
  const before = await decidedBefore(db, user, input.idempotencyKey, taskId);
  if (before) return before;
  const task = await loadTask(db.prisma, taskId);
  const allowed = verdictGates[input.verdict];
  if (allowed && !allowed.includes(task.gate as GateName)) {
    throw new AppError('conflict', `"${input.verdict.replaceAll('_', ' ')}" is not a decision of the gate ${task.gate.replaceAll('_', ' ')}`, 'Approve, request changes or edit.');
  }
  const edit = 'content' in input ? await checkedEdit(services, task, input.content, signal) : undefined;
  const blobHash = edit && (await services.blobs.put(encodeContent(edit.artefact.content)));
  try {
    await audited(db, async (tx) => {
      const audit = await record(tx, services, user, taskId, input, edit && { ...edit, blobHash: blobHash! });
      return { result: undefined, audit: [audit] };
    });
  } catch (error) {
    const same = isUniqueViolation(error) ? await decidedBefore(db, user, input.idempotencyKey, taskId) : undefined;
    if (same) return same;
    throw error;
  }
  return { ...(await outcome(db, input.idempotencyKey)), first: true };
}

/** What is wrong with an edit, or what its checks could not show, without saving it. */
export async function checkTaskEdit(
  services: DecisionServices,
  taskId: string,
  content: object,
  signal: AbortSignal,
): Promise<EditCheck> {
  const task = await loadTask(services.db.prisma, taskId);
  const outcome = await runCheck(services, task, content, signal);
  if (!outcome.ok) return { problems: outcome.problems, notes: [] };
  return { problems: [], notes: outcome.notes ?? [] };
}

// ── One transaction ─────────────────────────────────────────────────────────────────────────────────────────────────

async function record(tx: Tx, services: DecisionServices, user: Principal, taskId: string, input: DecideInput, edit: (SavedEdit & { blobHash: string }) | undefined): Promise<AuditEntry> {
  const { databaseId } = await loadTask(tx, taskId);
  await lockDatabase(tx, databaseId);
  const task = await loadTask(tx, taskId);
  await assertDecidable(tx, task, user, input);
  const current = task.artefact.current!;
  const saved = edit && (await saveEdit(tx, { databaseId, userId: user.id, artefact: edit.artefact, blobHash: edit.blobHash }));
  // An edit of another artefact (a collection's design, from its validation) is answered by doing this one again.
  const elsewhere = saved !== undefined && saved.artefactId !== task.artefactId;
  const bound = saved && !elsewhere ? saved : { versionId: current.id, contentHash: current.contentHash, inputsHash: current.inputsHash };
  const settles = settlesTask(input) && !elsewhere;
  const restart = restartOf(input, task, edit);
  const decision = await tx.decision.create({
    data: {
      benchmarkId: task.benchmarkId,
      databaseId,
      taskId,
      versionId: bound.versionId,
      contentHash: bound.contentHash,
      inputsHash: bound.inputsHash,
      userId: user.id,
      verdict: input.verdict,
      settles,
      awaits: !settles && (input.verdict !== 'edit' || elsewhere),
      reasonCode: input.verdict === 'request_changes' ? input.reason : null,
      note: input.note === undefined ? null : pgText(input.note),
      idempotencyKey: input.idempotencyKey,
      replacedId: saved && saved.replacedId !== saved.versionId ? saved.replacedId : null,
      editedId: elsewhere ? saved.artefactId : null,
      previousId: task.decisionId,
      createdAt: await now(tx),
      restartStage: restart?.stage ?? null,
      restartOnly: [...(restart?.only ?? [])],
      restartAll: restart?.only === null,
    },
  });
  const inputs = await tx.artefactInput.findMany({ where: { versionId: bound.versionId } });
  await tx.decisionInput.createMany({ data: inputs.map(({ kind, key, part, hash }) => ({ decisionId: decision.id, kind, key, part, hash })) });
  const directives = directivesOf(input, task);
  for (const directive of directives) {
    await tx.directive.create({ data: { databaseId, decisionId: decision.id, content: new Uint8Array(encodeContent(directive)) } });
  }
  if (restart) {
    if (decision.awaits && !elsewhere) await releaseEdits(tx, databaseId, restart);
    await postRequest(tx, { databaseId, stage: restart.stage, only: restart.only, carriesChange: edit !== undefined, decisionId: decision.id });
  }
  await tx.task.update({ where: { id: taskId }, data: { decisionId: decision.id } });
  await tx.lease.deleteMany({ where: { taskId } });
  await tx.draftText.deleteMany({ where: { taskId, userId: user.id } });
  await markSeen(tx, user.id, task.artefactId, bound.versionId);
  await notify(tx, { type: 'task', benchmarkId: task.benchmarkId, databaseId, taskId, change: 'decided' });
  return {
    chain: task.benchmarkId,
    actor: user.id,
    action: input.verdict,
    subject: `task:${taskId}`,
    detail: {
      decision: decision.id,
      artefact: `${task.artefact.kind} ${task.artefact.key}`,
      version: bound.contentHash,
      inputs: bound.inputsHash,
      ...(decision.reasonCode ? { reason: decision.reasonCode } : {}),
      ...(decision.note ? { note: decision.note } : {}),
      ...(directives.length > 0 ? { directives } : {}),
    },
  };
}

const settlesTask = (input: DecideInput): boolean => (input.verdict === 'edit' ? input.approve : !['request_changes', 'keep_unoptimised'].includes(input.verdict));

async function assertDecidable(tx: Tx, task: LoadedTask, user: Principal, input: DecideInput): Promise<void> {
  const lease = await tx.lease.findUnique({ where: { taskId: task.id } });
  if (lease && lease.userId !== user.id && lease.expiresAt > new Date()) throw await heldByAnother(tx, task.id);
  const [state] = await tx.$queryRaw<{ state: TaskState }[]>`SELECT state FROM task_state WHERE id = ${task.id}::uuid`;
  if (!state || state.state === 'closed') throw new AppError('conflict', 'This task is closed: nothing has to be decided here any more', 'Take the next one.');
  if (task.artefact.currentId !== input.versionId) {
    throw new AppError('version_changed', 'There is a newer version than the one you looked at', 'Look at the difference, then decide.');
  }
  if (state.state === 'waiting') throw new AppError('being_redone', 'The agents are redoing this, or something it depends on', 'Decide when they are done, or undo what was asked of them.');
}

/** A clock reading after the database was locked, so that it is not before anything that was saved meanwhile. */
async function now(tx: Tx): Promise<Date> {
  const [row] = await tx.$queryRaw<{ now: Date }[]>`SELECT date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond' AS now`;
  return row!.now;
}

/** An answer to a request may replace a reviewer's edit: that is what was asked for. */
async function releaseEdits(tx: Tx, databaseId: string, restart: Restart): Promise<void> {
  const { stage, only } = restart;
  const keys = only && isItemStage(stage) ? { OR: only.map((id) => ({ key: { endsWith: `/${id}` } })) } : {};
  await tx.artefact.updateMany({ where: { databaseId, stage, heldEdit: true, ...keys }, data: { heldEdit: false } });
}

export async function markSeen(tx: Tx, userId: string, artefactId: string, versionId: string): Promise<void> {
  await tx.seen.upsert({ where: { userId_artefactId: { userId, artefactId } }, create: { userId, artefactId, versionId }, update: { versionId, at: new Date() } });
}

// ── What follows ────────────────────────────────────────────────────────────────────────────────────────────────────

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
function restartOf(input: DecideInput, task: LoadedTask, edit: SavedEdit | undefined): Restart | undefined {
  if (edit) return edit.restart ? { stage: edit.restart.stage, only: edit.restart.only ?? null } : undefined;
  if (input.verdict !== 'request_changes' && input.verdict !== 'keep_unoptimised') return undefined;
  const own = stageOfGate[task.gate as GateName];
  const stages = directivesOf(input, task).map((directive) => stageOfDirective[directive.kind] ?? own);
  const stage = [own, ...stages].reduce((first, other) => (stageIndex(other) < stageIndex(first) ? other : first));
  return { stage, only: isItemStage(stage) ? [questionIdOf(task)] : null };
}

const questionIdOf = (task: LoadedTask): string => task.artefact.key.slice(task.artefact.key.indexOf('/') + 1);

/** A note without directives is a directive too: for language models, and for the builtin agent to say that it cannot act. */
function directivesOf(input: DecideInput, task: LoadedTask): DirectiveInput[] {
  if (input.verdict === 'keep_unoptimised') return [{ kind: 'keep_unoptimised', questionId: questionIdOf(task), ...(input.note ? { note: input.note } : {}) }];
  if (input.verdict !== 'request_changes') return [];
  if (input.directives.length > 0 || !input.note) return input.directives;
  return [{ kind: 'free_text', note: input.note }];
}

// ── Edits ───────────────────────────────────────────────────────────────────────────────────────────────────────────

async function checkedEdit(services: DecisionServices, task: LoadedTask, content: object, signal: AbortSignal): Promise<SavedEdit> {
  const outcome = await runCheck(services, task, content, signal);
  if (outcome.ok) return outcome;
  throw new AppError('check_failed', `The edit does not pass the checks: ${outcome.problems[0]?.message ?? ''}`, 'Correct what is named and save again; nothing was saved.', outcome.problems);
}

async function runCheck(services: DecisionServices, task: LoadedTask, content: object, signal: AbortSignal): Promise<EditOutcome> {
  let edited: unknown;
  try {
    edited = parseRelaxed(content);
  } catch (error) {
    return { ok: false, problems: [{ path: '', message: `this is not Extended JSON: ${error instanceof Error ? error.message : String(error)}` }] };
  }
  const { db, blobs } = services;
  const input = await stageInput({ db, blobs, mongo: await services.mongo() }, task.databaseId);
  return services.checkEdit({ kind: task.artefact.kind as ArtefactKind, key: task.artefact.key }, edited, input, signal);
}

// ── Undo ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Takes a decision back with a new one: what stood before stands again, directives are withdrawn, an edited version
 * gives way to the one it replaced, and work that was started is cancelled or done again without it.
 */
export async function undo(services: DecisionServices, user: Principal, decisionId: string, input: { idempotencyKey: string; note?: string | undefined }): Promise<DecideResponse> {
  assertPerson(user);
  const { db, blobs } = services;
  const before = await decidedBefore(db, user, input.idempotencyKey);
  if (before) return before;
  try {
    await audited(db, async (tx) => {
      const asked = await tx.decision.findUnique({ where: { id: decisionId } });
      if (!asked) throw notFound('This decision');
      await lockDatabase(tx, asked.databaseId);
      const decision = await tx.decision.findUniqueOrThrow({ where: { id: decisionId }, include: { task: { include: { artefact: true } }, undoneBy: true } });
      if (decision.userId !== user.id && user.role === 'reviewer') throw new AppError('forbidden', 'This is another reviewer’s decision', 'A lead can re-open it.');
      const { task } = decision;
      if (decision.undoneBy || decision.verdict === 'undo' || (task && task.decisionId !== decisionId)) {
        throw new AppError('conflict', 'A later decision has taken the place of this one', 'Reload the task to see it.');
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
      if (task) await tx.task.update({ where: { id: task.id }, data: { decisionId: decision.previousId } });
      await tx.directive.updateMany({ where: { decisionId, withdrawnAt: null }, data: { withdrawnAt: new Date() } });
      await takeBackEdit(tx, blobs, decision);
      await takeBackWork(tx, decision);
      const where = { benchmarkId: decision.benchmarkId, databaseId: decision.databaseId };
      await notify(tx, task ? { type: 'task', ...where, taskId: task.id, change: 'undone' } : { type: 'tasks', ...where });
      return {
        result: undefined,
        audit: [{ chain: decision.benchmarkId, actor: user.id, action: 'undo', subject: task ? `task:${task.id}` : `database:${decision.databaseId}`, detail: { decision: undoing.id, undoes: decisionId, verdict: decision.verdict } }],
      };
    });
  } catch (error) {
    const same = isUniqueViolation(error) ? await decidedBefore(db, user, input.idempotencyKey) : undefined;
    if (same) return same;
    if (isUniqueViolation(error)) throw new AppError('conflict', 'Somebody has undone this decision already', 'Reload the task.');
    throw error;
  }
  return { ...(await outcome(db, input.idempotencyKey)), first: true };
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
  const replaced = await tx.artefactVersion.findUniqueOrThrow({ where: { id: decision.replacedId }, include: { artefact: true } });
  // Where agents have answered since, their version stays: it was made without the edit, or is done again below.
  if (replaced.artefact.heldEdit) await restoreVersion(tx, blobs, decision.replacedId);
}

async function takeBackWork(tx: Tx, decision: UndoneDecision): Promise<void> {
  if (!decision.restartStage) return;
  const stage = decision.restartStage as StageName;
  const unsent = await tx.$queryRaw<{ id: bigint }[]>`
    UPDATE outbox SET handled_at = now(), failure = 'undone' WHERE handled_at IS NULL AND topic = 'request_stage'
      AND position(convert_to(${decision.id}, 'UTF8') in payload) > 0 RETURNING id`;
  if (unsent.length > 0) return;
  const own = await tx.stageRun.findMany({ where: { decisionId: decision.id, state: { in: ['queued', 'running'] } } });
  await tx.stageRun.updateMany({ where: { id: { in: own.map((run) => run.id) }, state: 'queued' }, data: { state: 'cancelled', endedAt: new Date() } });
  await askToCancel(tx, own.filter((run) => run.state === 'running').map((run) => run.id));
  if (own.length > 0) return;
  // It has been done already, or together with other requests: done again, without the directive or the edit.
  await postRequest(tx, { databaseId: decision.databaseId, stage, only: decision.restartAll ? null : passedOn(stage, decision.restartOnly), carriesChange: decision.replacedId !== null });
}

// ── Small things ────────────────────────────────────────────────────────────────────────────────────────────────────

function assertPerson(user: Principal): void {
  if (user.role === 'consumer') throw new AppError('forbidden', 'Consumers do not review', 'Ask an admin if you should.');
  if (user.via !== 'session') throw new AppError('forbidden', 'A token cannot decide: only people do', 'Sign in.');
}

type LoadedTask = Awaited<ReturnType<typeof loadTask>>;
async function loadTask(on: Tx, taskId: string) {
  const task = await on.task.findUnique({ where: { id: taskId }, include: { artefact: { include: { current: true } } } });
  if (!task?.artefact.current) throw notFound('This task');
  return task;
}

async function decidedBefore(db: Database, user: Principal, idempotencyKey: string, taskId?: string): Promise<DecideResponse | undefined> {
  const decision = await db.prisma.decision.findUnique({ where: { idempotencyKey } });
  if (!decision) return undefined;
  if (decision.userId !== user.id || (taskId !== undefined && decision.taskId !== taskId)) {
    throw new AppError('conflict', 'This idempotency key belongs to another decision', 'Make a new key for each decision.');
  }
  return { ...(await outcome(db, idempotencyKey)), first: false };
}

async function outcome(db: Database, idempotencyKey: string): Promise<Omit<DecideResponse, 'first'>> {
  const decision = await db.prisma.decision.findUniqueOrThrow({ where: { idempotencyKey } });
  if (!decision.taskId) return { decision: await decisionRow(db.prisma, decision.id), taskState: 'closed' };
  const [state] = await db.prisma.$queryRaw<{ state: TaskState }[]>`SELECT state FROM task_state WHERE id = ${decision.taskId}::uuid`;
  const row = (await decisionRows(db.prisma, decision.taskId)).find(({ id }) => id === decision.id);
  if (!row || !state) throw notFound('This task');
  return { decision: row, taskState: state.state };
}
