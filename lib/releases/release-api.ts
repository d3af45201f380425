import { z } from 'zod';
import { idSchema } from '../api-fields';
import type { WorkState } from '../pipeline/stage-api';

/**
 * GET /api/benchmarks/:id/effort.csv and /api/benchmarks/:id/decisions.csv (lead, admin): text/csv.
 */
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
