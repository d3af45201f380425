import net from 'node:net';
import { workerCommands } from '../commands/table';
import { Doc } from '../bson/doc';
import { encode } from '../bson/encode';
import { ServerError, unsupported } from '../errors';
import { describedPipeline, localCommands, MAX_BSON, refusedCommands } from './local-commands';
import { CacheShares } from '../storage/cache';
import { IndexUse } from '../storage/index-use';
import { Store } from '../storage/store';
import { Binary, DateTime, Double, isNumeric, toDouble, type Value } from '../bson/value';
import { MessageSplitter, parseMessage, replyHeader, type Message } from './message';
import { ScramConversation, type Credential } from './scram';
import type { Connection, Operation, ServerState } from './server-state';
import { Usage } from './usage';
import { QueryThread, type Loss } from './workers';

export interface ServerOptions {
  readonly file: string;
  readonly port: number;
  readonly credential: Credential;
  readonly readers?: number;
  readonly cacheBytes?: number;
}

export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

const ok = new Double(1);
const answer = (fields: Record<string, Value>): Buffer => encode(Doc.of({ ...fields, ok }));
const errorAnswer = (error: ServerError): Buffer =>
  encode(
    Doc.of({
      ok: new Double(0),
      errmsg: error.message,
      code: error.code,
      codeName: error.codeName,
    }),
  );

/**
 * Listens on the loopback interface and never waits for a query: all that touches data runs on
 * other threads.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const lost = (why: Loss): Buffer => errorAnswer(losses[why]);
  const cacheBytes = options.cacheBytes ?? 512 * 1024 * 1024;
  // The tables must be there before readers open the file.
  new Store(options.file, true).close();
  const indexUse = IndexUse.allocate();
  const readers = options.readers ?? 2;
  const cacheShares = CacheShares.allocate(readers);
  const threads = Array.from(
    { length: 1 + readers },
    (_, index) =>
      new QueryThread(
        {
          file: options.file,
          index,
          writer: index === 0,
          cacheBytes: index === 0 ? 0 : cacheBytes,
          cacheShares,
          indexUse,
        },
        lost,
      ),
  );
  await Promise.all(threads.map((t) => t.started));
  const server = new Server(threads, options.credential);
  const listener = net.createServer((socket) => server.accept(socket));
  await new Promise<void>((resolve, reject) => {
    listener.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE' ? new Error(`port ${options.port} is already in use`) : error,
      );
    });
    listener.listen({ port: options.port, host: '127.0.0.1' }, resolve);
  }).catch(async (error: unknown) => {
    await Promise.all(threads.map((t) => t.close()));
    throw error;
  });
  server.port = (listener.address() as net.AddressInfo).port;
  return {
    port: server.port,
    close: async () => {
      listener.close();
      server.disconnectAll();
      await Promise.all(threads.map((t) => t.close()));
    },
  };
}

const losses: Readonly<Record<Loss, ServerError>> = {
  time: new ServerError(50, 'operation exceeded time limit'),
  interrupted: new ServerError(11601, 'operation was interrupted'),
  regex: new ServerError(
    51156,
    'Error occurred while executing the regular expression: match limit exceeded',
  ),
  memory: new ServerError(146, 'the query used too much memory of the embedded server'),
};

export class Server implements ServerState {
  private readonly connections = new Set<Connection>();
  private connectionCount = 0;
  private operationCount = 0;
  /** What threads are working on, by the number that `killOp` takes. */
  readonly running = new Map<number, Operation>();
  readonly usage = new Usage();
  private readonly started = Date.now();

  constructor(
    private readonly threads: readonly QueryThread[],
    private readonly credential: Credential,
  ) {}

  accept(socket: net.Socket): void {
    socket.setNoDelay(true);
    const connection: Connection = {
      id: ++this.connectionCount,
      socket,
      authenticated: false,
      conversation: null,
      running: new Set(),
    };
    this.connections.add(connection);
    const splitter = new MessageSplitter((bytes) => this.receive(connection, bytes));
    socket.on('data', (chunk: Buffer) => {
      try {
        splitter.push(chunk);
      } catch (error) {
        // What cannot be read as a message has no request to answer.
        if (!(error instanceof ServerError)) console.error('embedded server:', error);
        socket.destroy();
      }
    });
    const gone = (): void => {
      this.connections.delete(connection);
      for (const handle of connection.running) handle.kill();
    };
    socket.on('close', gone);
    // A reset is how clients leave; 'close' follows.
    socket.on('error', () => socket.destroy());
  }

  disconnectAll(): void {
    for (const { socket } of this.connections) socket.destroy();
  }

  private receive(connection: Connection, bytes: Buffer): void {
    const message = parseMessage(bytes, true);
    this.traffic.bytesIn += bytes.length;
    this.traffic.requests++;
    const name = message.command.keys[0] ?? '';
    let reply: Buffer | Promise<Buffer>;
    try {
      reply = this.answer(connection, message, name.toLowerCase(), name, bytes);
    } catch (error) {
      if (!(error instanceof ServerError)) console.error('embedded server:', error);
      reply = errorAnswer(
        error instanceof ServerError
          ? error
          : new ServerError(1, `internal error of the embedded server: ${String(error)}`),
      );
    }
    const send = (body: Buffer): void => {
      if (message.silent || connection.socket.destroyed) return;
      this.traffic.bytesOut += body.length;
      connection.socket.cork();
      connection.socket.write(replyHeader(message, body.length));
      connection.socket.write(body);
      connection.socket.uncork();
    };
    if (Buffer.isBuffer(reply)) send(reply);
    else void reply.then(send);
  }

  private answer(
    connection: Connection,
    message: Message,
    lower: string,
    name: string,
    bytes: Buffer,
  ): Buffer | Promise<Buffer> {
    const open = Object.hasOwn(openCommands, lower) ? openCommands[lower] : undefined;
    if (open) return open(this, connection, message.command);
    if (!connection.authenticated)
      throw new ServerError(13, `Command ${name} requires authentication`);
    if (
      message.command.get('startTransaction') === true ||
      message.command.get('autocommit') === false
    ) {
      throw new ServerError(
        20,
        'Transaction numbers are only allowed on a replica set member or mongos',
      );
    }
    const local = Object.hasOwn(localCommands, lower) ? localCommands[lower] : undefined;
    if (local) return answer(local(connection, message.command, this));
    const described =
      lower === 'aggregate' ? describedPipeline(connection, message.command, this) : null;
    if (described)
      return this.dispatch(connection, lower, name, described.command, described.bytes, message);
    return this.dispatch(connection, lower, name, message.command, bytes, message);
  }

  private dispatch(
    connection: Connection,
    lower: string,
    name: string,
    command: Doc,
    bytes: Buffer,
    message: Message,
  ): Promise<Buffer> {
    const thread = this.threadFor(lower, command);
    if (!thread)
      throw Object.hasOwn(refusedCommands, lower)
        ? unsupported(`command '${name}'`, 115)
        : unsupported(`no such command: '${name}'; it`, 59);
    const limit = command.get('maxTimeMS');
    // The message moves to the thread: what is to be shown of it is read before.
    const namespace = namespaceOf(command);
    const shown = excerpt(message.command);
    const handle = thread.run(bytes.buffer as ArrayBuffer, isNumeric(limit) ? toDouble(limit) : 0);
    const id = ++this.operationCount;
    connection.running.add(handle);
    this.running.set(id, {
      id,
      connection,
      command: shown,
      namespace,
      started: performance.now(),
      handle,
    });
    return handle.reply.finally(() => {
      connection.running.delete(handle);
      this.usage.count(lower, namespace, performance.now() - (this.running.get(id)?.started ?? 0));
      this.running.delete(id);
    });
  }

  private threadFor(lower: string, command: Doc): QueryThread | undefined {
    if (lower === 'getmore') return this.threadOfCursor(command.values[0]);
    if (lower === 'killcursors') {
      const ids = command.get('cursors');
      return this.threadOfCursor(Array.isArray(ids) ? ids[0] : undefined);
    }
    const known = Object.hasOwn(workerCommands, lower) ? workerCommands[lower] : undefined;
    if (!known) return undefined;
    if (known.writes || (lower === 'aggregate' && writesResult(command))) return this.threads[0];
    return this.readerFor(`${String(command.get('$db'))}.${String(command.values[0])}`);
  }
  private threadOfCursor(id: Value): QueryThread | undefined {
    return this.threads[typeof id === 'bigint' ? Number(id & 15n) : 1] ?? this.threads[1];
  }

  /**
   * The same reader for the same collection, because it has the documents in memory; another one
   * when it is busy.
   */
  private readerFor(namespace: string): QueryThread | undefined {
    const readers = this.threads.slice(1);
    let hash = 0;
    for (let i = 0; i < namespace.length; i++)
      hash = (Math.imul(hash, 31) + namespace.charCodeAt(i)) | 0;
    const preferred = readers[Math.abs(hash) % readers.length];
    if (!preferred || preferred.load === 0) return preferred;
    return readers.find((r) => r.load === 0) ?? [...readers].sort((a, b) => a.load - b.load)[0];
  }

  hello(connection: Connection, command: Doc): Buffer {
    const fields: Record<string, Value> = {
      helloOk: true,
      ismaster: true,
      isWritablePrimary: true,
      maxBsonObjectSize: MAX_BSON,
      maxMessageSizeBytes: 48_000_000,
      maxWriteBatchSize: 100_000,
      localTime: new DateTime(Date.now()),
      logicalSessionTimeoutMinutes: 30,
      connectionId: connection.id,
      minWireVersion: 0,
      maxWireVersion: 25,
      readOnly: false,
    };
    if (command.has('saslSupportedMechs')) fields.saslSupportedMechs = ['SCRAM-SHA-256'];
    const speculative = command.get('speculativeAuthenticate');
    if (speculative instanceof Doc) {
      try {
        fields.speculativeAuthenticate = Doc.of(this.saslStart(connection, speculative));
      } catch (error) {
        // The driver then authenticates in the ordinary way and gets the error there.
        if (!(error instanceof ServerError)) throw error;
      }
    }
    return answer(fields);
  }

  saslStart(connection: Connection, command: Doc): Record<string, Value> {
    const mechanism = command.get('mechanism');
    if (mechanism !== 'SCRAM-SHA-256')
      throw new ServerError(
        334,
        `Received authentication for mechanism ${String(mechanism)} which is unknown or ` +
          'not enabled',
      );
    connection.conversation = new ScramConversation(this.credential);
    return {
      conversationId: 1,
      done: false,
      payload: toPayload(connection.conversation.start(fromPayload(command.get('payload')))),
    };
  }
  saslContinue(connection: Connection, command: Doc): Record<string, Value> {
    const { conversation } = connection;
    if (!conversation) throw new ServerError(17, 'No SASL session state found');
    if (conversation.done) {
      connection.conversation = null;
      return { conversationId: 1, done: true, payload: toPayload('') };
    }
    const payload = conversation.finish(fromPayload(command.get('payload')));
    connection.authenticated = true;
    return { conversationId: 1, done: true, payload: toPayload(payload) };
  }
  readonly traffic = { bytesIn: 0, bytesOut: 0, requests: 0 };
  port = 0;
  get uptime(): number {
    return (Date.now() - this.started) / 1000;
  }
  get user(): string {
    return this.credential.user;
  }
  get connectionTotal(): number {
    return this.connections.size;
  }
}

const SHOWN_BYTES = 4096;
/**
 * A command for `currentOp`: a copy, because its bytes move to the thread; only what it begins with
 * when it is long.
 */
export function excerpt(command: Doc): Doc {
  const raw = command.raw();
  if (raw && raw.end - raw.start <= SHOWN_BYTES)
    return Doc.fromRaw(Buffer.from(raw.bytes.subarray(raw.start, raw.end)));
  return Doc.fromRaw(
    encode(Doc.of({ ...beginning(command), $db: command.get('$db'), $truncated: true })),
  );
}
/** The name and what it is about; of a command in a command (`explain`), the same of that. */
function beginning(command: Doc): Record<string, Value> {
  if (command.size === 0) return {};
  const first = command.values[0];
  let shown: Value = null;
  if (first instanceof Doc) shown = Doc.of(first.values[0] instanceof Doc ? {} : beginning(first));
  else if (typeof first === 'string') shown = first.slice(0, 255);
  else if (isNumeric(first)) shown = first;
  return { [command.keys[0] as string]: shown };
}

/** `database.collection` of a command, as far as it names one. */
function namespaceOf(command: Doc): string {
  const named = command.values[0];
  const collection = typeof named === 'string' ? named : command.get('collection');
  return `${String(command.get('$db'))}.${typeof collection === 'string' ? collection : '$cmd'}`;
}

const toPayload = (text: string): Value => new Binary(0, Buffer.from(text, 'utf8'));
function fromPayload(v: Value): string {
  if (!(v instanceof Binary)) throw new ServerError(18, 'Authentication failed.');
  return Buffer.from(v.bytes).toString('utf8');
}

function writesResult(command: Doc): boolean {
  const pipeline = command.get('pipeline');
  const last = Array.isArray(pipeline) ? pipeline[pipeline.length - 1] : undefined;
  return last instanceof Doc && (last.has('$out') || last.has('$merge'));
}

type OpenCommand = (server: Server, connection: Connection, command: Doc) => Buffer;
/** Commands allowed before authentication. */
const openCommands: Readonly<Record<string, OpenCommand>> = {
  hello: (server, connection, command) => server.hello(connection, command),
  ismaster: (server, connection, command) => server.hello(connection, command),
  ping: () => answer({}),
  saslstart: (server, connection, command) => answer(server.saslStart(connection, command)),
  saslcontinue: (server, connection, command) => answer(server.saslContinue(connection, command)),
};
