import { AppError, notFound } from '../app-error';
import type { BlobStore } from '../db/blob-store';
import type { Database } from '../db/database';
import type { Choice, ConceptualDesign } from '../design/model/document-design';
import { deriveDesign } from '../design/logical/logical';
import { proposeDesign } from '../design/propose/propose';
import { figures, whatIf, type WhatIf } from '../design/propose/what-if';
import type { Workload } from '../design/model/workload';
import { readCurrent } from '../pipeline/artefact-store';
import { decodeContent } from '../pipeline/content';
import type { ProfileContent } from '../pipeline/stages/design-stages';
import type { BenchmarkSettings } from '../pipeline/stages/stage';
import type { DesignFiguresResponse } from './artefact-api';

/** What the estimates read: all of it current, none of it the source's rows. */
async function designInput(db: Database, blobs: BlobStore, databaseId: string) {
  const database = await db.prisma.sourceDatabase.findUnique({
    where: { id: databaseId },
    include: { benchmark: true },
  });
  if (!database) throw notFound('This source database');
  const read = async <T>(kind: 'profile' | 'workload' | 'conceptual_design'): Promise<T> => {
    const found = await readCurrent<T>(db, blobs, databaseId, { kind, key: database.name });
    if (!found)
      throw new AppError(
        'conflict',
        `${database.name} has no ${kind.replaceAll('_', ' ')} yet`,
        'Wait until the agents have designed it.',
      );
    return found.content;
  };
  const { catalog, profile } = await read<ProfileContent>('profile');
  const limits = decodeContent<BenchmarkSettings>(database.benchmark.settings);
  return {
    catalog,
    profile,
    workload: await read<Workload>('workload'),
    design: await read<ConceptualDesign>('conceptual_design'),
    limits,
    directives: [],
  };
}

export async function databaseWhatIf(
  db: Database,
  blobs: BlobStore,
  databaseId: string,
  change: { relationship: string; choice: Choice },
): Promise<WhatIf> {
  return whatIf({ ...(await designInput(db, blobs, databaseId)), change });
}

export async function designFigures(
  db: Database,
  blobs: BlobStore,
  databaseId: string,
): Promise<DesignFiguresResponse> {
  const input = await designInput(db, blobs, databaseId);
  const chosen = deriveDesign({ ...input, conceptual: input.design });
  const flat = deriveDesign({
    ...input,
    conceptual: proposeDesign({ ...input, strategy: 'one-to-one' }).design,
  });
  return { chosen: figures(chosen, input), oneToOne: figures(flat, input) };
}
