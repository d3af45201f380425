import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ConfigError, readConfig, type Config } from '../lib/config';
import { EmbeddedPostgresError, portProblem } from '../lib/db/embedded-postgres';
import { ensureGeneratedClient } from '../lib/db/migrate';
import { connectMongo } from '../lib/mongo/client';
import { start as startMongoServer } from 'mongo-embedded';
import { supervise } from './children';
import { outliveFullLog } from './full-log';
import { ensureWebBuild, webArguments } from './web-build';
import type { Stores } from './services';

const help = `usage: npm start [-- --reset-admin]

Starts AptMQL Studio: PostgreSQL and a MongoDB-compatible server (unless DATABASE_URL and MONGODB_URI
name your own), a worker and the web application. Ctrl-C stops everything.

  --reset-admin   gives the admin a new password and prints it

Environment: PORT (3000), APTMQL_DATA (.data), APTMQL_URL (where people reach it, when not on this
machine), APTMQL_ADMIN_EMAIL, APTMQL_ADMIN_PASSWORD, ANTHROPIC_API_KEY, APTMQL_MODEL`;

const say = (line: string): void => console.log(line);

/** What was started, to be stopped in the opposite order. */
const started: (() => Promise<unknown>)[] = [];
let stopping: Promise<void> | undefined;

function stopAll(): Promise<void> {
  stopping ??= (async () => {
    for (const stop of started.reverse()) {
      await stop().catch((error: unknown) =>
        console.error(error instanceof Error ? error.message : String(error)),
      );
    }
  })();
  return stopping;
}

/** npm's shell does not pass signals on: whoever ends `npm start` ends us by our parent's going. */
function stopWithParent(): void {
  if (process.env.npm_lifecycle_event !== 'start') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    void stopAll().then(() => process.exit(0));
  }, 1000);
  timer.unref();
}

/** An address that the environment names must answer before anything is built on it. */
async function reachable<T>(variable: string, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (error) {
    throw new StartError(
      `${variable} cannot be used: ${error instanceof Error ? error.message : String(error)}. ` +
        'Check it, or leave it away to use the embedded server',
    );
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { 'reset-admin': { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help) return say(help);
  outliveFullLog();
  const config = readConfig();
  const host = config.publicUrl ? '0.0.0.0' : '127.0.0.1';
  const taken = await portProblem(config.port, host);
  if (taken)
    throw new StartError(`port ${config.port} ${taken}. Choose another port: PORT=3001 npm start`);
  await ensureDataFolder(config);

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!stopping) say('\nStopping …');
      void stopAll().then(() => process.exit(0));
    });
  }

  stopWithParent();
  await ensureGeneratedClient();
  say('Starting the databases …');
  const { openStores } = await import('./services');
  const stores = config.databaseUrl
    ? await reachable('DATABASE_URL', openStores)
    : await openStores();
  started.push(() => stores.close());
  if (config.mongodbUri)
    await reachable('MONGODB_URI', async () => (await connectMongo(config.mongodbUri!)).close());
  const mongodbUri = config.mongodbUri ?? (await startMongo(config));
  await ensureWebBuild(say);

  const { ensureAdmin, ensureSample } = await import('./first-start');
  const admin = await ensureAdmin(stores, values['reset-admin'] === true);
  await ensureSample(stores, say);

  const env = childEnvironment(config, stores, mongodbUri);
  const worker = supervise(
    'worker',
    ['--import', 'tsx', 'cli/worker.ts'],
    { ...env, APTMQL_WORKER_SLOTS: String(Math.max(1, Math.floor(os.availableParallelism() / 2))) },
    { handlesParent: true },
  );
  started.push(() => worker.stop());
  const { ANTHROPIC_API_KEY: _unneeded, ...webEnv } = env;
  const web = supervise('web application', webArguments(config.port, host), webEnv, {
    quiet: true,
  });
  started.push(() => web.stop());
  await answering(config.port);

  say(`\nAptMQL Studio is ready: ${config.publicUrl ?? `http://localhost:${config.port}`}`);
  say(`Sign in as ${admin.email}${admin.password ? ` with the password ${admin.password}` : ''}`);
  say(
    admin.password
      ? `(also in ${admin.file} until you delete it)`
      : '(forgot the password? npm start -- --reset-admin)',
  );
  say('Ctrl-C stops everything.');
}

class StartError extends Error {}

async function ensureDataFolder(config: Config): Promise<void> {
  try {
    await makeFolder(path.resolve(config.dataDir));
    await fs.access(config.dataDir, fs.constants.W_OK);
  } catch (error) {
    throw new StartError(
      `cannot write in ${config.dataDir}: ` +
        `${error instanceof Error ? error.message : String(error)}. Set APTMQL_DATA to a folder ` +
        'that you may write in',
    );
  }
}

/** As `mkdir -p`: Node's own never returns where a parent takes no folders, as in /proc. */
async function makeFolder(folder: string): Promise<void> {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = path.dirname(at)) missing.unshift(at);
  for (const at of missing) await fs.mkdir(at);
}

/**
 * The embedded server, kept running: one that was killed comes back on the same port with the same
 * data.
 */
async function startMongo(config: Config): Promise<string> {
  const dataDir = path.join(config.dataDir, 'mongo');
  const first = await startMongoServer({ dataDir });
  const port = Number(new URL(first.uri).port);
  const ended = new AbortController();
  let server = first;
  const watching = (async () => {
    while (!ended.signal.aborted) {
      // woken by the stop below
      await sleep(2000, undefined, { signal: ended.signal, ref: false }).catch(() => {});
      if (ended.signal.aborted || (await accepts(port))) continue;
      try {
        server = await startMongoServer({ dataDir, port });
      } catch (error) {
        console.error(
          'MongoDB died and does not start again: ' +
            `${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
  })();
  started.push(async () => {
    ended.abort();
    await watching;
    await server.stop();
  });
  return first.uri;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const answer = (yes: boolean) => () => {
      socket.destroy();
      resolve(yes);
    };
    socket
      .setTimeout(5000, answer(false))
      .once('connect', answer(true))
      .once('error', answer(false));
  });
}

function childEnvironment(config: Config, stores: Stores, mongodbUri: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    NODE_ENV: 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    DATABASE_URL: stores.db.url,
    MONGODB_URI: mongodbUri,
    APTMQL_DATA: config.dataDir,
    PORT: String(config.port),
  };
}

async function answering(port: number): Promise<void> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await sleep(200)) {
    if (stopping) return;
    const healthy = await fetch(`http://127.0.0.1:${port}/api/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) return;
  }
  throw new StartError(
    `the web application does not answer on port ${port}; its messages above say why`,
  );
}

main().catch(async (error: unknown) => {
  if (stopping) return;
  const expected =
    error instanceof StartError ||
    error instanceof ConfigError ||
    error instanceof EmbeddedPostgresError;
  console.error(
    `\nAptMQL Studio could not start: ${error instanceof Error ? error.message : String(error)}`,
  );
  if (!expected && process.env.DEBUG) console.error(error);
  await stopAll();
  process.exit(1);
});
