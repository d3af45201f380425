import os from 'node:os';
import { workerCommands } from '../commands/table';
import { Doc } from '../bson/doc';
import { encode } from '../bson/encode';
import { ServerError, unsupported } from '../errors';
import { DateTime, Double, isNumeric, toDouble, typeName, type Value } from '../bson/value';
import { encodeMessage } from './message';
import type { Connection, Operation, ServerState } from './server-state';

/**
 * Commands that the wire thread answers by itself, because they are about the server and not about
 * data.
 */

export const SERVER_VERSION = '8.0.0';
export const MAX_BSON = 16 * 1024 * 1024;

export type LocalCommand = (
  connection: Connection,
  command: Doc,
  server: ServerState,
) => Record<string, Value>;

/** `$currentOp` of one operation. */
function describeOperation(
  { id, connection, command, namespace, started }: Operation,
  server: ServerState,
): Doc {
  const micros = Math.round((performance.now() - started) * 1000);
  return Doc.of({
    type: 'op',
    host: `${os.hostname()}:${server.port}`,
    desc: `conn${connection.id}`,
    connectionId: connection.id,
    client: `${connection.socket.remoteAddress ?? ''}:${connection.socket.remotePort ?? 0}`,
    active: true,
    currentOpTime: new Date().toISOString(),
    opid: id,
    secs_running: BigInt(Math.floor(micros / 1e6)),
    microsecs_running: BigInt(micros),
    op: kindOfOperation(command),
    ns: namespace,
    command: withoutCredentials(command),
    numYields: 0,
  });
}
function kindOfOperation(command: Doc): string {
  const name = command.keys[0];
  if (name === 'find') return 'query';
  return name === 'getMore' ? 'getmore' : 'command';
}
const withoutCredentials = (command: Doc): Doc =>
  command.copy().set('lsid', undefined).set('$clusterTime', undefined);
const operations = (server: ServerState): Doc[] =>
  [...server.running.values()].map((operation) => describeOperation(operation, server));

/** Stages that describe the server: their documents are put in their place. */
export const describingStages: Readonly<
  Record<string, (operand: Doc, connection: Connection, server: ServerState) => Doc[]>
> = {
  $currentOp: (_operand, _connection, server) => operations(server),
  $listLocalSessions: () => [],
};

/**
 * A pipeline that starts by describing the server, as one that starts with those documents; null
 * when it does not.
 */
export function describedPipeline(
  connection: Connection,
  command: Doc,
  server: ServerState,
): { command: Doc; bytes: Buffer } | null {
  const pipeline = command.get('pipeline');
  const first = Array.isArray(pipeline) ? pipeline[0] : undefined;
  const name = first instanceof Doc ? (first.keys[0] ?? '') : '';
  const describe = Object.hasOwn(describingStages, name) ? describingStages[name] : undefined;
  if (!describe) return null;
  const operand = (first as Doc).values[0];
  if (!(operand instanceof Doc))
    throw new ServerError(
      9,
      `${name} options must be specified in an object, but found: ${typeName(operand)}`,
    );
  if (name === '$currentOp' && command.get('$db') !== 'admin')
    throw new ServerError(
      73,
      "$currentOp must be run against the 'admin' database with {aggregate: 1}",
    );
  const documents = Doc.of({
    $documents: Doc.of({ $literal: describe(operand, connection, server) }),
  });
  const changed = command.copy().set('pipeline', [documents, ...(pipeline as Value[]).slice(1)]);
  return { command: changed, bytes: encodeMessage(encode(changed)) };
}

const everything = Doc.of({
  resource: Doc.of({ anyResource: true }),
  actions: [
    'find',
    'insert',
    'update',
    'remove',
    'listCollections',
    'listIndexes',
    'listDatabases',
    'createCollection',
    'createIndex',
    'dropCollection',
    'dropDatabase',
    'dropIndex',
    'collMod',
    'collStats',
    'dbStats',
    'indexStats',
    'validate',
    'killop',
    'inprog',
    'top',
    'serverStatus',
  ],
});
const rootRole = Doc.of({ role: 'root', db: 'admin' });

const parameters: Readonly<Record<string, Value>> = {
  featureCompatibilityVersion: Doc.of({ version: '8.0' }),
  authenticationMechanisms: ['SCRAM-SHA-256'],
  enableTestCommands: false,
  ttlMonitorEnabled: true,
  ttlMonitorSleepSecs: 60,
};
function getParameter(_connection: Connection, command: Doc): Record<string, Value> {
  const wanted = command.values[0];
  if (wanted === '*' || (wanted instanceof Doc && wanted.get('allParameters') === true))
    return { ...parameters };
  const found = Object.entries(parameters).filter(([name]) => command.has(name));
  if (found.length === 0) throw new ServerError(72, 'no option found to get');
  return Object.fromEntries(found);
}

function killOp(_connection: Connection, command: Doc, server: ServerState): Record<string, Value> {
  const op = command.get('op');
  if (!isNumeric(op))
    throw new ServerError(
      14,
      `Expected field "op" to be of type number, but found ${typeName(op)}`,
    );
  server.running.get(toDouble(op))?.handle.kill();
  // The server says the same whether there was such an operation or not.
  return { info: 'attempting to kill op' };
}

/** Users and roles: there is the one user of the credential. */
function usersInfo(
  _connection: Connection,
  command: Doc,
  server: ServerState,
): Record<string, Value> {
  const wanted = command.values[0];
  const names = (Array.isArray(wanted) ? wanted : [wanted]).map((w) =>
    w instanceof Doc ? w.get('user') : w,
  );
  const all = isNumeric(wanted) || (wanted instanceof Doc && wanted.has('forAllDBs'));
  const user = Doc.of({
    _id: `admin.${server.user}`,
    user: server.user,
    db: 'admin',
    roles: [rootRole],
    mechanisms: ['SCRAM-SHA-256'],
  });
  return { users: all || names.includes(server.user) ? [user] : [] };
}
function rolesInfo(_connection: Connection, command: Doc): Record<string, Value> {
  const wanted = command.values[0];
  const names = (Array.isArray(wanted) ? wanted : [wanted]).map((w) =>
    w instanceof Doc ? w.get('role') : w,
  );
  const shown = names.includes('root') || command.get('showBuiltinRoles') === true;
  return {
    roles: shown
      ? [
          Doc.of({
            _id: 'admin.root',
            role: 'root',
            db: 'admin',
            roles: [],
            inheritedRoles: [],
            isBuiltin: true,
          }),
        ]
      : [],
  };
}

const help = Doc.of({ help: '', requiresAuth: true, secondaryOk: false, adminOnly: false });

/** By lower-case name. */
export const localCommands: Readonly<Record<string, LocalCommand>> = {
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
    mongoEmbedded: true,
  }),
  connectionstatus: (_connection, command, server) => ({
    authInfo: Doc.of({
      authenticatedUsers: [Doc.of({ user: server.user, db: 'admin' })],
      authenticatedUserRoles: [rootRole],
      ...(command.get('showPrivileges') === true
        ? { authenticatedUserPrivileges: [everything] }
        : {}),
    }),
  }),
  endsessions: () => ({}),
  startsession: () => ({}),
  refreshsessions: () => ({}),
  killsessions: () => ({}),
  killallsessions: () => ({}),
  logout: (connection) => {
    connection.authenticated = false;
    return {};
  },
  whatsmyuri: (connection) => ({
    you: `${connection.socket.remoteAddress ?? ''}:${connection.socket.remotePort ?? 0}`,
  }),
  getparameter: getParameter,
  getcmdlineopts: () => ({ argv: ['embedded'], parsed: Doc.empty() }),
  getlog: (_connection, command) =>
    command.values[0] === '*'
      ? { names: ['global', 'startupWarnings'] }
      : { totalLinesWritten: 0, log: [] },
  getfreemonitoringstatus: () => ({ state: 'disabled' }),
  hostinfo: () => ({
    system: Doc.of({
      currentTime: new DateTime(Date.now()),
      hostname: os.hostname(),
      cpuAddrSize: 64,
      numCores: os.cpus().length,
      memSizeMB: Math.floor(os.totalmem() / 1048576),
      cpuArch: os.arch(),
    }),
    os: Doc.of({ type: os.type(), name: os.type(), version: os.release() }),
    extra: Doc.empty(),
  }),
  serverstatus: (_connection, _command, server) => ({
    host: os.hostname(),
    version: SERVER_VERSION,
    process: 'embedded',
    pid: BigInt(process.pid),
    uptime: new Double(Math.round(server.uptime)),
    uptimeMillis: BigInt(Math.round(server.uptime * 1000)),
    localTime: new DateTime(Date.now()),
    connections: Doc.of({
      current: server.connectionTotal,
      available: 1000,
      active: server.running.size,
    }),
    globalLock: Doc.of({
      totalTime: BigInt(Math.round(server.uptime * 1e6)),
      currentQueue: Doc.of({ total: 0, readers: 0, writers: 0 }),
      activeClients: Doc.of({ total: server.running.size, readers: 0, writers: 0 }),
    }),
    network: Doc.of({
      bytesIn: BigInt(server.traffic.bytesIn),
      bytesOut: BigInt(server.traffic.bytesOut),
      numRequests: BigInt(server.traffic.requests),
    }),
    opcounters: server.usage.opcounters(),
    storageEngine: Doc.of({ name: 'sqlite', persistent: true }),
    mem: Doc.of({
      bits: 64,
      resident: Math.round(process.memoryUsage.rss() / 1048576),
      virtual: Math.round(process.memoryUsage.rss() / 1048576),
    }),
  }),
  currentop: (_connection, _command, server) => ({ inprog: operations(server) }),
  killop: killOp,
  top: (_connection, _command, server) => ({ totals: server.usage.totals() }),
  usersinfo: usersInfo,
  rolesinfo: rolesInfo,
  replsetgetstatus: () => {
    throw new ServerError(76, 'not running with --replSet');
  },
  profile: (_connection, command) => {
    const level = command.values[0];
    if (isNumeric(level) && toDouble(level) <= 0)
      return { was: 0, slowms: 100, sampleRate: new Double(1) };
    throw unsupported('profiling', 115);
  },
  listcommands: () => {
    return { commands: Doc.of(Object.fromEntries(commandNames().map((name) => [name, help]))) };
  },
};

/** All commands by lower-case name, with those that the server itself runs. */
export const commandNames = (): string[] =>
  [
    ...Object.keys(localCommands),
    ...Object.keys(workerCommands),
    'hello',
    'ismaster',
    'ping',
    'getmore',
    'killcursors',
    'saslstart',
    'saslcontinue',
  ].sort();

/** Known to MongoDB, left out here on purpose. */
export const refusedCommands: Readonly<Record<string, true>> = {
  mapreduce: true,
  createuser: true,
  updateuser: true,
  dropuser: true,
  createrole: true,
  compact: true,
  shutdown: true,
  setparameter: true,
  committransaction: true,
  aborttransaction: true,
};
