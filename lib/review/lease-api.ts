import { z } from 'zod';
import { idSchema } from '../api-fields';
import type { WorkState } from '../pipeline/stage-api';
import type { StageName } from '../pipeline/stages/stage';
import type { TaskCounts } from '../pipeline/task-state';
import { queueFilterFields } from './queue-api';
import type { TaskDetail } from './task-api';

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
