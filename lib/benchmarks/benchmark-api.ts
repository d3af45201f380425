import { z } from 'zod';
import { idSchema, pageFields, text } from '../api-fields';
import type { ArtefactRow } from '../artefacts/artefact-api';
import type { StageRow, StageRunRow, WorkState } from '../pipeline/stage-api';
import type { GateName } from '../pipeline/stages/stage';
import type { TaskCounts } from '../pipeline/task-state';

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

export interface GateRow {
  readonly gate: GateName;
  readonly tasks: TaskCounts;
  readonly minutes: number;
}

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
      rules: z.enum(['all', 'none']),
      maxArrayP99: z.number().int().min(1).max(100_000),
      maxArray: z.number().int().min(1).max(100_000),
    })
    .partial()
    .optional(),
});

export type BenchmarkPatch = z.infer<typeof benchmarkPatchBody>;

/** GET /api/databases/:id/items?page&pageSize&search → Page<ItemRow>. */
export const itemsQuery = z.strictObject({ ...pageFields, search: text(200).optional() });

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
