import type { Principal } from '../auth/accounts';
import { AppError, notFound } from '../auth/errors';
import type { BlobStore } from '../db/blob-store';
import { pgText, type Database, type Tx } from '../db/database';
import type { Item } from '../sqlite/benchmark';
import { isItemKind, lastPart } from '../pipeline/artefact-store';
import { decodeContent } from '../pipeline/content';
import { relaxedJson } from '../results/extended-json';
import { workerSilence } from '../pipeline/heartbeat';
import { latestRuns } from '../pipeline/schedule';
import { contentHash } from '../results/hash';
import { draftBody, EMPTY_DRAFT } from './api-types';
import type {
  ArtefactKind,
  CommentRow,
  DirectiveInput,
  DirectiveRow,
  Draft,
  InputRow,
  ItemDetail,
  TaskDetail,
  VersionDetail,
  VersionRow,
} from './api-types';
import { decisionRows } from './decision-rows';
import { findTaskRow } from './task-query';

const withVersion = { authorUser: true, agentRun: true, currentOf: { select: { id: true } } } as const;
type LoadedVersion = NonNullable<Awaited<ReturnType<typeof loadVersion>>>;
export const loadVersion = (on: Tx, id: string) => on.artefactVersion.findUnique({ where: { id }, include: withVersion });

export const versionRow = (version: LoadedVersion): VersionRow => ({
  id: version.id,
  seq: version.seq,
  contentHash: version.contentHash,
  createdAt: version.createdAt.toISOString(),
  author: version.authorUser
    ? { kind: 'user', name: version.authorUser.name, runId: null }
    : { kind: 'agent', name: version.agentRun?.agent ?? 'pipeline', runId: version.agentRunId },
  current: version.currentOf !== null,
});

export const versionDetail = async (blobs: BlobStore, version: LoadedVersion): Promise<VersionDetail> => ({
  ...versionRow(version),
  content: relaxedJson(decodeContent(await blobs.read(version.blobHash))),
});

export async function listVersions(on: Tx, artefactId: string): Promise<VersionRow[]> {
  const versions = await on.artefactVersion.findMany({ where: { artefactId }, orderBy: { seq: 'desc' }, include: withVersion });
  return versions.map(versionRow);
}

export async function versionBySeq(on: Tx, artefactId: string, seq: number): Promise<LoadedVersion> {
  const version = await on.artefactVersion.findUnique({ where: { artefactId_seq: { artefactId, seq } }, include: withVersion });
  if (!version) throw notFound(`Version ${seq} of this artefact`);
  return version;
}

/** Everything that a gate's screen shows of a task. */
export async function taskDetail(db: Database, blobs: BlobStore, user: Principal, taskId: string): Promise<TaskDetail> {
  const row = await findTaskRow(db.prisma, taskId);
  const task = row && (await db.prisma.task.findUnique({ where: { id: taskId }, include: { artefact: true, benchmark: true } }));
  if (!row || !task?.artefact.currentId) throw notFound('This task');
  const { artefactId } = task;
  const [current, seen, decisions, inputs, comments, directives, draft, item, waitingFor] = await Promise.all([
    loadVersion(db.prisma, task.artefact.currentId),
    db.prisma.seen.findUnique({ where: { userId_artefactId: { userId: user.id, artefactId } } }),
    decisionRows(db.prisma, taskId),
    inputRows(db.prisma, task.artefact.currentId, task.decisionId),
    commentRows(db.prisma, taskId),
    directiveRows(db.prisma, taskId),
    db.prisma.draftText.findUnique({ where: { userId_taskId: { userId: user.id, taskId } } }),
    isItemKind(task.artefact.kind) ? itemDetail(db.prisma, task.databaseId, lastPart(task.artefact.key)) : null,
    row.state === 'waiting' ? whatItWaitsFor(db, task.databaseId) : null,
  ]);
  const lastSeen = seen && seen.versionId !== task.artefact.currentId ? await loadVersion(db.prisma, seen.versionId) : null;
  const earlier = lastSeen ? null : await earlierVersion(db.prisma, artefactId, taskId, current!);
  const { comments: _open, ...listed } = row;
  return {
    ...listed,
    artefactId,
    benchmarkName: task.benchmark.name,
    current: await versionDetail(blobs, current!),
    lastSeen: lastSeen && (await versionDetail(blobs, lastSeen)),
    earlier: earlier && (await versionDetail(blobs, earlier)),
    decisions,
    inputs,
    comments,
    directives,
    draft: draft && draftOf(Buffer.from(draft.text).toString('utf8')),
    item,
    waitingFor,
  };
}

/** What a version that was seen already can be compared with. */
async function earlierVersion(on: Tx, artefactId: string, taskId: string, current: LoadedVersion): Promise<LoadedVersion | null> {
  const decided = await on.decision.findFirst({ where: { taskId, verdict: { not: 'undo' }, version: { artefactId, seq: { not: current.seq } } }, orderBy: { createdAt: 'desc' }, select: { versionId: true } });
  if (decided?.versionId) return loadVersion(on, decided.versionId);
  return on.artefactVersion.findFirst({ where: { artefactId, seq: { lt: current.seq } }, orderBy: { seq: 'desc' }, include: withVersion });
}

async function whatItWaitsFor(db: Database, databaseId: string): Promise<string> {
  const [runs, silence] = await Promise.all([latestRuns(db.prisma, databaseId), workerSilence(db)]);
  const say = (stage: string) => (stage[0] ?? '').toUpperCase() + stage.slice(1).replaceAll('_', ' ');
  const failed = runs.find((run) => run.state === 'failed');
  if (failed) return `${say(failed.stage)} failed: ${failed.failure ?? 'no reason given'}`;
  const active = runs.find((run) => run.state === 'running') ?? runs.find((run) => run.state === 'queued');
  const waits = active ? `${say(active.stage)} is ${active.state === 'running' ? 'running' : 'waiting for a worker'}.` : 'The agents have been asked.';
  return silence ? `${waits} ${silence}` : waits;
}

async function itemDetail(on: Tx, databaseId: string, questionId: string): Promise<ItemDetail | null> {
  const row = await on.item.findUnique({ where: { databaseId_questionId: { databaseId, questionId } } });
  if (!row) return null;
  const item = decodeContent<Item>(row.content);
  return { id: row.id, questionId, question: item.question, difficulty: item.difficulty, split: item.split, evidence: item.evidence, sql: item.sql };
}

// ── Inputs and directives ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** What the current version depends on, and what of it changed since the standing decision. */
async function inputRows(on: Tx, versionId: string, decisionId: string | null): Promise<InputRow[]> {
  const rows = await on.$queryRaw<{ kind: ArtefactKind; key: string; part: string; hash: string; source_id: string | null; behind: boolean; decided: string | null; task_id: string | null }[]>`
    SELECT input.kind, input.key, input.part, input.hash, input.source_id,
      coalesce(source_version.content_hash <> input.source_hash, false) AS behind,
      decided.hash AS decided,
      (SELECT task.id FROM task WHERE task.artefact_id = input.source_id AND task.closed_at IS NULL LIMIT 1) AS task_id
    FROM artefact_input input
    LEFT JOIN artefact source ON source.id = input.source_id
    LEFT JOIN artefact_version source_version ON source_version.id = source.current_id
    LEFT JOIN decision_input decided ON decided.decision_id = ${decisionId}::uuid AND decided.kind = input.kind AND decided.key = input.key AND decided.part = input.part
    WHERE input.version_id = ${versionId}::uuid ORDER BY input.kind, input.key, input.part`;
  return rows.map((row) => ({
    kind: row.kind,
    key: row.key,
    part: row.part || null,
    state: row.behind ? 'catching_up' : decisionId !== null && row.decided !== row.hash ? 'changed' : 'current',
    artefactId: row.source_id,
    taskId: row.task_id,
  }));
}

async function directiveRows(on: Tx, taskId: string): Promise<DirectiveRow[]> {
  const directives = await on.directive.findMany({ where: { decision: { taskId } }, orderBy: { position: 'desc' }, include: { decision: { include: { user: true } } } });
  return directives.map((directive) => ({
    id: directive.id,
    directive: decodeContent<DirectiveInput>(directive.content),
    by: directive.decision.user.name,
    at: directive.createdAt.toISOString(),
    withdrawn: directive.withdrawnAt !== null,
    cannotAct: directive.cannotAct,
  }));
}

// ── Comments, drafts ────────────────────────────────────────────────────────────────────────────────────────────────

const withComment = { author: true, resolver: true, version: { select: { seq: true } } } as const;
type LoadedComment = NonNullable<Awaited<ReturnType<typeof loadComment>>>;
const loadComment = (on: Tx, id: string) => on.comment.findUnique({ where: { id }, include: withComment });

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
  const comments = await on.comment.findMany({ where: { taskId }, orderBy: { createdAt: 'asc' }, include: withComment });
  return comments.map(commentRow);
}

export async function addComment(db: Database, user: Principal, taskId: string, given: { versionId: string; anchor: string; body: string; parentId?: string | undefined }): Promise<CommentRow> {
  const task = await db.prisma.task.findUnique({ where: { id: taskId } });
  if (!task) throw notFound('This task');
  const version = await db.prisma.artefactVersion.findUnique({ where: { id: given.versionId } });
  if (version?.artefactId !== task.artefactId) throw notFound('This version');
  if (given.parentId && (await db.prisma.comment.findUnique({ where: { id: given.parentId } }))?.taskId !== taskId) throw notFound('The comment you answer');
  const { id } = await db.prisma.comment.create({
    data: { taskId, artefactId: task.artefactId, versionId: given.versionId, anchor: pgText(given.anchor), body: pgText(given.body), authorId: user.id, parentId: given.parentId ?? null },
  });
  return commentRow((await loadComment(db.prisma, id))!);
}

/** Anyone resolves and re-opens; only authors change their words. */
export async function changeComment(db: Database, user: Principal, id: string, change: { resolved?: boolean | undefined; body?: string | undefined }): Promise<CommentRow> {
  const comment = await loadComment(db.prisma, id);
  if (!comment) throw notFound('This comment');
  if (change.body !== undefined && comment.authorId !== user.id) {
    throw new AppError('forbidden', 'Only its author can change a comment', 'Answer it instead.');
  }
  await db.prisma.comment.update({
    where: { id },
    data: {
      ...(change.body === undefined ? {} : { body: pgText(change.body) }),
      ...(change.resolved === undefined ? {} : change.resolved ? { resolvedAt: new Date(), resolvedId: user.id } : { resolvedAt: null, resolvedId: null }),
    },
  });
  return commentRow((await loadComment(db.prisma, id))!);
}

export async function saveDraft(db: Database, user: Principal, taskId: string, draft: Draft): Promise<void> {
  if (!(await db.prisma.task.findUnique({ where: { id: taskId }, select: { id: true } }))) throw notFound('This task');
  const which = { userId: user.id, taskId };
  if (contentHash(draft) === contentHash(EMPTY_DRAFT)) {
    await db.prisma.draftText.deleteMany({ where: which });
    return;
  }
  const bytes = new Uint8Array(Buffer.from(JSON.stringify(draft)));
  await db.prisma.draftText.upsert({ where: { userId_taskId: which }, create: { ...which, text: bytes }, update: { text: bytes } });
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

export async function saveSeen(db: Database, user: Principal, taskId: string, versionId: string): Promise<void> {
  const [task, version] = await Promise.all([db.prisma.task.findUnique({ where: { id: taskId } }), db.prisma.artefactVersion.findUnique({ where: { id: versionId } })]);
  if (!task || version?.artefactId !== task.artefactId) throw notFound('This version');
  const which = { userId: user.id, artefactId: task.artefactId };
  await db.prisma.seen.upsert({ where: { userId_artefactId: which }, create: { ...which, versionId }, update: { versionId, at: new Date() } });
}
