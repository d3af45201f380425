import { z } from 'zod';
import { idSchema, note, text } from '../api-fields';
import type { VersionDetail } from '../artefacts/artefact-api';
import { directiveSchema } from '../design/model/directive';
import type { ArtefactKind } from '../pipeline/stages/stage';
import { reasonCodes, type DecisionRow, type DirectiveInput } from './decision-api';
import type { TaskRow } from './queue-api';

export interface ItemRow {
  readonly id: string;
  readonly questionId: string;
  readonly question: string;
  readonly difficulty: string | null;
  readonly split: string;
}

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
