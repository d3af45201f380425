import { BSON, type Document, type MongoClient } from 'mongodb';
import { AppError, notFound } from '../auth/errors';
import type { BlobStore } from '../db/blob-store';
import type { Database } from '../db/database';
import type { Choice, ConceptualDesign } from '../design/document-design';
import { deriveDesign } from '../design/logical';
import { proposeDesign } from '../design/propose';
import { figures, whatIf, type WhatIf } from '../design/what-if';
import type { Workload } from '../design/workload';
import type { Migration } from '../migration/migrate';
import { GuardedError, runGuarded } from '../mongo/guarded';
import { readCurrent } from '../pipeline/artefact-store';
import { decodeContent } from '../pipeline/content';
import type { ProfileContent } from '../pipeline/stages/design-stages';
import type { BenchmarkSettings } from '../pipeline/stages/stage';
import type { DesignFiguresResponse, SampleDocuments } from './api-types';

/** What the estimates read: all of it current, none of it the source's rows. */
async function designInput(db: Database, blobs: BlobStore, databaseId: string) {
  const database = await db.prisma.sourceDatabase.findUnique({ where: { id: databaseId }, include: { benchmark: true } });
  if (!database) throw notFound('This source database');
  const read = async <T>(kind: 'profile' | 'workload' | 'conceptual_design'): Promise<T> => {
    const found = await readCurrent<T>(db, blobs, databaseId, { kind, key: database.name });
    if (!found) throw new AppError('conflict', `${database.name} has no ${kind.replaceAll('_', ' ')} yet`, 'Wait until the agents have designed it.');
    return found.content;
  };
  const { catalog, profile } = await read<ProfileContent>('profile');
  const limits = decodeContent<BenchmarkSettings>(database.benchmark.settings);
  return { catalog, profile, workload: await read<Workload>('workload'), design: await read<ConceptualDesign>('conceptual_design'), limits, directives: [] };
}

export async function databaseWhatIf(db: Database, blobs: BlobStore, databaseId: string, change: { relationship: string; choice: Choice }): Promise<WhatIf> {
  return whatIf({ ...(await designInput(db, blobs, databaseId)), change });
}

export async function designFigures(db: Database, blobs: BlobStore, databaseId: string): Promise<DesignFiguresResponse> {
  const input = await designInput(db, blobs, databaseId);
  const chosen = deriveDesign({ ...input, conceptual: input.design });
  const flat = deriveDesign({ ...input, conceptual: proposeDesign({ ...input, strategy: 'one-to-one' }).design });
  return { chosen: figures(chosen, input), oneToOne: figures(flat, input) };
}

const SAMPLES = 3;
const MAX_ENTRIES = 5;
const MAX_TEXT = 300;

/** The first documents of a migrated collection, short enough to read. */
export async function sampleDocuments(db: Database, blobs: BlobStore, mongo: () => Promise<MongoClient>, databaseId: string, collection: string, signal: AbortSignal): Promise<SampleDocuments> {
  const database = await db.prisma.sourceDatabase.findUnique({ where: { id: databaseId }, select: { name: true } });
  if (!database) throw notFound('This source database');
  const migration = await readCurrent<Migration>(db, blobs, databaseId, { kind: 'migration', key: database.name });
  if (!migration?.content.collections.some(({ name }) => name === collection)) throw notFound(`The collection ${collection}`);
  try {
    const found = await runGuarded((await mongo()).db(migration.content.mongoDatabase), collection, [{ $sort: { _id: 1 } }, { $limit: SAMPLES }], { maxTimeMS: 5000, maxRows: SAMPLES, maxBytes: 50 * 1024 * 1024, signal });
    return { documents: found.map((document) => BSON.EJSON.stringify(shortened(document) as Document, undefined, 2, { relaxed: true })) };
  } catch (error) {
    if (!(error instanceof GuardedError)) throw error;
    throw new AppError('unavailable', `The documents of ${collection} cannot be read: ${error.message}`, 'Try again.');
  }
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}… (${value.length} characters)` : value;
  if (Array.isArray(value)) return value.length > MAX_ENTRIES ? [...value.slice(0, MAX_ENTRIES).map(shortened), `… and ${value.length - MAX_ENTRIES} more`] : value.map(shortened);
  if (value instanceof BSON.Binary && value.length() > MAX_TEXT) return `… (${value.length()} bytes)`;
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]));
}
