import { BSON, type Db, type Document, type MongoClient } from 'mongodb';
import { AppError, notFound } from '../app-error';
import type { BlobStore } from '../db/blob-store';
import type { Database } from '../db/database';
import type { LogicalDesign } from '../design/model/document-design';
import type { Migration } from '../migration/migrate';
import { GuardedError, runGuarded } from '../mongo/guarded';
import { readCurrent } from '../pipeline/artefact-store';
import { relaxedJson } from '../results/extended-json';
import type { ProfileContent } from '../pipeline/stages/design-stages';
import { fromBson, type ResultSet, type Value, type ValueDocument } from '../results/value';
import { QueryError, QueryProcess } from '../sqlite/query/query-process';
import type { CollectionValidation } from '../validation/collection-validation';
import {
  documentSources,
  type AskSource,
  type DocumentSource,
} from '../validation/document-sources';
import { firstRows, type FirstRows } from '../validation/first-rows';
import type { SampleDocuments } from './artefact-api';

const SAMPLES = 3;
const MAX_ENTRIES = 5;
const MAX_TEXT = 300;
const MAX_ROWS = 10;
const TIMEOUT_MS = 10_000;
const pipelineLimits = { maxTimeMS: 5000, maxBytes: 50 * 1024 * 1024 };

interface Stores {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly mongo: () => Promise<MongoClient>;
}

/**
 * The first documents of a migrated collection, short enough to read, and the source rows that they
 * were made from.
 */
export async function sampleDocuments(
  stores: Stores,
  databaseId: string,
  collection: string,
  signal: AbortSignal,
): Promise<SampleDocuments> {
  const { db, blobs } = stores;
  const database = await db.prisma.sourceDatabase.findUnique({
    where: { id: databaseId },
    select: { name: true, blobHash: true },
  });
  if (!database) throw notFound('This source database');
  const migration = await readCurrent<Migration>(db, blobs, databaseId, {
    kind: 'migration',
    key: database.name,
  });
  if (!migration?.content.collections.some(({ name }) => name === collection))
    throw notFound(`The collection ${collection}`);
  const key = `${database.name}/${collection}`;
  const design = await readCurrent<LogicalDesign>(db, blobs, databaseId, {
    kind: 'logical_design',
    key,
  });
  const profile = await readCurrent<ProfileContent>(db, blobs, databaseId, {
    kind: 'profile',
    key: database.name,
  });
  const found = await pipelineRows(
    (await stores.mongo()).db(migration.content.mongoDatabase),
    collection,
    [{ $sort: { _id: 1 } }, { $limit: SAMPLES }],
    SAMPLES,
    signal,
  );
  const texts = found.map((document) =>
    BSON.EJSON.stringify(shortened(document) as Document, undefined, 2, { relaxed: true }),
  );
  const without = (reason: string): SampleDocuments => ({
    documents: texts.map((text) => ({ text, source: null })),
    rootTable: design?.content.rootTable ?? '',
    withoutSource: reason,
  });
  const made = await db.prisma.artefactInput.findFirst({
    where: { versionId: migration.versionId, kind: 'logical_design', key },
    select: { hash: true },
  });
  if (!design || !profile || made?.hash !== design.contentHash)
    return without(
      'The design has changed since these documents were made; the rows that they came from are ' +
        'shown when the agents have caught up.',
    );
  try {
    const documents = found.map((document) => fromBson(document) as ValueDocument);
    const sources = await onSource(await blobs.materialise(database.blobHash), signal, (ask) =>
      documentSources(design.content, profile.content.catalog, documents, MAX_ROWS, ask),
    );
    return {
      documents: texts.map((text, index) => ({ text, source: cut(sources[index]!) })),
      rootTable: design.content.rootTable,
      withoutSource: null,
    };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return without(`The source rows cannot be read: ${error.message}.`);
  }
}

const cut = (source: DocumentSource): DocumentSource => ({
  ...source,
  rows: source.rows.map(cells),
});
const cells = (row: readonly Value[]): Value[] =>
  row.map((value) => relaxedJson(shortened(value)) as Value);

/** What both sides of a mapping begin with: results are not kept, so they are asked again. */
export async function mappingRows(
  stores: Stores,
  taskId: string,
  mappingName: string,
  signal: AbortSignal,
): Promise<FirstRows> {
  const { db, blobs } = stores;
  const task = await db.prisma.task.findUnique({
    where: { id: taskId },
    include: { artefact: true, database: { select: { name: true, blobHash: true } } },
  });
  const ref = { kind: 'collection_validation', key: task?.artefact.key ?? '' } as const;
  const validation =
    task?.artefact.kind === ref.kind
      ? await readCurrent<CollectionValidation>(db, blobs, task.databaseId, ref)
      : undefined;
  const mapping = validation?.content.mappings.find(({ name }) => name === mappingName);
  if (!task || !mapping) throw notFound('This mapping');
  const migration = await readCurrent<Migration>(db, blobs, task.databaseId, {
    kind: 'migration',
    key: task.database.name,
  });
  if (!migration)
    throw new AppError(
      'conflict',
      'There are no documents yet',
      'Wait until the agents have migrated the database.',
    );
  const documents = (await stores.mongo()).db(migration.content.mongoDatabase);
  try {
    const { columns, rows } = await onSource(
      await blobs.materialise(task.database.blobHash),
      signal,
      (ask) =>
        firstRows(mapping, MAX_ROWS, ask, (pipeline) =>
          pipelineRows(documents, mapping.collection, pipeline, MAX_ROWS, signal),
        ),
    );
    return {
      columns,
      rows: rows.map(({ document, source }) => ({
        document: cells(document),
        source: source && cells(source),
      })),
    };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throw new AppError(
      'unavailable',
      `The source cannot be read: ${error.message}`,
      'The verdict of the mapping stands. Try again.',
    );
  }
}

async function pipelineRows(
  db: Db,
  collection: string,
  pipeline: readonly Document[],
  maxRows: number,
  signal: AbortSignal,
): Promise<Document[]> {
  try {
    return await runGuarded(db, collection, pipeline, { ...pipelineLimits, maxRows, signal });
  } catch (error) {
    if (!(error instanceof GuardedError)) throw error;
    throw new AppError(
      'unavailable',
      `The documents of ${collection} cannot be read: ${error.message}`,
      'Try again.',
    );
  }
}

async function onSource<T>(
  file: string,
  signal: AbortSignal,
  work: (ask: AskSource) => Promise<T>,
): Promise<T> {
  const queries = QueryProcess.borrow();
  try {
    return await work(async (sql): Promise<ResultSet> => {
      const result = await queries.query(file, sql, { timeoutMs: TIMEOUT_MS }, signal);
      if (result.more) throw new QueryError('too_large', 'these documents have too many rows');
      return result;
    });
  } finally {
    queries.giveBack();
  }
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length > MAX_TEXT
      ? `${value.slice(0, MAX_TEXT)}… (${value.length} characters)`
      : value;
  if (Array.isArray(value))
    return value.length > MAX_ENTRIES
      ? [...value.slice(0, MAX_ENTRIES).map(shortened), `… and ${value.length - MAX_ENTRIES} more`]
      : value.map(shortened);
  if (value instanceof BSON.Binary && value.length() > MAX_TEXT)
    return `… (${value.length()} bytes)`;
  if (value instanceof Uint8Array) return shortened(new BSON.Binary(value));
  if (
    value === null ||
    typeof value !== 'object' ||
    Object.getPrototypeOf(value) !== Object.prototype
  )
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]));
}
