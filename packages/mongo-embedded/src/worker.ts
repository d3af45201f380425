import { parentPort, workerData } from 'node:worker_threads';
import { Doc } from './bson/doc';
import { Engine, numberField, reply, type Request } from './commands/engine';
import { EXPIRY_INTERVAL_MS, removeExpired } from './commands/expire';
import { workerCommands } from './commands/table';
import { ServerError } from './errors';
import { checkHeap, tidy } from './memory';
import { watchRegexes } from './values/regex';
import { CacheShares } from './storage/cache';
import { IndexUse } from './storage/index-use';
import { Store } from './storage/store';
import { encode } from './bson/encode';
import { Double, typeName, type Value } from './bson/value';
import { parseMessage } from './wire/message';
import type { FromWorker, ToWorker, WorkerSettings } from './wire/worker-protocol';

/**
 * A thread that runs commands one after another. The wire thread talks to it and can interrupt or
 * end it.
 */

const port = parentPort;
if (!port) throw new Error('worker.ts runs as a worker thread');
const settings = workerData as WorkerSettings;
const store = new Store(
  settings.file,
  settings.writer,
  settings.cacheBytes,
  new IndexUse(settings.indexUse),
  settings.writer ? undefined : new CacheShares(settings.cacheShares, settings.index - 1),
);
const engine = new Engine(store, settings.index);
const killSwitch = new Int32Array(settings.killSwitch);
watchRegexes(killSwitch.subarray(1));

/** The error reply of MongoDB's form. */
export function errorReply(error: unknown): Buffer {
  const known = error instanceof ServerError ? error : internal(error);
  return encode(
    Doc.of({
      ok: new Double(0),
      errmsg: known.message,
      code: known.code,
      codeName: known.codeName,
      ...(known.extra as Record<string, Value>),
    }),
  );
}
function internal(error: unknown): ServerError {
  if (error instanceof RangeError && /call stack/i.test(error.message))
    return new ServerError(15, 'the query or a document is nested too deeply');
  // What one of the operators' own checks let through.
  if (error instanceof RangeError && /string length/i.test(error.message))
    return new ServerError(13548, 'BufBuilder attempted to grow() past the 64MB limit.');
  if (error instanceof RangeError && /array|allocation/i.test(error.message))
    return new ServerError(146, 'the query used too much memory of the embedded server');
  return new ServerError(
    1,
    'internal error of the embedded server: ' +
      `${error instanceof Error ? error.message : String(error)}`,
  );
}

function checkpointFor(operation: number, maxTimeMS: number): () => void {
  const deadline = maxTimeMS > 0 ? performance.now() + maxTimeMS : Infinity;
  return () => {
    checkHeap();
    if (!settings.writer) store.reading.renew();
    if (Atomics.load(killSwitch, 0) === operation)
      throw new ServerError(11601, 'operation was interrupted');
    if (deadline !== Infinity && performance.now() > deadline)
      throw new ServerError(50, 'operation exceeded time limit');
  };
}

function run(message: ToWorker): Buffer {
  const { command, sequences } = parseMessage(Buffer.from(message.bytes));
  const name = command.keys[0] as string;
  const database = command.get('$db');
  if (typeof database !== 'string')
    throw new ServerError(
      40414,
      `BSON field '$db' is missing but a required field (${typeName(database)})`,
    );
  const checkpoint = checkpointFor(message.operation, numberField(command, 'maxTimeMS') ?? 0);
  const lower = name.toLowerCase();
  if (lower === 'getmore')
    return engine.getMore(
      command.get(name) as bigint,
      numberField(command, 'batchSize') || undefined,
      checkpoint,
    );
  if (lower === 'killcursors') {
    const ids = command.get('cursors');
    const killed: Value[] = [];
    const unknown: Value[] = [];
    for (const id of Array.isArray(ids) ? ids : [])
      (typeof id === 'bigint' && engine.killCursor(id) ? killed : unknown).push(id);
    return reply({
      cursorsKilled: killed,
      cursorsNotFound: unknown,
      cursorsAlive: [],
      cursorsUnknown: [],
    });
  }
  const known = workerCommands[lower];
  if (!known) throw new ServerError(59, `no such command: '${name}'`);
  const request: Request = { database, name, command, sequences, checkpoint };
  return known.run(engine, request);
}

// Between two commands, so that nothing changes under one.
if (settings.writer) {
  setInterval(() => {
    try {
      removeExpired(store, Date.now());
    } catch (error) {
      console.error('embedded server: expired documents could not be removed:', error);
    }
  }, EXPIRY_INTERVAL_MS).unref();
}

port.on('message', (message: ToWorker) => {
  store.cache.fit();
  let bytes: Buffer;
  try {
    bytes = settings.writer ? run(message) : store.reading.within(() => run(message));
  } catch (error) {
    bytes = errorReply(error);
  }
  const own = new Uint8Array(bytes);
  port.postMessage({ operation: message.operation, bytes: own.buffer } satisfies FromWorker, [
    own.buffer,
  ]);
  tidy();
});
port.postMessage({ operation: 0, bytes: new ArrayBuffer(0) } satisfies FromWorker);
