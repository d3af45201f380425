import type { Principal } from '../auth/accounts';
import { AppError } from '../app-error';
import { audited, leaveForAudit, type AuditEntry } from '../db/audit';
import { isUniqueViolation, pgText, queriesIn, type Queries, type Tx } from '../db/database';
import { saveEdit } from '../pipeline/save-edit';
import { encodeContent } from '../pipeline/content';
import { isItemStage, postRequest, stageIndex } from '../pipeline/schedule';
import type { GateName, StageName } from '../pipeline/stages/stage';
import type { DecideInput, DecideResponse, DirectiveInput } from './decision-api';
import { preparedEdit, type DecisionServices, type PreparedEdit } from './check-task-edit';
import { assertPerson, decidedBefore, outcome } from './decision-outcome';
import { lockTask, writeDecision, type DecidableTask } from './decision-record';
import { leasedBy } from './leases';

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
