import { Worker } from 'node:worker_threads';

/** How often the thread looks: SQLite allocates about a gigabyte a second at most. */
const LOOK_MS = 25;

/**
 * Ends this process when it takes more memory than `limitBytes`. SQLite's own `hard_heap_limit` is
 * without effect here, because better-sqlite3 is compiled without memory statistics; a thread can
 * look while a query blocks the main one. The parent sees the signal SIGKILL.
 */
export function endBeyondMemory(limitBytes: number): void {
  const watch = new Worker(WATCH, { eval: true, workerData: { limitBytes, lookMs: LOOK_MS } });
  watch.unref();
}

const WATCH = `
  const { workerData: { limitBytes, lookMs } } = require('node:worker_threads');
  setInterval(() => {
    if (process.memoryUsage.rss() > limitBytes) process.kill(process.pid, 'SIGKILL');
  }, lookMs);
`;
