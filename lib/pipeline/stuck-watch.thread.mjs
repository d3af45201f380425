// Plain JavaScript: a TypeScript loader would need the main thread, which is what may be blocked.
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import pg from 'pg';

const { databaseUrl, worker, patienceMs } = workerData;
const POLL_MS = 1000;
const pool = new pg.Pool({
  connectionString: databaseUrl,
  max: 1,
  application_name: 'aptmql-stuck-watch',
});
pool.on('error', () => undefined); // an idle connection that broke is opened again at the next poll

/** Undefined while Postgres does not answer: then nothing is known. */
async function anyAskedToStop() {
  try {
    const { rowCount } = await pool.query(
      `SELECT 1 FROM stage_run WHERE worker = $1 AND state = 'running' AND cancel_asked`,
      [worker],
    );
    return rowCount > 0;
  } catch {
    return undefined;
  }
}

let askedSince;
for (;;) {
  const isAsked = await anyAskedToStop();
  if (isAsked !== undefined) askedSince = isAsked ? (askedSince ?? Date.now()) : undefined;
  if (askedSince !== undefined && Date.now() - askedSince > patienceMs) {
    process.kill(process.pid, 'SIGKILL');
  }
  parentPort.postMessage('watching');
  await sleep(POLL_MS);
}
