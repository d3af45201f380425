import { BSON, type Db, type MongoClient } from 'mongodb';
import type { Catalog } from '../sqlite/catalog';
import type { DocumentDesign, IndexDesign } from '../design/document-design';
import { contentHash } from '../results/hash';
import { assembleDocuments, MigrationError } from './assemble';

export interface MigrationInput {
  readonly sourcePath: string;
  readonly catalog: Catalog;
  readonly design: DocumentDesign;
  readonly indexes: IndexDesign;
  readonly mongo: MongoClient;
  /** At most 20 characters of `[a-z0-9_]`. */
  readonly prefix: string;
  readonly signal: AbortSignal;
  onDocuments?(collection: string, documents: number): void;
}

/** The content of a migration artefact. */
export interface Migration {
  readonly mongoDatabase: string;
  readonly collections: readonly { readonly name: string; readonly documents: number; readonly bytes: number; readonly largestDocument: number }[];
  /** Source rows that went into documents, by table. */
  readonly rows: Readonly<Record<string, number>>;
}

// A batch is flushed at either bound: few round trips, and never near the wire's 48 MB message limit.
const BATCH_DOCUMENTS = 1000;
const BATCH_BYTES = 8 * 1024 * 1024;
const MAX_BSON = 16 * 1024 * 1024;

const MARKER = 'aptmql_migrations';

/**
 * Migrates a source database by its design. Every design has a MongoDB database of its own, named by the hash of what
 * goes into it, so that the one in use is never touched: it is superseded when the new one is complete. Repeating a
 * finished migration returns its record; an interrupted one leaves no record and starts over.
 */
export async function migrate(input: MigrationInput): Promise<Migration> {
  const { catalog, design, mongo } = input;
  const mongoDatabase = migrationDatabase(input);
  const marker = mongo.db(`${input.prefix}_meta`).collection<{ _id: string; migration: Migration }>(MARKER);
  const finished = await marker.findOne({ _id: mongoDatabase });
  if (finished && (await countsHold(mongo.db(mongoDatabase), finished.migration))) return finished.migration;

  const db = mongo.db(mongoDatabase);
  await db.dropDatabase();
  const rows = new Map<string, number>(catalog.tables.map((table) => [table.name, 0]));
  const collections: Migration['collections'][number][] = [];
  for (const logical of design.logical) {
    let [documents, bytes, largestDocument] = [0, 0, 0];
    const target = await db.createCollection(logical.collection);
    let batch: Record<string, unknown>[] = [];
    let batchBytes = 0;
    // One batch is under way while the next is assembled: both sides work at once.
    let underWay: Promise<unknown> = Promise.resolve();
    const flush = async (): Promise<void> => {
      if (batch.length === 0) return;
      await underWay;
      input.signal.throwIfAborted();
      underWay = target.insertMany(batch, { ordered: true });
      // A failure is met at the next flush, or at the end; until then it is nobody's unhandled rejection.
      underWay.catch(() => undefined);
      [batch, batchBytes] = [[], 0];
      input.onDocuments?.(logical.collection, documents);
    };
    for (const document of assembleDocuments(input.sourcePath, catalog, logical, rows)) {
      const size = BSON.calculateObjectSize(document);
      if (size > MAX_BSON) throw new MigrationError(`the document ${String(document._id)} of ${logical.collection} would be ${size} bytes; MongoDB takes 16 MB`);
      if (batchBytes + size > BATCH_BYTES) await flush();
      batch.push(document);
      batchBytes += size;
      documents++;
      bytes += size;
      largestDocument = Math.max(largestDocument, size);
      if (batch.length >= BATCH_DOCUMENTS) await flush();
    }
    await flush();
    await underWay;
    collections.push({ name: logical.collection, documents, bytes, largestDocument });
  }
  for (const [collection, indexes] of Object.entries(input.indexes)) {
    for (const index of indexes) await db.collection(collection).createIndex(index.key, index.unique ? { unique: true } : {});
  }
  const migration = { mongoDatabase, collections, rows: Object.fromEntries(rows) };
  await marker.replaceOne({ _id: mongoDatabase }, { migration }, { upsert: true });
  return migration;
}

function migrationDatabase({ prefix, catalog, design, indexes }: MigrationInput): string {
  const readable = catalog.database.toLowerCase().replace(/[^a-z0-9]+/g, '_').slice(0, 16);
  const hash = contentHash({ source: catalog.sha256, logical: design.logical, indexes }).slice(0, 12);
  return `${prefix}_${readable}_${hash}`;
}

async function countsHold(db: Db, migration: Migration): Promise<boolean> {
  for (const { name, documents } of migration.collections) {
    if ((await db.collection(name).countDocuments({})) !== documents) return false;
  }
  return true;
}
