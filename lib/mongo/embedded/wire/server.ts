import net from 'node:net';
import os from 'node:os';
import { workerCommands } from '../commands/table';
import { Doc } from '../bson/doc';
import { encode } from '../bson/encode';
import { ServerError, unsupported } from '../errors';
import { Store } from '../storage/store';
import { Binary, DateTime, Double, isNumeric, toDouble, type Value } from '../values/value';
import { MessageSplitter, parseMessage, replyHeader, type Message } from './message';
import { ScramConversation, type Credential } from './scram';
import { QueryThread, type Handle, type Loss } from './workers';

export const SERVER_VERSION = '8.0.0';
const MAX_BSON = 16 * 1024 * 1024;

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
  encode(Doc.of({ ok: new Double(0), errmsg: error.message, code: error.code, codeName: error.codeName }));

/** Listens on the loopback interface and never waits for a query: all that touches data runs on other threads. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const lost = (why: Loss): Buffer => errorAnswer(losses[why]);
  const cacheBytes = options.cacheBytes ?? 512 * 1024 * 1024;
  // The tables must be there before readers open the file.
  new Store(options.file, true).close();
  const threads = Array.from(
    { length: 1 + (options.readers ?? 2) },
    (_, index) => new QueryThread({ file: options.file, index, writer: index === 0, cacheBytes: index === 0 ? 0 : cacheBytes }, lost),
  );
  await Promise.all(threads.map((t) => t.started));
  const server = new Server(threads, options.credential);
  const listener = net.createServer((socket) => server.accept(socket));
  await new Promise<void>((resolve, reject) => {
    listener.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new Error(`port ${options.port} is already in use`) : error);
    });
    listener.listen({ port: options.port, host: '127.0.0.1' }, resolve);
  }).catch(async (error: unknown) => {
    await Promise.all(threads.map((t) => t.close()));
    throw error;
  });
  return {
    port: (listener.address() as net.AddressInfo).port,
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
  regex: new ServerError(51156, 'Error occurred while executing the regular expression: match limit exceeded'),
  memory: new ServerError(146, 'the query used too much memory of the embedded server'),
};

interface Connection {
  readonly id: number;
  readonly socket: net.Socket;
  authenticated: boolean;
  conversation: ScramConversation | null;
  readonly running: Set<Handle>;
}

class Server {
  private readonly connections = new Set<Connection>();
  private connectionCount = 0;
  private readonly started = Date.now();

  constructor(
    private readonly threads: readonly QueryThread[],
    private readonly credential: Credential,
  ) {}

  accept(socket: net.Socket): void {
    socket.setNoDelay(true);
    const connection: Connection = { id: ++this.connectionCount, socket, authenticated: false, conversation: null, running: new Set() };
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
    const name = message.command.keys[0] ?? '';
    let reply: Buffer | Promise<Buffer>;
    try {
      reply = this.answer(connection, message, name.toLowerCase(), name, bytes);
    } catch (error) {
      if (!(error instanceof ServerError)) console.error('embedded server:', error);
      reply = errorAnswer(error instanceof ServerError ? error : new ServerError(1, `internal error of the embedded server: ${String(error)}`));
    }
    const send = (body: Buffer): void => {
      if (message.silent || connection.socket.destroyed) return;
      connection.socket.cork();
      connection.socket.write(replyHeader(message, body.length));
      connection.socket.write(body);
      connection.socket.uncork();
    };
    if (Buffer.isBuffer(reply)) send(reply);
    else void reply.then(send);
  }

  private answer(connection: Connection, message: Message, lower: string, name: string, bytes: Buffer): Buffer | Promise<Buffer> {
    const open = Object.hasOwn(openCommands, lower) ? openCommands[lower] : undefined;
    if (open) return open(this, connection, message.command);
    if (!connection.authenticated) throw new ServerError(13, `Command ${name} requires authentication`);
    if (message.command.get('startTransaction') === true || message.command.get('autocommit') === false) {
      throw new ServerError(20, 'Transaction numbers are only allowed on a replica set member or mongos');
    }
    const local = Object.hasOwn(localCommands, lower) ? localCommands[lower] : undefined;
    if (local) return answer(local(connection, message.command, this));
    const thread = this.threadFor(lower, message.command);
    if (!thread) throw Object.hasOwn(refusedCommands, lower) ? unsupported(`command '${name}'`, 115) : unsupported(`no such command: '${name}'; it`, 59);
    const limit = message.command.get('maxTimeMS');
    const handle = thread.run(bytes.buffer as ArrayBuffer, isNumeric(limit) ? toDouble(limit) : 0);
    connection.running.add(handle);
    return handle.reply.finally(() => connection.running.delete(handle));
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

  /** The same reader for the same collection, because it has the documents in memory; another one when it is busy. */
  private readerFor(namespace: string): QueryThread | undefined {
    const readers = this.threads.slice(1);
    let hash = 0;
    for (let i = 0; i < namespace.length; i++) hash = (Math.imul(hash, 31) + namespace.charCodeAt(i)) | 0;
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
    if (mechanism !== 'SCRAM-SHA-256') throw new ServerError(334, `Received authentication for mechanism ${String(mechanism)} which is unknown or not enabled`);
    connection.conversation = new ScramConversation(this.credential);
    return { conversationId: 1, done: false, payload: toPayload(connection.conversation.start(fromPayload(command.get('payload')))) };
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
/** What may be asked before authentication. */
const openCommands: Readonly<Record<string, OpenCommand>> = {
  hello: (server, connection, command) => server.hello(connection, command),
  ismaster: (server, connection, command) => server.hello(connection, command),
  ping: () => answer({}),
  saslstart: (server, connection, command) => answer(server.saslStart(connection, command)),
  saslcontinue: (server, connection, command) => answer(server.saslContinue(connection, command)),
};

type LocalCommand = (connection: Connection, command: Doc, server: Server) => Record<string, Value>;
/** What the wire thread knows by itself. */
const localCommands: Readonly<Record<string, LocalCommand>> = {
  buildinfo: () => ({
    version: SERVER_VERSION,
    gitVersion: 'embedded',
    modules: [],
    allocator: 'system',
    javascriptEngine: 'none',
    sysInfo: 'deprecated',
    versionArray: [8, 0, 0, 0],
    openssl: Doc.empty(),
    buildEnvironment: Doc.empty(),
    bits: 64,
    debug: false,
    maxBsonObjectSize: MAX_BSON,
    storageEngines: ['sqlite'],
    aptmqlEmbedded: true,
  }),
  connectionstatus: (_c, _command, server) => ({
    authInfo: Doc.of({
      authenticatedUsers: [Doc.of({ user: server.user, db: 'admin' })],
      authenticatedUserRoles: [Doc.of({ role: 'root', db: 'admin' })],
      authenticatedUserPrivileges: [],
    }),
  }),
  endsessions: () => ({}),
  startsession: () => ({}),
  refreshsessions: () => ({}),
  killsessions: () => ({}),
  logout: (connection) => {
    connection.authenticated = false;
    return {};
  },
  whatsmyuri: (connection) => ({ you: `${connection.socket.remoteAddress ?? ''}:${connection.socket.remotePort ?? 0}` }),
  getparameter: (_c, command) =>
    command.has('featureCompatibilityVersion') ? { featureCompatibilityVersion: Doc.of({ version: '8.0' }) } : {},
  getcmdlineopts: () => ({ argv: ['embedded'], parsed: Doc.empty() }),
  getlog: () => ({ totalLinesWritten: 0, log: [] }),
  getfreemonitoringstatus: () => ({ state: 'disabled' }),
  hostinfo: () => ({
    system: Doc.of({ currentTime: new DateTime(Date.now()), hostname: os.hostname(), cpuAddrSize: 64, numCores: os.cpus().length, memSizeMB: Math.floor(os.totalmem() / 1048576) }),
    os: Doc.of({ type: os.type(), name: os.type(), version: os.release() }),
    extra: Doc.empty(),
  }),
  serverstatus: (_c, _command, server) => ({
    host: os.hostname(),
    version: SERVER_VERSION,
    process: 'embedded',
    pid: BigInt(process.pid),
    uptime: new Double(Math.round(server.uptime)),
    localTime: new DateTime(Date.now()),
    connections: Doc.of({ current: server.connectionTotal, available: 1000 }),
    mem: Doc.of({ bits: 64, resident: Math.round(process.memoryUsage.rss() / 1048576) }),
  }),
};

/** Known to MongoDB, left out here on purpose. */
const refusedCommands: Readonly<Record<string, true>> = {
  mapreduce: true,
  replsetgetstatus: true,
  createuser: true,
  dropuser: true,
  usersinfo: true,
  createrole: true,
  collmod: true,
  compact: true,
  currentop: true,
  killop: true,
  shutdown: true,
  setparameter: true,
  profile: true,
  top: true,
  committransaction: true,
  aborttransaction: true,
};
