import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree, signalAll } from './process-tree';

export const services = ['mongodb', 'postgres', 'worker', 'web'] as const;
export type Service = (typeof services)[number];
/** `kill -9`, or stopped for a while as a machine that stands still. */
export type Mode = 'kill' | 'stop';

export interface Product {
  /** The service goes away once, and is back (or being started again) when this resolves. */
  disturb(service: Service, mode: Mode): Promise<void>;
  stop(): Promise<void>;
}

const SCRIPTS = {
  mongodb: 'lib/mongo/embedded/process.ts',
  worker: 'cli/worker.ts',
  web: 'next/dist/bin/next',
};

/** Starts the product on a data folder, whose `log` gets what it says. Resolves when it is ready. */
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

  const rootOf = (service: Service): number | undefined => {
    // pg_ctl detaches PostgreSQL from us; its pid file is in our data folder.
    const pidFile = path.join(dataDir, 'postgres/data/postmaster.pid');
    if (service === 'postgres') return Number(fs.readFileSync(pidFile, 'utf8').split('\n')[0]);
    const own = processTree(child.pid!);
    return own.find(({ command }) => command.includes(SCRIPTS[service]))?.pid;
  };
  const processesOf = async (service: Service): Promise<number[]> => {
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
      const pids = await processesOf(service);
      if (mode === 'kill') return signalAll(pids.slice(0, 1), 'SIGKILL');
      signalAll(pids, 'SIGSTOP');
      await sleep(stoppedMs);
      signalAll(pids, 'SIGCONT');
    },
    stop: async () => {
      for (const service of services) {
        const root = rootOf(service);
        if (root !== undefined) signalAll(processTree(root).map(({ pid }) => pid), 'SIGCONT');
      }
      child.kill('SIGTERM');
      await ended;
    },
  };
}
