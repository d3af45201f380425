import { z } from 'zod';
import { gateNames, stageNames, type StageName } from './stages/stage';

export const stageSchema = z.enum(stageNames);

export const gateSchema = z.enum(gateNames);

export type WorkState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

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

/**
 * POST /api/databases/:id/run (lead): queue the pending stages, or all from `from` → `{ queued:
 * StageRunRow | null }`. POST /api/databases/:id/cancel (lead): stops what runs or waits → `{
 * cancelled: number }`. POST /api/databases/:id/retry (lead): queues the failed stage again → `{
 * queued: StageRunRow | null }`. POST /api/benchmarks/:id/run (lead): the same for every database →
 * `{ queued: number }`.
 */
export const runBody = z.strictObject({ from: stageSchema.optional() });
