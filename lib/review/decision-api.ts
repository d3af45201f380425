import { z } from 'zod';
import { idSchema, note } from '../api-fields';
import type { Problem } from '../app-error';
import { directiveSchema, type Directive } from '../design/model/directive';
import type { TaskState } from '../pipeline/task-state';

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

export type DirectiveInput = Directive;

/** Content of an artefact as Extended JSON; checked by the artefact's own checks. */
// Not taken apart by zod, so that names like `__proto__` stay data.
export const contentSchema = z.custom<object>(
  (value) => typeof value === 'object' && value !== null,
  'must be a document or a list',
);

export const decisionFields = {
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
