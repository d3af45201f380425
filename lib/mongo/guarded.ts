import { BSON, MongoServerError, type Db, type Document } from 'mongodb';
import { findForbidden, isSystemCollection } from '../mql/allow-list';
import { Unavailable } from '../results/unavailable';
import { asOutage } from './outage';

export interface GuardLimits {
  readonly maxTimeMS: number;
  readonly maxRows: number;
  /** Of all returned documents together, as BSON. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export type GuardedErrorKind = 'forbidden' | 'timeout' | 'too_many_rows' | 'error';

/**
 * Why a guarded pipeline gave no result. `detail` is the server's error code, or the forbidden
 * operator.
 */
export class GuardedError extends Error {
  constructor(
    readonly kind: GuardedErrorKind,
    message: string,
    readonly detail?: string | number,
  ) {
    super(message);
    this.name = 'GuardedError';
  }
}

const TIME_CODES = new Set([50, 11601]);

/**
 * Runs an untrusted pipeline: only allowed stages and operators at any depth, reading only this
 * database, within limits. Documents keep their BSON types (`Int32`, `Double`, `Long`, …).
 *
 * @throws GuardedError `forbidden` (nothing was sent), `timeout`, `too_many_rows` (rows or bytes),
 *   `error`
 * @throws Unavailable when MongoDB is away; the reason of `signal` when it was aborted
 */
export async function runGuarded(
  db: Db,
  collection: string,
  pipeline: unknown,
  limits: GuardLimits,
): Promise<Document[]> {
  const refusal = findForbidden(pipeline);
  if (refusal)
    throw new GuardedError(
      'forbidden',
      `${refusal.message} (at ${refusal.at || 'the top'})`,
      refusal.name,
    );
  if (isSystemCollection(collection))
    throw new GuardedError('forbidden', `the collection ${collection} may not be read`, collection);
  const stages = pipeline as Document[];
  const options = {
    maxTimeMS: limits.maxTimeMS,
    promoteValues: false,
    promoteLongs: false,
    promoteBuffers: false,
    bsonRegExp: true,
    enableUtf8Validation: false,
    allowDiskUse: false,
    batchSize: Math.min(1000, limits.maxRows + 1),
    ...(limits.signal ? { signal: limits.signal } : {}),
  };
  const generates = stages[0] !== undefined && '$documents' in stages[0];
  const cursor = generates
    ? db.aggregate(stages, options)
    : db.collection(collection).aggregate(stages, options);
  // maxTimeMS limits the server's work of each batch; this one limits the whole.
  let overTime = false;
  const timer = setTimeout(() => {
    overTime = true;
    void cursor.close().catch(() => undefined);
  }, limits.maxTimeMS + 500);
  const documents: Document[] = [];
  let bytes = 0;
  try {
    for await (const document of cursor) {
      documents.push(document);
      if (documents.length > limits.maxRows)
        throw new GuardedError(
          'too_many_rows',
          `the pipeline returns more than ${limits.maxRows} documents`,
        );
      bytes += BSON.calculateObjectSize(document);
      if (bytes > limits.maxBytes)
        throw new GuardedError(
          'too_many_rows',
          `the pipeline returns more than ${limits.maxBytes} bytes`,
        );
    }
  } catch (error) {
    if (overTime)
      throw new GuardedError('timeout', `the pipeline took longer than ${limits.maxTimeMS} ms`);
    limits.signal?.throwIfAborted();
    throw guardedError(error, limits);
  } finally {
    clearTimeout(timer);
    // Closing fails when the connection is gone, and then there is nothing to close.
    await cursor.close().catch(() => undefined);
  }
  if (overTime)
    throw new GuardedError('timeout', `the pipeline took longer than ${limits.maxTimeMS} ms`);
  return documents;
}

function guardedError(error: unknown, limits: GuardLimits): GuardedError | Unavailable {
  if (error instanceof GuardedError) return error;
  const outage = asOutage(error);
  if (outage instanceof Unavailable) return outage;
  if (error instanceof MongoServerError) {
    // Replies keep their BSON types too, error codes included.
    const code = Number(error.code);
    if (TIME_CODES.has(code))
      return new GuardedError(
        'timeout',
        `the pipeline took longer than ${limits.maxTimeMS} ms`,
        code,
      );
    return new GuardedError('error', error.message, code);
  }
  return new GuardedError('error', error instanceof Error ? error.message : String(error));
}
