import { once } from 'node:events';
import path from 'node:path';
import { Worker } from 'node:worker_threads';

/** How long a stage that was asked to stop may go on before its process is ended. */
export const PATIENCE_MS = 10_000;

export interface StuckWatch {
  /** Resolves when the thread looks for the first time. */
  readonly started: Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Ends this process when a stage that it runs was asked to stop and has not: one in an endless
 * computation blocks the main thread, which hears of nothing. A thread of its own asks Postgres.
 * Whoever supervises the process starts another, and the run that was asked to stop is recorded as
 * cancelled instead of run again.
 *
 * @param worker the name under which this process claims runs
 */
export function watchForStuckStages(
  databaseUrl: string,
  worker: string,
  patienceMs = PATIENCE_MS,
): StuckWatch {
  const file = path.join(process.cwd(), 'lib/pipeline/stuck-watch.thread.mjs');
  const workerData = { databaseUrl, worker, patienceMs };
  const thread = new Worker(file, { workerData, execArgv: [] });
  thread.unref();
  thread.on('error', (error) => console.warn(`stuck stages are not watched for: ${error.message}`));
  return {
    started: once(thread, 'message').catch(() => undefined), // an error has been reported above
    close: async () => {
      await thread.terminate();
    },
  };
}
