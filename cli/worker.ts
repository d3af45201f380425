import { ensureGeneratedClient } from '../lib/db/migrate';
import { outliveFullLog } from './full-log';

/**
 * A worker alone, configured by its environment only: DATABASE_URL and MONGODB_URI (else the
 * embedded servers of APTMQL_DATA), APTMQL_WORKER_SLOTS pieces of work at a time. SIGTERM puts
 * unfinished work back into the queue.
 */
async function main(): Promise<void> {
  outliveFullLog();
  await ensureGeneratedClient();
  const { openStores } = await import('./services');
  const { openMongo } = await import('./mongo-connection');
  const { runWorker } = await import('./run-worker');
  const stores = await openStores();
  const mongo = await openMongo(stores.config.mongodbUri, stores.config.dataDir);
  const worker = await runWorker(stores, mongo.client, {
    slots: Number(process.env.APTMQL_WORKER_SLOTS) || 1,
    endWhenStuck: true,
  });
  console.log('worker ready');
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    void (async () => {
      await worker.stop();
      await mongo.close();
      await stores.close();
      process.exit(0);
    })().catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  // A parent that is gone wants no worker any more.
  if (process.send) process.on('disconnect', stop);
}

main().catch((error: unknown) => {
  console.error(`worker: ${error instanceof Error ? error.message : String(error)}`);
  if (process.env.DEBUG) console.error(error);
  process.exit(1);
});
