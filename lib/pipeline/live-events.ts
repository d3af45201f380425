import { z } from 'zod';
import { idSchema } from '../api-fields';
import type { WorkState } from './stage-api';
import type { StageName } from './stages/stage';

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
