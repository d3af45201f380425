import { setImmediate } from 'node:timers/promises';
import { BSON, type Collection, type Db, type Document } from 'mongodb';
import type { Index } from '../design/model/document-design';
import type { SqliteValue } from '../results/value';
import { MigrationError, type Assembled } from './assemble';

/**
 * What of a collection is written: acknowledged by the server, in the source's order, nothing left
 * out in between.
 */
export interface Written {
  readonly documents: number;
  readonly bytes: number;
  readonly largestDocument: number;
  /** Source rows in these documents, by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Scan position of the last document's root row; null before the first. */
  readonly position: readonly SqliteValue[] | null;
}

export const nothingWritten: Written = {
  documents: 0,
  bytes: 0,
  largestDocument: 0,
  rows: {},
  position: null,
};

export interface WriteOptions {
  readonly signal: AbortSignal;
  /** Called after every few acknowledged batches, before the next one is sent. */
  onWritten?(written: Written): Promise<void>;
}

// A batch is flushed at either bound: few round trips, and with one document of 16 MB on top still
// far from the wire's 48 MB.
export const BATCH_DOCUMENTS = 1000;
/** Telling what is written is a write of its own, for which the next batch waits. */
const BATCHES_A_RECORD = 8;
/**
 * Documents that may lie behind what `onWritten` was told last: those batches, and one that is
 * under way.
 */
export const DOCUMENTS_BEYOND = (BATCHES_A_RECORD + 1) * BATCH_DOCUMENTS;
const BATCH_BYTES = 8 * 1024 * 1024;
const MAX_BSON = 16 * 1024 * 1024;

/**
 * Inserts documents in batches, one batch under way while the next is assembled. Batches are
 * ordered and follow each other, so that whatever happens the collection holds a beginning of the
 * sequence, and `onWritten` was told of all but `DOCUMENTS_BEYOND` of it.
 */
export async function writeDocuments(
  target: Collection,
  documents: Iterable<Assembled>,
  used: ReadonlyMap<string, number>,
  start: Written,
  { signal, onWritten }: WriteOptions,
): Promise<Written> {
  let { documents: count, bytes, largestDocument, position } = start;
  const written = (): Written => ({
    documents: count,
    bytes,
    largestDocument,
    position,
    rows: Object.fromEntries(used),
  });
  let batch: Document[] = [];
  let batchBytes = 0;
  let batches = 0;
  let underWay: Promise<unknown> = Promise.resolve();
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    await underWay;
    signal.throwIfAborted();
    const sent = target.insertMany(batch, { ordered: true });
    const upTo = ++batches % BATCHES_A_RECORD === 0 ? written() : undefined;
    underWay = upTo ? sent.then(() => onWritten?.(upTo)) : sent;
    // A failure is met at the next flush, or at the end; until then it is nobody's unhandled
    // rejection.
    underWay.catch(() => undefined);
    [batch, batchBytes] = [[], 0];
    // Assembling does not give way: without this the batch would be sent only when the next one is
    // assembled.
    await setImmediate();
  };
  for (const { document, position: at } of documents) {
    const size = BSON.calculateObjectSize(document);
    if (size > MAX_BSON)
      throw new MigrationError(
        `the document ${String(document._id)} of ${target.collectionName} would be ${size} ` +
          'bytes; MongoDB takes 16 MB',
      );
    batch.push(document);
    batchBytes += size;
    count++;
    bytes += size;
    largestDocument = Math.max(largestDocument, size);
    position = at;
    if (batch.length >= BATCH_DOCUMENTS || batchBytes >= BATCH_BYTES) await flush();
  }
  await flush();
  await underWay;
  const all = written();
  await onWritten?.(all);
  return all;
}

export async function createIndexes(
  db: Db,
  indexes: Readonly<Record<string, readonly Pick<Index, 'key' | 'unique'>[]>>,
): Promise<void> {
  for (const [collection, list] of Object.entries(indexes)) {
    for (const { key, unique } of list)
      await db.collection(collection).createIndex(key, unique ? { unique: true } : {});
  }
}
