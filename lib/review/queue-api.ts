import { z } from 'zod';
import { idSchema, pageFields, text } from '../api-fields';
import { gateSchema } from '../pipeline/stage-api';
import type { ArtefactKind, GateName } from '../pipeline/stages/stage';
import { taskStates, type TaskState } from '../pipeline/task-state';
import type { Verdict } from './decision-api';

export const queueFilterFields = {
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
