import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree, signalAll } from './process-tree';

const processes = ['mongodb', 'postgres', 'worker', 'web'] as const;
type Process = (typeof processes)[number];
/** The disk goes away by being full, whatever the mode. */
export type Service = Process | 'disk';
/** `kill -9`, or stopped for a while as a machine that stands still. */
export type Mode = 'kill' | 'stop';

export interface Product {
  /** The service goes away once, and is back (or being started again) when this resolves. */
  disturb(service: Service, mode: Mode): Promise<void>;
  stop(): Promise<void>;
}

const SCRIPTS = {
  mongodb: 'mongo-embedded/src/process.ts',
  worker: 'cli/worker.ts',
  web: 'next/dist/bin/next',
};

/** The largest disk that is filled: one made for this. */
const MOST_FILLED = 2 ** 31;

/** Starts the product on a data folder and resolves when it is ready. Its output goes to `log`. */
export async function startProduct(
  dataDir: string,
  port: string,
  stoppedMs: number,
): Promise<Product> {
  const file = path.join(dataDir, 'log');
  const log = fs.openSync(file, 'a');
  const child = spawn(process.execPath, ['--import', 'tsx', 'cli/start.ts'], {
    env: { ...process.env, APTMQL_DATA: dataDir, PORT: port },
    stdio: ['ignore', log, log],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));

  const rootOf = (service: Process): number | undefined => {
    // pg_ctl detaches PostgreSQL from us; its pid file is in our data folder.
    const pidFile = path.join(dataDir, 'postgres/data/postmaster.pid');
    if (service === 'postgres') return Number(fs.readFileSync(pidFile, 'utf8').split('\n')[0]);
    const own = processTree(child.pid!);
    return own.find(({ command }) => command.includes(SCRIPTS[service]))?.pid;
  };
  const processesOf = async (service: Process): Promise<number[]> => {
    for (;;) {
      const root = rootOf(service);
      if (root !== undefined) return processTree(root).map(({ pid }) => pid);
      await sleep(100); // it is being started again
    }
  };

  while (!fs.readFileSync(file, 'utf8').includes('is ready')) {
    if (child.exitCode !== null) throw new Error(`no start: ${fs.readFileSync(file, 'utf8')}`);
    await sleep(500);
  }
  return {
    disturb: async (service, mode) => {
      if (service === 'disk') return fillDisk(dataDir, stoppedMs);
      const pids = await processesOf(service);
      if (mode === 'kill') return signalAll(pids.slice(0, 1), 'SIGKILL');
      signalAll(pids, 'SIGSTOP');
      await sleep(stoppedMs);
      signalAll(pids, 'SIGCONT');
    },
    stop: async () => {
      for (const service of processes) {
        const root = rootOf(service);
        if (root !== undefined)
          signalAll(
            processTree(root).map(({ pid }) => pid),
            'SIGCONT',
          );
      }
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Asks again while PostgreSQL is away. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + 300_000; ; await sleep(1000)) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

async function fillDisk(folder: string, milliseconds: number): Promise<void> {
  const { bavail, bsize } = fs.statfsSync(folder);
  if (bavail * bsize > MOST_FILLED) throw new Error(`the disk of ${folder} is too large to fill`);
  const file = path.join(folder, 'filled');
  const handle = fs.openSync(file, 'w');
  try {
    fill(handle);
    await sleep(milliseconds);
  } finally {
    fs.closeSync(handle);
    fs.rmSync(file);
  }
}

/** Down to the last bytes. */
function fill(handle: number): void {
  for (let size = 2 ** 20; size >= 1;) {
    try {
      fs.writeSync(handle, Buffer.alloc(size, 1));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      size /= 4;
    }
  }
}
