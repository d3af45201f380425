import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Doc } from './bson/doc';
import { encode } from './bson/encode';
import { DISCOVERY_FILE } from './discovery-file';
import { packageFolder, scriptArguments } from './installation';

export interface EmbeddedServer {
  readonly uri: string;
  /** Ends the server if this process started it and nobody else here still uses it. */
  stop(): Promise<void>;
}

interface Entry {
  readonly server: Promise<{ uri: string; child: ChildProcess | null }>;
  users: number;
}

const START_TIMEOUT_MS = 60_000;

// Kept outside the module: bundlers and hot reloading may load this file more than once in a
// process.
const registry = ((globalThis as Record<symbol, unknown>)[Symbol.for('mongo-embedded')] ??= new Map<
  string,
  Entry
>()) as Map<string, Entry>;

export interface StartOptions {
  /** Default: an empty temporary folder, which `stop` removes. */
  readonly dataDir?: string;
  /** On the loopback interface. Default: a free one. A server that already runs keeps its own. */
  readonly port?: number;
}

/**
 * Starts the server of a data folder as a child process that ends with this process, or connects to
 * the one that already serves it. Any number of processes may start the same folder.
 *
 * @throws Error that names the folder or port that cannot be used.
 */
export async function start({ dataDir, port = 0 }: StartOptions = {}): Promise<EmbeddedServer> {
  if (dataDir !== undefined) return startOn(dataDir, port);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'mongo-embedded-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const { uri, stop } = await startOn(folder, port);
    return { uri, stop: () => stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

async function startOn(dataDir: string, port: number): Promise<EmbeddedServer> {
  const folder = path.resolve(dataDir);
  let entry = registry.get(folder);
  if (entry) {
    const { uri } = await entry.server.catch(() => ({ uri: null }));
    // It may have been killed, or belong to a process that ended.
    if (uri !== null && (await answers(Number(new URL(uri).port)))) return share(folder, entry);
    if (registry.get(folder) === entry) registry.delete(folder);
  }
  entry = registry.get(folder) ?? { server: findOrStart(folder, port), users: 0 };
  registry.set(folder, entry);
  return share(folder, entry);
}

async function share(folder: string, entry: Entry): Promise<EmbeddedServer> {
  entry.users++;
  let server: { uri: string; child: ChildProcess | null };
  try {
    server = await entry.server;
  } catch (error) {
    if (registry.get(folder) === entry) registry.delete(folder);
    throw error;
  }
  let stopped = false;
  return {
    uri: server.uri,
    stop: async () => {
      if (stopped) return;
      stopped = true;
      if (--entry.users > 0) return;
      if (registry.get(folder) === entry) registry.delete(folder);
      if (server.child) await endChild(server.child);
    },
  };
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.ref();
  child.stdin?.end();
  const impatient = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(impatient);
}

async function findOrStart(
  folder: string,
  port: number,
): Promise<{ uri: string; child: ChildProcess | null }> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Error(
      `the data folder ${folder} cannot be used: ` +
        `${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const running = await discover(folder);
    if (running) return { uri: running, child: null };
    const started = await startChild(folder, port);
    if (started) return started;
    // Somebody else holds the folder and is still starting, or just ending.
    if (Date.now() > deadline)
      throw new Error(
        `the data folder ${folder} is locked by another process that does not answer`,
      );
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** The server that the discovery file names, if it answers. */
async function discover(folder: string): Promise<string | null> {
  let found: { uri: string; port: number };
  try {
    found = JSON.parse(readFileSync(path.join(folder, DISCOVERY_FILE), 'utf8')) as typeof found;
  } catch {
    // No file, or a damaged one: nobody to find.
    return null;
  }
  return (await answers(found.port)) ? found.uri : null;
}
/**
 * Whether a server replies there. A connection alone proves nothing: a dying process still accepts
 * some.
 */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1' });
    const done = (result: boolean) => (): void => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(3000, done(false)).once('connect', () => socket.write(pingMessage()));
    socket.once('data', done(true)).once('error', done(false)).once('close', done(false));
  });
}
function pingMessage(): Buffer {
  const body = encode(Doc.of({ ping: 1, $db: 'admin' }));
  const head = Buffer.alloc(21);
  head.writeInt32LE(head.length + body.length, 0);
  head.writeInt32LE(2013, 12);
  return Buffer.concat([head, body]);
}

/**
 * Settings of glibc's malloc; other C libraries ignore them. By default each thread keeps a pool at
 * its largest size, and the adaptive thresholds put buffers of megabytes into these pools.
 */
const allocation = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '1048576',
  MALLOC_MMAP_THRESHOLD_: '262144',
};

/** null when another process holds the folder. */
async function startChild(
  folder: string,
  port: number,
): Promise<{ uri: string; child: ChildProcess } | null> {
  const child = spawn(
    process.execPath,
    [...scriptArguments('process'), '--data', folder, '--port', String(port)],
    {
      cwd: packageFolder(),
      stdio: ['pipe', 'pipe', 'inherit'],
      // Its own group, so that Ctrl-C reaches the owner, which then ends it in order.
      detached: process.platform !== 'win32',
      env: { ...process.env, NODE_OPTIONS: '', ...allocation },
    },
  );
  const line = await firstLine(child);
  const said = JSON.parse(line ?? '{}') as { uri?: string; error?: string; busy?: boolean };
  if (said.uri) {
    child.unref();
    // The pipes must not keep the owner alive.
    for (const stream of [child.stdin, child.stdout])
      (stream as unknown as net.Socket | null)?.unref();
    return { uri: said.uri, child };
  }
  if (said.busy) return null;
  throw new Error(
    said.error ??
      `the embedded server for ${folder} ended while it was starting (status ` +
        `${child.exitCode ?? child.signalCode ?? 'unknown'})`,
  );
}

function firstLine(child: ChildProcess): Promise<string | null> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
    });
    child.once('error', reject);
    child.once('exit', () =>
      setImmediate(() => resolve(text.includes('\n') ? text.slice(0, text.indexOf('\n')) : null)),
    );
  });
}
