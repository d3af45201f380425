/**
 * The HTTP interface of the web application, shared by the route handlers and by the browser: zod
 * schemas of what is sent, types of what comes back. Nothing of the server is imported here.
 *
 * Conventions
 * - Ids are UUIDs, times ISO 8601 in UTC.
 * - Bodies are JSON and strict: an unknown key is refused. State changes need a same-origin
 *   `Origin` header.
 * - A failure has the body `ApiError` and one of 400 (malformed), 401 (sign in), 403 (not for
 *   this role), 404, 409 (something changed meanwhile: `code` says what), 413, 422 (the content
 *   fails its checks), 429, 503.
 * - Artefact content travels as relaxed Extended JSON, key order kept: integers beyond 2^53 as
 *   `{"$numberLong": "…"}`, dates as `{"$date": "…"}`, bytes as `{"$binary": …}`.
 */
import { z } from 'zod';
import { CHOICES } from '../design/document-design';
import type { DesignFigures } from '../design/what-if';
import type { AgentStep as ContractStep } from '../../agents/contract';
import { directiveSchema, type Directive } from '../design/directive';
import type { DocumentSource } from '../validation/document-sources';
import type { FirstRows } from '../validation/first-rows';
import { artefactKinds, gateNames, stageNames } from '../pipeline/stages/stage';
import type { ArtefactKind, GateName, StageName } from '../pipeline/stages/stage';

export type { ArtefactKind, GateName, StageName };

// ── Common ───────────────────────────────────────────────────────────────────────────────────────

export interface ApiError {
  readonly error: {
    readonly code: ApiErrorCode;
    /** What happened, and to what. */
    readonly message: string;
    /** What to do next; shown beside the message. */
    readonly next: string;
    /** Problems by place: fields of a malformed body, or checks that an edited artefact fails. */
    readonly problems?: readonly Problem[];
  };
}
export type ApiErrorCode =
  | 'malformed'
  | 'not_signed_in'
  | 'wrong_credentials'
  | 'forbidden'
  | 'foreign_origin'
  | 'not_found'
  | 'conflict'
  /** The artefact has a newer version than the one decided on. */
  | 'version_changed'
  /** Agents are redoing this artefact or something that it depends on. */
  | 'being_redone'
  /** Somebody else holds the task. */
  | 'leased'
  /**
   * The decider holds no lease on the task, or it was decided meanwhile by somebody whom they may
   * not overrule.
   */
  | 'lease_lost'
  | 'too_large'
  | 'check_failed'
  | 'not_finalised'
  | 'rate_limited'
  | 'unavailable'
  | 'internal';
export interface Problem {
  readonly path: string;
  readonly message: string;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly page: number;
  readonly pageSize: number;
}

export const idSchema = z.uuid();
const pageFields = {
  page: z.coerce.number().int().min(1).default(1),
  pageSize: z.coerce.number().int().min(1).max(200).default(50),
};
const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes('\0'), 'must not contain NUL');
const stageSchema = z.enum(stageNames);
const gateSchema = z.enum(gateNames);

// ── Session, users, tokens ───────────────────────────────────────────────────────────────────────

export const roles = ['admin', 'lead', 'reviewer', 'consumer'] as const;
export type Role = (typeof roles)[number];
/** A token reads, or fetches bundles; reviewing is for people, by session only. */
export const scopes = ['read', 'bundles'] as const;
export type Scope = (typeof scopes)[number];

export interface SessionUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
}
/** GET /api/session → `{ user }`; 401 when nobody is signed in. */
export interface SessionResponse {
  readonly user: SessionUser;
}
/** POST /api/session signs in and sets the cookie; DELETE /api/session signs out. */
export const signInBody = z.strictObject({
  email: text(320),
  password: z.string().min(1).max(1024),
});
/** POST /api/session/password: changes one's own password and ends all other sessions. */
export const changePasswordBody = z.strictObject({
  current: z.string().min(1).max(1024),
  next: z.string().min(12).max(1024),
});

/** GET /api/users (admin) → `{ users }`; leads get them too, to assign work. */
export interface UserRow extends SessionUser {
  readonly createdAt: string;
  readonly disabled: boolean;
  readonly lastSeenAt: string | null;
}
/**
 * POST /api/users (admin) → `{ user, password }`: the password is generated when none is sent, and
 * shown once.
 */
export const createUserBody = z.strictObject({
  email: z.email().max(320),
  name: text(200).min(1),
  role: z.enum(roles),
  password: z.string().min(12).max(1024).optional(),
});
/**
 * PATCH /api/users/:id (admin) → `{ user, password? }`. Disabling or resetting ends the user's
 * sessions.
 */
export const updateUserBody = z.strictObject({
  name: text(200).min(1).optional(),
  role: z.enum(roles).optional(),
  disabled: z.boolean().optional(),
  resetPassword: z.literal(true).optional(),
});

/** GET /api/tokens (own) → `{ tokens }`; DELETE /api/tokens/:id revokes. */
export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
}
/** POST /api/tokens → `{ token: TokenRow, secret }`: the secret is shown this once. */
export const createTokenBody = z.strictObject({
  name: text(200).min(1),
  scopes: z.array(z.enum(scopes)).min(1),
  days: z.number().int().min(1).max(366).default(90),
});

// ── Benchmarks and imports ───────────────────────────────────────────────────────────────────────

/** GET /api/benchmarks → `{ benchmarks }`. */
export interface BenchmarkRow {
  readonly id: string;
  readonly name: string;
  readonly kind: 'bird' | 'spider';
  readonly createdAt: string;
  readonly databases: number;
  readonly items: number;
  readonly tasks: TaskCounts;
  readonly finalisedDatabases: number;
}
/**
 * GET /api/benchmarks/:id → `{ benchmark }`; DELETE /api/benchmarks/:id (admin, body
 * `confirmBody`).
 */
export interface BenchmarkDetail extends BenchmarkRow {
  readonly agent: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly questionFiles: readonly {
    readonly split: string;
    readonly sha256: string;
    readonly items: number;
  }[];
  /** What did not fit together at import. */
  readonly problems: readonly {
    readonly kind: string;
    readonly subject: string;
    readonly detail: string;
  }[];
  readonly databaseRows: readonly DatabaseRow[];
}
/** The benchmark's name, typed again. */
export const confirmBody = z.strictObject({ name: text(200) });

/**
 * POST /api/benchmarks/upload?name=… (lead, admin): the body is the zip file itself
 * (`application/zip`, streamed; use XMLHttpRequest for upload progress) → 202 `{ import: ImportRow
 * }`; then poll, or listen for `import` events.
 */
export const uploadQuery = z.strictObject({
  name: text(200).min(1),
  fileName: text(300).optional(),
});
/**
 * POST /api/benchmarks/import (admin): a folder or zip on the server → 202 `{ import: ImportRow }`.
 */
export const importPathBody = z.strictObject({ name: text(200).min(1), path: text(4096).min(1) });
/** GET /api/imports → `{ imports }` (newest first); GET /api/imports/:id → `{ import }`. */
export interface ImportRow {
  readonly id: string;
  readonly name: string;
  readonly state: WorkState;
  readonly phase: 'waiting' | 'unpacking' | 'reading' | 'storing' | 'done';
  readonly done: number;
  readonly total: number;
  readonly failure: string | null;
  readonly benchmarkId: string | null;
  readonly createdAt: string;
}
export type WorkState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

// ── Source databases and stages ──────────────────────────────────────────────────────────────────

/** The numbers of the one predicate that queue, dashboard and export share. */
export interface TaskCounts {
  /** Never decided, or answered by the agent since. */
  readonly open: number;
  /** Decided, but what was decided on has changed since. */
  readonly stale: number;
  /** An agent answers a request, or catches up with a changed dependency. */
  readonly waiting: number;
  /** Decided, and the decision counts. */
  readonly done: number;
}
export interface DatabaseRow {
  readonly id: string;
  readonly benchmarkId: string;
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly items: number;
  readonly tasks: TaskCounts;
  /** The stage that runs or failed, else the last one that finished. */
  readonly currentStage: StageRunRow | null;
  readonly finalisedAt: string | null;
}
/** GET /api/databases/:id → `{ database }`. */
export interface DatabaseDetail extends DatabaseRow {
  readonly benchmarkName: string;
  /** The MongoDB database of the current migration. */
  readonly mongoDatabase: string | null;
  /** Set while something waits and no worker is there to do it: since when, in words. */
  readonly workerSilence: string | null;
  /** One row for each stage, in order. */
  readonly stages: readonly StageRow[];
  readonly gates: readonly GateRow[];
  readonly artefacts: readonly ArtefactRow[];
}
export interface StageRow {
  readonly stage: StageName;
  /** Absent: never ran. */
  readonly run: StageRunRow | null;
}
export interface StageRunRow {
  readonly id: string;
  readonly stage: StageName;
  readonly state: WorkState;
  readonly done: number;
  readonly total: number;
  readonly unit: string;
  readonly failure: string | null;
  readonly queuedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Seconds still to go, estimated from the progress so far. */
  readonly remainingSeconds: number | null;
  /** Counts and durations that the stage reports. */
  readonly report: Readonly<Record<string, unknown>>;
}
export interface GateRow {
  readonly gate: GateName;
  readonly tasks: TaskCounts;
  readonly minutes: number;
}
export interface ArtefactRow {
  readonly id: string;
  readonly kind: ArtefactKind;
  readonly key: string;
  readonly seq: number;
  readonly gate: GateName | null;
  readonly taskId: string | null;
  readonly taskState: TaskState | null;
}

/**
 * POST /api/databases/:id/run (lead): queue the pending stages, or all from `from` → `{ queued:
 * StageRunRow | null }`.
 */
export const runBody = z.strictObject({ from: stageSchema.optional() });
/** POST /api/benchmarks/:id/run (lead): the same for every database → `{ queued: number }`. */
/** POST /api/databases/:id/cancel (lead): stops what runs or waits → `{ cancelled: number }`. */
/**
 * POST /api/databases/:id/retry (lead): queues the failed stage again → `{ queued: StageRunRow |
 * null }`.
 */
export const emptyBody = z.strictObject({});
/** PATCH /api/benchmarks/:id (lead): which agent works on it, and its settings. */
export const benchmarkPatchBody = z.strictObject({
  name: text(200).min(1).optional(),
  agent: z.enum(['builtin', 'claude']).optional(),
  /**
   * What is changed makes the agents design every database again; decisions on what comes out
   * otherwise go stale.
   */
  settings: z
    .strictObject({
      retype: z.enum(['proven', 'never']),
      identifiers: z.enum(['stored', 'string']),
      maxArrayP99: z.number().int().min(1).max(100_000),
      maxArray: z.number().int().min(1).max(100_000),
    })
    .partial()
    .optional(),
});
export type BenchmarkPatch = z.infer<typeof benchmarkPatchBody>;

/** GET /api/databases/:id/items?page&pageSize&search → Page<ItemRow>. */
export const itemsQuery = z.strictObject({ ...pageFields, search: text(200).optional() });
export interface ItemRow {
  readonly id: string;
  readonly questionId: string;
  readonly question: string;
  readonly difficulty: string | null;
  readonly split: string;
}

/**
 * GET /api/databases/:id/finalise → `{ report }`; POST finalises (lead) → `{ report }` or 409
 * `not_finalised`.
 */
export const finaliseBody = z.strictObject({ idempotencyKey: idSchema });
export interface FinaliseReport {
  readonly ready: boolean;
  readonly finalisedAt: string | null;
  /** What is missing, in words, with where to go. */
  readonly missing: readonly MissingRow[];
}
export interface MissingRow {
  readonly what: string;
  readonly gate: GateName | null;
  readonly taskId: string | null;
  readonly count: number;
}

// ── Events ───────────────────────────────────────────────────────────────────────────────────────

/**
 * GET /api/events?benchmarkId=… : server-sent events, `data:` is one `LiveEvent`. A comment line
 * every 15 s. After a reconnect fetch what is shown again: events are not replayed. What happens
 * within a second comes at once: of the changes of one kind to a database's tasks only the last,
 * and of a run's progress.
 */
export const eventsQuery = z.strictObject({ benchmarkId: idSchema.optional() });
export type LiveEvent =
  | { readonly type: 'hello' }
  | {
      readonly type: 'stage';
      readonly benchmarkId: string;
      readonly databaseId: string;
      readonly stage: StageName;
      readonly runId: string;
      readonly state: WorkState;
      readonly done: number;
      readonly total: number;
      readonly unit: string;
    }
  | { readonly type: 'tasks'; readonly benchmarkId: string; readonly databaseId: string }
  | {
      readonly type: 'task';
      readonly benchmarkId: string;
      readonly databaseId: string;
      readonly taskId: string;
      readonly change: 'decided' | 'undone' | 'leased' | 'released' | 'commented';
    }
  | {
      readonly type: 'import';
      readonly importId: string;
      readonly state: WorkState;
      readonly phase: string;
      readonly done: number;
      readonly total: number;
    }
  | {
      readonly type: 'bundle';
      readonly benchmarkId: string;
      readonly bundleId: string;
      readonly state: WorkState;
      readonly done: number;
      readonly total: number;
    }
  | { readonly type: 'benchmark'; readonly benchmarkId: string };

// ── Queue ────────────────────────────────────────────────────────────────────────────────────────

export const taskStates = ['open', 'stale', 'waiting', 'done', 'closed'] as const;
export type TaskState = (typeof taskStates)[number];

const queueFilterFields = {
  benchmarkId: idSchema.optional(),
  databaseId: idSchema.optional(),
  gate: gateSchema.optional(),
  /** `me`: assigned to me; a user's id; absent: everyone's. */
  assignee: z.union([z.literal('me'), z.literal('nobody'), idSchema]).optional(),
};
/** GET /api/queue?… → Page<TaskRow>. `state` defaults to open and stale ones. */
export const queueQuery = z.strictObject({
  ...pageFields,
  ...queueFilterFields,
  state: z.enum([...taskStates, 'actionable', 'all']).default('actionable'),
  search: text(200).optional(),
  sort: z.enum(['queue', 'newest', 'key']).default('queue'),
});
export interface TaskRow {
  readonly id: string;
  readonly benchmarkId: string;
  readonly databaseId: string;
  readonly database: string;
  readonly gate: GateName;
  readonly kind: ArtefactKind;
  readonly key: string;
  /** The key's last part with an item's question: what a list shows. */
  readonly title: string;
  readonly state: TaskState;
  readonly verdict: Verdict | null;
  readonly decidedBy: string | null;
  readonly decidedAt: string | null;
  readonly leasedBy: string | null;
  readonly leasedUntil: string | null;
  readonly assignee: { readonly id: string; readonly name: string } | null;
  readonly version: number;
  readonly comments: number;
}

/**
 * POST /api/queue/claim (reviewer, lead, admin) → ClaimResponse. Leases the next task to the
 * caller. `holding` lists the tasks already on screen or prefetched, so that another one comes; a
 * lease that the caller holds but does not list is handed out again first (a reload resumes).
 * Prefetch: claim with the present task in `holding`. `after` is the task that the caller comes
 * from: its database's tasks come first, then those of its benchmark. `deciding` are tasks whose
 * decisions are not saved yet, `skipped` those that the caller passed over: neither is the answer.
 */
export const claimBody = z.strictObject({
  ...queueFilterFields,
  holding: z.array(idSchema).max(10).default([]),
  after: idSchema.optional(),
  deciding: z.array(idSchema).max(1000).default([]),
  skipped: z.array(idSchema).max(5000).default([]),
});
export type ClaimResponse =
  | { readonly task: TaskDetail; readonly lease: LeaseInfo }
  | { readonly task: null; readonly empty: EmptyQueue };
/** Why there is nothing to do. */
export interface EmptyQueue {
  readonly reason:
    | 'all_done'
    | 'skipped'
    | 'leased_to_others'
    | 'waiting_for_agents'
    | 'stage_failed'
    | 'nothing_yet';
  readonly message: string;
  readonly counts: TaskCounts & { readonly leasedToOthers: number; readonly skipped: number };
  readonly leasedTo: readonly {
    readonly name: string;
    readonly tasks: number;
    readonly until: string;
  }[];
  readonly stages: readonly {
    readonly databaseId: string;
    readonly database: string;
    readonly stage: StageName;
    readonly state: WorkState;
    readonly failure: string | null;
  }[];
}
export interface LeaseInfo {
  readonly taskId: string;
  readonly expiresAt: string;
  /** Send a heartbeat this often. */
  readonly heartbeatSeconds: number;
}
/**
 * POST /api/tasks/:id/lease → `{ lease }`: takes this very task (409 `leased` with the holder's
 * name) or renews one's own lease: the heartbeat. DELETE gives it back (also by `sendBeacon` to
 * POST /api/tasks/:id/lease/release).
 */
/** POST /api/tasks/assign (lead) → `{ assigned: number }`; `userId: null` takes it back. */
export const assignBody = z.strictObject({
  taskIds: z.array(idSchema).min(1).max(1000),
  userId: idSchema.nullable(),
});

// ── One task ─────────────────────────────────────────────────────────────────────────────────────

/** GET /api/tasks/:id → `{ task: TaskDetail }`. */
export interface TaskDetail extends Omit<TaskRow, 'comments'> {
  readonly artefactId: string;
  readonly benchmarkName: string;
  readonly current: VersionDetail;
  /** The version that the caller saw last, when it is another one: show the difference first. */
  readonly lastSeen: VersionDetail | null;
  /**
   * Once the current version was seen, what to compare it with again: the last other one that was
   * decided on, else its predecessor.
   */
  readonly earlier: VersionDetail | null;
  readonly decisions: readonly DecisionRow[];
  readonly inputs: readonly InputRow[];
  readonly comments: readonly CommentRow[];
  readonly directives: readonly DirectiveRow[];
  readonly draft: Draft | null;
  /** The item, where the task is about one. */
  readonly item: ItemDetail | null;
  /** Why the task waits, or what failed. */
  readonly waitingFor: string | null;
}
export interface VersionRow {
  readonly id: string;
  readonly seq: number;
  readonly contentHash: string;
  readonly createdAt: string;
  readonly author: {
    readonly kind: 'user' | 'agent';
    readonly name: string;
    readonly runId: string | null;
  };
  readonly current: boolean;
}
export interface VersionDetail extends VersionRow {
  readonly content: unknown;
}
export interface ItemDetail extends ItemRow {
  readonly evidence: string;
  readonly sql: string;
}
export interface InputRow {
  readonly kind: ArtefactKind;
  readonly key: string;
  readonly part: string | null;
  /**
   * `changed`: since the last decision; `catching_up`: the agents have yet to look at its newest
   * version.
   */
  readonly state: 'current' | 'changed' | 'catching_up';
  readonly artefactId: string | null;
  readonly taskId: string | null;
}
export interface DirectiveRow {
  readonly id: string;
  readonly directive: DirectiveInput;
  readonly by: string;
  readonly at: string;
  readonly withdrawn: boolean;
  /** Set when the agent answered "cannot act on this". */
  readonly cannotAct: string | null;
}

export const verdicts = [
  'approve',
  'request_changes',
  'edit',
  'keep_unoptimised',
  'exclude',
  'mark_source_defect',
  'reclassify',
] as const;
export type DecisionVerdict = (typeof verdicts)[number];
export type Verdict = DecisionVerdict | 'undo' | 'finalise';

/** Reasons for requesting changes, in the order of their number keys. */
export const reasonCodes = [
  'wrong_structure',
  'wrong_result',
  'wrong_type_or_format',
  'not_natural',
  'missing_information',
  'wrong_name',
  'inefficient',
  'wording',
  'other',
] as const;
export type ReasonCode = (typeof reasonCodes)[number];

const note = text(20_000);
export type DirectiveInput = Directive;

/** Content of an artefact as Extended JSON; checked by the artefact's own checks. */
// Not taken apart by zod, so that names like `__proto__` stay data.
const contentSchema = z.custom<object>(
  (value) => typeof value === 'object' && value !== null,
  'must be a document or a list',
);
const decisionFields = {
  /** Made by the browser once per decision; sending it again returns the first outcome. */
  idempotencyKey: idSchema,
  /** The version on screen; 409 `version_changed` when a newer one exists. */
  versionId: idSchema,
  note: note.optional(),
};
/**
 * POST /api/tasks/:id/decisions → DecideResponse. `edit` makes a new version with the caller as
 * author, which must pass the same checks as an agent's (422 `check_failed` with `problems`), and
 * approves it too when `approve` is set. `content` is what `checkEdit` takes for the task's kind:
 * the artefact's content for a conceptual design, a logical design or `{csv}` for a collection
 * validation, `{text}` or `{mql: {collection, pipeline}}` for a translation or gold,
 * `{evidenceMql}` for evidence. An edit of a collection's design leaves the task waiting for its
 * new validation. `reclassify` is an edit of a table validation that changes nothing but the
 * classes of loss flags, and approves.
 */
export const decideBody = z.discriminatedUnion('verdict', [
  z.strictObject({ verdict: z.literal('approve'), ...decisionFields }),
  z.strictObject({
    verdict: z.literal('request_changes'),
    ...decisionFields,
    reason: z.enum(reasonCodes),
    directives: z.array(directiveSchema).max(50).default([]),
  }),
  z.strictObject({
    verdict: z.literal('edit'),
    ...decisionFields,
    content: contentSchema,
    approve: z.boolean().default(true),
  }),
  z.strictObject({ verdict: z.literal('keep_unoptimised'), ...decisionFields }),
  z.strictObject({ verdict: z.literal('exclude'), ...decisionFields, note: note.min(1) }),
  z.strictObject({
    verdict: z.literal('mark_source_defect'),
    ...decisionFields,
    note: note.min(1),
  }),
  z.strictObject({ verdict: z.literal('reclassify'), ...decisionFields, content: contentSchema }),
]);
export type DecideInput = z.infer<typeof decideBody>;
export interface DecideResponse {
  readonly decision: DecisionRow;
  readonly taskState: TaskState;
  /** False when this idempotency key had been decided before. */
  readonly first: boolean;
}
/**
 * GET /api/tasks/:id/logical.csv: the logical design behind a collection validation, as `{csv}`
 * takes it back; an attachment.
 */
/**
 * POST /api/tasks/:id/check: what `edit` would say of this content, without saving → `EditCheck`.
 */
export const checkBody = z.strictObject({ content: contentSchema });

export interface EditCheck {
  /** Why it cannot be saved; empty: it can. */
  readonly problems: readonly Problem[];
  /** What the checks could not show although they pass, in sentences. */
  readonly notes: readonly string[];
}

export interface DecisionRow {
  readonly id: string;
  readonly verdict: Verdict;
  readonly by: { readonly id: string; readonly name: string };
  readonly at: string;
  readonly reason: ReasonCode | null;
  readonly note: string | null;
  readonly version: number;
  /** Whether it counts now; `superseded`: a later decision on the same task took its place. */
  readonly standing: 'counts' | 'stale' | 'superseded' | 'undone' | 'answered';
  readonly undoneBy: string | null;
}
/**
 * POST /api/decisions/:id/undo → DecideResponse. One's own latest decision on a task; a lead:
 * anyone's ("re-open").
 */
export const undoBody = z.strictObject({ idempotencyKey: idSchema, note: note.optional() });

/** POST /api/tasks/:id/seen: this version has been shown. */
export const seenBody = z.strictObject({ versionId: idSchema });
/**
 * PUT /api/tasks/:id/draft: keeps what a reviewer is writing and has not sent; one that holds
 * nothing is removed.
 */
export const draftBody = z.strictObject({
  /** Of a request for changes. */
  note: z.string().max(20_000),
  reason: z.enum(reasonCodes).nullable(),
  directives: z.array(directiveSchema).max(200),
  /** The text in the editor, where it is another one than the artefact's. */
  edit: z.string().max(2_000_000).nullable(),
});
export type Draft = z.infer<typeof draftBody>;
export const EMPTY_DRAFT: Draft = { note: '', reason: null, directives: [], edit: null };

/** POST /api/tasks/:id/comments → `{ comment }`; PATCH /api/comments/:id → `{ comment }`. */
export const commentBody = z.strictObject({
  versionId: idSchema,
  anchor: text(2000).default(''),
  body: note.min(1),
  parentId: idSchema.optional(),
});
export const commentPatchBody = z.strictObject({
  resolved: z.boolean().optional(),
  body: note.min(1).optional(),
});
export interface CommentRow {
  readonly id: string;
  readonly version: number;
  /** A place in the version: a JSON pointer, a line, a cell; whatever the screen can scroll to. */
  readonly anchor: string;
  readonly body: string;
  readonly by: { readonly id: string; readonly name: string };
  readonly at: string;
  readonly parentId: string | null;
  readonly resolvedAt: string | null;
  readonly resolvedBy: string | null;
}

/**
 * POST /api/effort (also by `sendBeacon`, any content type) → 204. Overlaps with one's own earlier
 * spans are cut off.
 */
export const effortBody = z.strictObject({
  spans: z
    .array(
      z.strictObject({
        id: idSchema,
        taskId: idSchema,
        startedAt: z.iso.datetime(),
        endedAt: z.iso.datetime(),
        end: z.enum(['decision', 'blur', 'idle', 'unload', 'next']),
      }),
    )
    .min(1)
    .max(100),
});

// ── Artefacts ────────────────────────────────────────────────────────────────────────────────────

/** GET /api/artefacts?databaseId&kind&key → `{ artefact, current: VersionDetail }`. */
export const artefactQuery = z.strictObject({
  databaseId: idSchema,
  kind: z.enum(artefactKinds),
  key: text(2000).min(1),
});
/** GET /api/artefacts/:id → `{ artefact, versions: VersionRow[] }`. */
/** GET /api/artefacts/:id/versions/:seq → `{ version: VersionDetail }`. */
/** GET /api/artefacts/:id/diff?from=1&to=2 → ArtefactDiff. */
const sequence = z.coerce
  .number()
  .int()
  .min(1)
  .max(2 ** 31 - 1);
export const diffQuery = z.strictObject({ from: sequence, to: sequence });
export interface ArtefactDiff {
  readonly from: VersionDetail;
  readonly to: VersionDetail;
}

// ── Designs ──────────────────────────────────────────────────────────────────────────────────────

/** POST /api/databases/:id/what-if → WhatIf. Nothing is stored. */
export const whatIfBody = z.strictObject({
  relationship: text(2000).min(1),
  choice: z.enum(CHOICES),
});
/** GET /api/databases/:id/design-figures → DesignFiguresResponse. */
export interface DesignFiguresResponse {
  readonly chosen: DesignFigures;
  /** One collection a table, with indexes proposed in the same way. */
  readonly oneToOne: DesignFigures;
}
/**
 * GET /api/databases/:id/documents?collection → SampleDocuments: the first few documents of a
 * migrated collection, each with the rows of the source that it was made from.
 */
export const documentsQuery = z.strictObject({ collection: text(200).min(1) });
export interface SampleDocuments {
  readonly documents: readonly SampleDocument[];
  /** The table whose rows the documents stand for. */
  readonly rootTable: string;
  /** Why no source rows are there, in words. */
  readonly withoutSource: string | null;
}
export interface SampleDocument {
  /** Extended JSON, indented; long arrays and texts are cut, and say so. */
  readonly text: string;
  readonly source: DocumentSource | null;
}
/**
 * GET /api/tasks/:id/mapping-rows?mapping → FirstRows: what the sides of a collection validation's
 * mapping begin with.
 */
export const mappingRowsQuery = z.strictObject({ mapping: text(1000).min(1) });
export type { DocumentSource, FirstRows };

// ── Leads ────────────────────────────────────────────────────────────────────────────────────────

/** GET /api/benchmarks/:id/overview (lead, admin) → Overview. */
export interface Overview {
  readonly databases: readonly OverviewRow[];
  readonly reviewers: readonly ReviewerRow[];
  /** Tasks done at the end of each day, for a burn-down, and how many there are. */
  readonly burnDown: readonly {
    readonly day: string;
    readonly remaining: number;
    readonly decided: number;
  }[];
  /** ISO date when the rest is done at the pace of the last seven days; null without a pace. */
  readonly forecast: string | null;
}
export interface OverviewRow extends DatabaseRow {
  readonly gates: readonly GateRow[];
  readonly stages: readonly StageRow[];
  readonly translated: number | null;
  readonly untranslated: number | null;
  readonly excluded: number;
  readonly sourceDefects: number;
  readonly costUsd: number;
}
export interface ReviewerRow {
  readonly id: string;
  readonly name: string;
  readonly decisions: number;
  readonly approved: number;
  readonly requestedChanges: number;
  readonly minutes: number;
  /** Median seconds from opening a task to deciding. */
  readonly dwellSeconds: number | null;
  readonly holding: number;
}

/**
 * GET /api/runs?benchmarkId&databaseId&page&pageSize (lead, admin) → Page<RunRow>; GET
 * /api/runs/:id → `{ run, steps }`.
 */
export const runsQuery = z.strictObject({
  ...pageFields,
  benchmarkId: idSchema.optional(),
  databaseId: idSchema.optional(),
  stage: stageSchema.optional(),
});
export interface RunRow {
  readonly id: string;
  readonly agent: string;
  readonly benchmarkId: string;
  readonly benchmark: string;
  readonly database: string;
  readonly stage: StageName;
  readonly subject: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly failure: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly retries: number;
  readonly steps: number;
}
export interface StepRow {
  readonly seq: number;
  readonly kind: ContractStep['kind'];
  readonly text: string;
  readonly at: string;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
}

/** GET /api/benchmarks/:id/audit?page&pageSize (lead, admin) → Page<AuditRow>. */
export const pageQuery = z.strictObject(pageFields);
export interface AuditRow {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: unknown;
  readonly hash: string;
}
/** GET /api/benchmarks/:id/audit/verify (lead, admin) → AuditVerdict. */
export interface AuditVerdict {
  readonly ok: boolean;
  readonly events: number;
  readonly head: string | null;
  /** The first event that does not fit, in words. */
  readonly broken: string | null;
}
/**
 * GET /api/benchmarks/:id/effort.csv and /api/benchmarks/:id/decisions.csv (lead, admin): text/csv.
 */

// ── Bundles ──────────────────────────────────────────────────────────────────────────────────────

/** GET /api/bundles?benchmarkId → `{ bundles }`: a consumer sees finished, final ones only. */
export const bundlesQuery = z.strictObject({ benchmarkId: idSchema.optional() });
/**
 * POST /api/bundles (lead, admin; a consumer may for a finalised benchmark) → 202 `{ bundle }`, or
 * 409 `not_finalised`.
 */
export const createBundleBody = z.strictObject({
  benchmarkId: idSchema,
  draft: z.boolean().default(false),
});
/** GET /api/bundles/:id → `{ bundle }`; GET /api/bundles/:id/download streams the zip. */
export interface BundleRow {
  readonly id: string;
  readonly benchmarkId: string;
  readonly benchmarkName: string;
  readonly draft: boolean;
  readonly state: WorkState;
  readonly done: number;
  readonly total: number;
  readonly failure: string | null;
  readonly createdAt: string;
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly fileName: string | null;
}

/** GET /api/health (anyone) → 200 or 503. */
export interface Health {
  readonly ok: boolean;
  readonly postgres: boolean;
  readonly mongo: boolean;
}
