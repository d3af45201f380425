import { z } from 'zod';
import { idSchema, text } from '../api-fields';
import { CHOICES } from '../design/model/document-design';
import type { DesignFigures } from '../design/propose/what-if';
import { artefactKinds, type ArtefactKind, type GateName } from '../pipeline/stages/stage';
import type { TaskState } from '../pipeline/task-state';
import type { DocumentSource } from '../validation/document-sources';

export interface ArtefactRow {
  readonly id: string;
  readonly kind: ArtefactKind;
  readonly key: string;
  readonly seq: number;
  readonly gate: GateName | null;
  readonly taskId: string | null;
  readonly taskState: TaskState | null;
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

/** GET /api/artefacts?databaseId&kind&key → `{ artefact, current: VersionDetail }`. */
export const artefactQuery = z.strictObject({
  databaseId: idSchema,
  kind: z.enum(artefactKinds),
  key: text(2000).min(1),
});

/** GET /api/artefacts/:id → `{ artefact, versions: VersionRow[] }`. */
/** GET /api/artefacts/:id/versions/:seq → `{ version: VersionDetail }`. */
/** GET /api/artefacts/:id/diff?from=1&to=2 → ArtefactDiff. */
export const sequence = z.coerce
  .number()
  .int()
  .min(1)
  .max(2 ** 31 - 1);

export const diffQuery = z.strictObject({ from: sequence, to: sequence });

export interface ArtefactDiff {
  readonly from: VersionDetail;
  readonly to: VersionDetail;
}

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
