import path from 'node:path';
import { agentNamed } from '../agents/drivers/agent-named';
import { exportBundle } from '../lib/bundle/export';
import type { MongoClient } from 'mongodb';
import { stages } from '../lib/pipeline/stages/index';
import { startWorker, type Worker, type WorkerOptions } from '../lib/pipeline/worker';
import { bundleContent } from '../lib/releases/bundle-content';
import { sharedSigningKey } from '../lib/releases/signing-key';
import type { Stores } from './services';
import { toolVersion } from './tool-version';

/** A worker of this process on these stores. */
export function runWorker(
  { config, db, blobs }: Pick<Stores, 'config' | 'db' | 'blobs'>,
  mongo: MongoClient,
  options: Pick<WorkerOptions, 'slots' | 'endWhenStuck'> = {},
): Promise<Worker> {
  return startWorker({
    db,
    blobs,
    mongo,
    stages,
    agentNamed: (name) => agentNamed(name, config),
    scratchFolder: path.join(config.dataDir, 'scratch'),
    makeBundle: async ({ benchmarkId, draft, folder, signal, progress }) => {
      const content = await bundleContent(
        { db, blobs, mongo, toolVersion: toolVersion() },
        benchmarkId,
        draft,
      );
      await exportBundle(content, {
        out: folder,
        mongo,
        key: await sharedSigningKey(db, config.dataDir),
        signal,
        onProgress: (done, total) => progress(done, total),
      });
    },
    ...options,
  });
}
