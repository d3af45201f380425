import { BSON, type Collection, type Db, type Document } from 'mongodb';
import type { Index } from '../design/document-design';
import type { SqliteValue } from '../results/value';
import { MigrationError, type Assembled } from './assemble';

/** What of a collection is written: acknowledged by the server, in the source's order, nothing left out in between. */
export interface Written {
  readonly documents: number;
  readonly bytes: number;
  readonly largestDocument: number;
  /** Source rows in these documents, by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Scan position of the last document's root row; null before the first. */
  readonly position: readonly SqliteValue[] | null;
}

export const nothingWritten: Written = { documents: 0, bytes: 0, largestDocument: 0, rows: {}, position: null };

export interface WriteOptions {
  readonly signal: AbortSignal;
  /** Called after every acknowledged batch, before the next one is sent. */
  onWritten?(written: Written): Promise<void>;
}

// A batch is flushed at either bound: few round trips, and never near the wire's 48 MB message limit.
export const BATCH_DOCUMENTS = 1000;
const BATCH_BYTES = 8 * 1024 * 1024;
const MAX_BSON = 16 * 1024 * 1024;

/**
 * Inserts documents in batches, one batch under way while the next is assembled. Batches are ordered and follow each
 * other, so that whatever happens the collection holds a beginning of the sequence, and `onWritten` at most two batches less.
 */
export async function writeDocuments(target: Collection, documents: Iterable<Assembled>, used: ReadonlyMap<string, number>, start: Written, { signal, onWritten }: WriteOptions): Promise<Written> {
  let written = start;
  let batch: Document[] = [];
  let batchBytes = 0;
  let underWay: Promise<unknown> = Promise.resolve();
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    await underWay;
    signal.throwIfAborted();
    const upTo = { ...written, rows: Object.fromEntries(used) };
    underWay = target.insertMany(batch, { ordered: true }).then(() => onWritten?.(upTo));
    // A failure is met at the next flush, or at the end; until then it is nobody's unhandled rejection.
    underWay.catch(() => undefined);
    [batch, batchBytes] = [[], 0];
  };
  for (const { document, position } of documents) {
    const size = BSON.calculateObjectSize(document);
    if (size > MAX_BSON) throw new MigrationError(`the document ${String(document._id)} of ${target.collectionName} would be ${size} bytes; MongoDB takes 16 MB`);
    if (batchBytes + size > BATCH_BYTES) await flush();
    batch.push(document);
    batchBytes += size;
    written = { ...written, documents: written.documents + 1, bytes: written.bytes + size, largestDocument: Math.max(written.largestDocument, size), position };
    if (batch.length >= BATCH_DOCUMENTS) await flush();
  }
  await flush();
  await underWay;
  return { ...written, rows: Object.fromEntries(used) };
}

export async function createIndexes(db: Db, indexes: Readonly<Record<string, readonly Pick<Index, 'key' | 'unique'>[]>>): Promise<void> {
  for (const [collection, list] of Object.entries(indexes)) {
    for (const { key, unique } of list) await db.collection(collection).createIndex(key, unique ? { unique: true } : {});
  }
}
