import {
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb';
import { Unavailable } from '../results/unavailable';

/**
 * Codes with which a server says that it, or a member of its cluster, cannot answer now: from
 * MongoDB's error_codes.yml, those of the categories network error, shutdown, not primary and
 * interruption, a cursor lost with its server (43), and a full disk (14031).
 */
const OUTAGE_CODES = new Set([
  6, 7, 43, 89, 91, 189, 262, 317, 358, 384, 9001, 10058, 10107, 11600, 11602, 13388, 13435, 13436,
  14031, 16964,
]);

/** The driver's errors of a connection that is not there, where their class does not tell. */
const OUTAGE_NAMES = new Set([
  'MongoPoolClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoServerClosedError',
  'MongoClientClosedError',
  'MongoOperationTimeoutError',
  'MongoStalePrimaryError',
]);

/** An outage of MongoDB as `Unavailable`; any other error as it is. */
export function asOutage(error: unknown): unknown {
  const wrapped =
    error instanceof MongoBulkWriteError ? (error.errorResponse as unknown) : undefined;
  // A failure of the connection while many documents are written looks like an answer of the
  // server.
  if (wrapped instanceof MongoError) {
    const outage = asOutage(wrapped);
    return outage === wrapped ? error : outage;
  }
  if (!(error instanceof MongoError) || !isMongoOutage(error)) return error;
  const isDiskFull = Number(error.code) === 14031;
  const resource = isDiskFull ? 'disk' : 'MongoDB';
  return new Unavailable(resource, `MongoDB is not available: ${error.message}`, { cause: error });
}

function isMongoOutage(error: MongoError): boolean {
  // Replies may keep their BSON types, error codes included.
  if (error instanceof MongoServerError) return OUTAGE_CODES.has(Number(error.code));
  // Not by their names: that of a connection which was cut because its server is silent has no
  // prefix.
  if (error instanceof MongoNetworkError || error instanceof MongoServerSelectionError) return true;
  return OUTAGE_NAMES.has(error.name);
}
