import { z } from 'zod';
import type { AgentStep as ContractStep } from '../../agents/contract';
import { idSchema, pageFields } from '../api-fields';
import type { DatabaseRow, GateRow } from './benchmark-api';
import { stageSchema, type StageRow } from '../pipeline/stage-api';
import type { StageName } from '../pipeline/stages/stage';

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
