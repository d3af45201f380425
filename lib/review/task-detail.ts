import type { Principal } from '../auth/accounts';
import { AppError, notFound } from '../app-error';
import type { BlobStore } from '../db/blob-store';
import { pgText, type Database, type Tx } from '../db/database';
import { Prisma } from '../db/generated/client';
import type { Item } from '../sqlite/benchmark';
import { itemKinds, lastPart } from '../pipeline/artefact-store';
import { decodeContent } from '../pipeline/content';
import { relaxedJson } from '../results/extended-json';
import { workerSilence } from '../pipeline/heartbeat';
import { latestRuns } from '../pipeline/schedule';
import { contentHash } from '../results/hash';
import { draftBody, EMPTY_DRAFT } from './task-api';

import type { ArtefactKind } from '../pipeline/stages/stage';
import type { DirectiveInput } from './decision-api';
import type { CommentRow, DirectiveRow, Draft, InputRow, ItemDetail, TaskDetail } from './task-api';
import {
  authorOf,
  loadVersion,
  versionDetail,
  withVersion,
  type LoadedVersion,
} from '../artefacts/versions';
import { decisionRows } from './decision-rows';
import { rowColumns, rowTables, taskRow, type RawRow } from './task-query';

/** A task's row, what its screen needs beside it, and which of the rarer parts there are. */
interface ScreenRow extends RawRow {
  readonly artefact_id: string;
  readonly benchmark_name: string;
  readonly decision_id: string | null;
  readonly current_id: string;
  readonly content_hash: string;
  readonly created_at: Date;
  readonly author: string | null;
  readonly agent: string | null;
  readonly agent_run_id: string | null;
  readonly blob_hash: string;
  readonly bytes: string;
  /** The content's first chunk, which is nearly always all of it. */
  readonly first: Uint8Array | null;
  readonly seen_id: string | null;
  readonly draft: Uint8Array | null;
  readonly item_id: string | null;
  readonly item_content: Uint8Array | null;
  readonly versions: boolean;
  readonly decisions: boolean;
  readonly commented: boolean;
  readonly directives: boolean;
  readonly inputs: readonly RawInput[];
}

/** One statement, because each costs more than what it reads here. */
async function screenRow(db: Database, userId: string, taskId: string): Promise<ScreenRow> {
  const [row] = await db.query<ScreenRow>(Prisma.sql`
    SELECT ${rowColumns},
      task.artefact_id, benchmark.name AS benchmark_name, task.decision_id, artefact.current_id,
        version.content_hash,
      version.created_at, author.name AS author, agent_run.agent, version.agent_run_id,
      version.blob_hash, blob.bytes, chunk.data AS first,
      seen.version_id AS seen_id, draft_text.text AS draft, item.id AS item_id,
        item.content AS item_content,
      EXISTS (SELECT 1 FROM artefact_version other
        WHERE other.artefact_id = artefact.id AND other.id <> version.id) AS versions,
      EXISTS (SELECT 1 FROM decision made WHERE made.task_id = task.id) AS decisions,
      EXISTS (SELECT 1 FROM comment WHERE comment.task_id = task.id) AS commented,
      EXISTS (SELECT 1 FROM decision made JOIN directive ON directive.decision_id = made.id
        WHERE made.task_id = task.id) AS directives,
      ${inputColumn} AS inputs
    FROM ${rowTables}
    JOIN benchmark ON benchmark.id = task.benchmark_id
    JOIN blob ON blob.hash = version.blob_hash
    LEFT JOIN blob_chunk chunk ON chunk.hash = blob.hash AND chunk.seq = 0
    LEFT JOIN app_user author ON author.id = version.author_user_id
    LEFT JOIN agent_run ON agent_run.id = version.agent_run_id
    LEFT JOIN seen ON seen.artefact_id = artefact.id AND seen.user_id = ${userId}::uuid
    LEFT JOIN draft_text ON draft_text.task_id = task.id AND draft_text.user_id = ${userId}::uuid
    LEFT JOIN item ON artefact.kind = ANY(${[...itemKinds]}::text[])
      AND item.database_id = task.database_id
      AND item.question_id = substr(artefact.key, strpos(artefact.key, '/') + 1)
    WHERE task.id = ${taskId}::uuid`);
  if (!row) throw notFound('This task');
  return row;
}

/**
 * Everything that a gate's screen shows of a task. What most tasks do not have is asked for only
 * where there is some.
 */
export async function taskDetail(
  db: Database,
  blobs: BlobStore,
  user: Principal,
  taskId: string,
): Promise<TaskDetail> {
  const on = db.prisma;
  const row = await screenRow(db, user.id, taskId);
  const { artefact_id: artefactId, current_id: currentId } = row;
  const whole =
    row.first?.length === Number(row.bytes) ? row.first : await blobs.read(row.blob_hash);
  const [decisions, comments, directives, waitingFor, lastSeen] = await Promise.all([
    row.decisions ? decisionRows(db, taskId) : [],
    row.commented ? commentRows(on, taskId) : [],
    row.directives ? directiveRows(on, taskId) : [],
    row.state === 'waiting' ? whatItWaitsFor(db, row.database_id) : null,
    row.seen_id && row.seen_id !== currentId ? loadVersion(on, row.seen_id) : null,
  ]);
  const earlier =
    lastSeen || !row.versions ? null : await earlierVersion(on, artefactId, taskId, row.seq);
  const { comments: _open, ...listed } = taskRow(row);
  return {
    ...listed,
    artefactId,
    benchmarkName: row.benchmark_name,
    current: {
      id: currentId,
      seq: row.seq,
      contentHash: row.content_hash,
      createdAt: row.created_at.toISOString(),
      author: authorOf(row.author, row.agent, row.agent_run_id),
      current: true,
      content: relaxedJson(decodeContent(whole)),
    },
    lastSeen: lastSeen && (await versionDetail(blobs, lastSeen)),
    earlier: earlier && (await versionDetail(blobs, earlier)),
    decisions,
    inputs: row.inputs.map((input) => inputRow(input, row.decision_id)),
    comments,
    directives,
    draft: row.draft && draftOf(Buffer.from(row.draft).toString('utf8')),
    item:
      row.item_id && row.item_content ? itemDetail(row.item_id, row.item_content, row.key) : null,
    waitingFor,
  };
}

/** What a version that was seen already can be compared with. */
async function earlierVersion(
  on: Tx,
  artefactId: string,
  taskId: string,
  current: number,
): Promise<LoadedVersion | null> {
  const decided = await on.decision.findFirst({
    where: { taskId, verdict: { not: 'undo' }, version: { artefactId, seq: { not: current } } },
    orderBy: { createdAt: 'desc' },
    select: { versionId: true },
  });
  if (decided?.versionId) return loadVersion(on, decided.versionId);
  return on.artefactVersion.findFirst({
    where: { artefactId, seq: { lt: current } },
    orderBy: { seq: 'desc' },
    include: withVersion,
  });
}

async function whatItWaitsFor(db: Database, databaseId: string): Promise<string> {
  const [runs, silence] = await Promise.all([latestRuns(db.prisma, databaseId), workerSilence(db)]);
  const say = (stage: string) =>
    (stage[0] ?? '').toUpperCase() + stage.slice(1).replaceAll('_', ' ');
  const failed = runs.find((run) => run.state === 'failed');
  if (failed) return `${say(failed.stage)} failed: ${failed.failure ?? 'no reason given'}`;
  const active =
    runs.find((run) => run.state === 'running') ?? runs.find((run) => run.state === 'queued');
  const waits = active
    ? `${say(active.stage)} is ${active.state === 'running' ? 'running' : 'waiting for a worker'}.`
    : 'The agents have been asked.';
  return silence ? `${waits} ${silence}` : waits;
}

function itemDetail(id: string, content: Uint8Array, key: string): ItemDetail {
  const item = decodeContent<Item>(content);
  return {
    id,
    questionId: lastPart(key),
    question: item.question,
    difficulty: item.difficulty,
    split: item.split,
    evidence: item.evidence,
    sql: item.sql,
  };
}

// ── Inputs and directives ────────────────────────────────────────────────────────────────────────

interface RawInput {
  readonly kind: ArtefactKind;
  readonly key: string;
  readonly part: string;
  readonly hash: string;
  readonly source_id: string | null;
  readonly behind: boolean;
  readonly decided: string | null;
  readonly task_id: string | null;
}

/**
 * What the current version depends on, and its hashes as the standing decision was bound to them.
 */
const inputColumn = Prisma.sql`(
  SELECT coalesce(json_agg(one ORDER BY one.kind, one.key, one.part), '[]') FROM (
    SELECT input.kind, input.key, input.part, input.hash, input.source_id,
      coalesce(source_version.content_hash <> input.source_hash, false) AS behind,
      decided.hash AS decided,
      (SELECT feeding.id FROM task feeding
        WHERE feeding.artefact_id = input.source_id AND feeding.closed_at IS NULL
          LIMIT 1) AS task_id
    FROM artefact_input input
    LEFT JOIN artefact source ON source.id = input.source_id
    LEFT JOIN artefact_version source_version ON source_version.id = source.current_id
    LEFT JOIN decision_input decided ON decided.decision_id = task.decision_id
      AND decided.kind = input.kind AND decided.key = input.key AND decided.part = input.part
    WHERE input.version_id = artefact.current_id) one)`;

const inputRow = (input: RawInput, decisionId: string | null): InputRow => ({
  kind: input.kind,
  key: input.key,
  part: input.part || null,
  state: inputState(input, decisionId),
  artefactId: input.source_id,
  taskId: input.task_id,
});

/** What of an input changed since the standing decision. */
function inputState(
  { behind, decided, hash }: RawInput,
  decisionId: string | null,
): InputRow['state'] {
  if (behind) return 'catching_up';
  return decisionId !== null && decided !== hash ? 'changed' : 'current';
}

async function directiveRows(on: Tx, taskId: string): Promise<DirectiveRow[]> {
  const directives = await on.directive.findMany({
    where: { decision: { taskId } },
    orderBy: { position: 'desc' },
    include: { decision: { include: { user: true } } },
  });
  return directives.map((directive) => ({
    id: directive.id,
    directive: decodeContent<DirectiveInput>(directive.content),
    by: directive.decision.user.name,
    at: directive.createdAt.toISOString(),
    withdrawn: directive.withdrawnAt !== null,
    cannotAct: directive.cannotAct,
  }));
}

// ── Comments, drafts ─────────────────────────────────────────────────────────────────────────────

const withComment = { author: true, resolver: true, version: { select: { seq: true } } } as const;
type LoadedComment = NonNullable<Awaited<ReturnType<typeof loadComment>>>;
const loadComment = (on: Tx, id: string) =>
  on.comment.findUnique({ where: { id }, include: withComment });

const commentRow = (comment: LoadedComment): CommentRow => ({
  id: comment.id,
  version: comment.version.seq,
  anchor: comment.anchor,
  body: comment.body,
  by: { id: comment.author.id, name: comment.author.name },
  at: comment.createdAt.toISOString(),
  parentId: comment.parentId,
  resolvedAt: comment.resolvedAt?.toISOString() ?? null,
  resolvedBy: comment.resolver?.name ?? null,
});

async function commentRows(on: Tx, taskId: string): Promise<CommentRow[]> {
  const comments = await on.comment.findMany({
    where: { taskId },
    orderBy: { createdAt: 'asc' },
    include: withComment,
  });
  return comments.map(commentRow);
}

export async function addComment(
  db: Database,
  user: Principal,
  taskId: string,
  given: { versionId: string; anchor: string; body: string; parentId?: string | undefined },
): Promise<CommentRow> {
  const task = await db.prisma.task.findUnique({ where: { id: taskId } });
  if (!task) throw notFound('This task');
  const version = await db.prisma.artefactVersion.findUnique({ where: { id: given.versionId } });
  if (version?.artefactId !== task.artefactId) throw notFound('This version');
  if (
    given.parentId &&
    (await db.prisma.comment.findUnique({ where: { id: given.parentId } }))?.taskId !== taskId
  )
    throw notFound('The comment you answer');
  const { id } = await db.prisma.comment.create({
    data: {
      taskId,
      artefactId: task.artefactId,
      versionId: given.versionId,
      anchor: pgText(given.anchor),
      body: pgText(given.body),
      authorId: user.id,
      parentId: given.parentId ?? null,
    },
  });
  return commentRow((await loadComment(db.prisma, id))!);
}

/** Anyone resolves and re-opens; only authors change their words. */
export async function changeComment(
  db: Database,
  user: Principal,
  id: string,
  change: { resolved?: boolean | undefined; body?: string | undefined },
): Promise<CommentRow> {
  const comment = await loadComment(db.prisma, id);
  if (!comment) throw notFound('This comment');
  if (change.body !== undefined && comment.authorId !== user.id) {
    throw new AppError('forbidden', 'Only its author can change a comment', 'Answer it instead.');
  }
  await db.prisma.comment.update({
    where: { id },
    data: {
      ...(change.body === undefined ? {} : { body: pgText(change.body) }),
      ...(change.resolved === true && { resolvedAt: new Date(), resolvedId: user.id }),
      ...(change.resolved === false && { resolvedAt: null, resolvedId: null }),
    },
  });
  return commentRow((await loadComment(db.prisma, id))!);
}

export async function saveDraft(
  db: Database,
  user: Principal,
  taskId: string,
  draft: Draft,
): Promise<void> {
  if (!(await db.prisma.task.findUnique({ where: { id: taskId }, select: { id: true } })))
    throw notFound('This task');
  const which = { userId: user.id, taskId };
  if (contentHash(draft) === contentHash(EMPTY_DRAFT)) {
    await db.prisma.draftText.deleteMany({ where: which });
    return;
  }
  const bytes = new Uint8Array(Buffer.from(JSON.stringify(draft)));
  await db.prisma.draftText.upsert({
    where: { userId_taskId: which },
    create: { ...which, text: bytes },
    update: { text: bytes },
  });
}

/** A draft as it was kept; one of an earlier version was a note, or after a mark an edited text. */
function draftOf(kept: string): Draft {
  const edited = '\u0001edit\n';
  if (kept.startsWith(edited)) return { ...EMPTY_DRAFT, edit: kept.slice(edited.length) };
  try {
    const read = draftBody.safeParse(JSON.parse(kept));
    if (read.success) return read.data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return { ...EMPTY_DRAFT, note: kept };
}

export async function saveSeen(
  db: Database,
  user: Principal,
  taskId: string,
  versionId: string,
): Promise<void> {
  const [task, version] = await Promise.all([
    db.prisma.task.findUnique({ where: { id: taskId } }),
    db.prisma.artefactVersion.findUnique({ where: { id: versionId } }),
  ]);
  if (!task || version?.artefactId !== task.artefactId) throw notFound('This version');
  const which = { userId: user.id, artefactId: task.artefactId };
  await db.prisma.seen.upsert({
    where: { userId_artefactId: which },
    create: { ...which, versionId },
    update: { versionId, at: new Date() },
  });
}
