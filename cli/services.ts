import path from 'node:path';
import { readConfig, type Config } from '../lib/config';
import { openBlobStore, type BlobStore } from '../lib/db/blob-store';
import { openDatabase, type Database } from '../lib/db/database';
import { ensureEmbeddedPostgres } from '../lib/db/embedded-postgres';
import { migrate } from '../lib/db/migrate';

/**
 * The platform's stores for one command: those of the environment, else the embedded server of the
 * data folder.
 */
export interface Stores {
  readonly config: Config;
  readonly db: Database;
  readonly blobs: BlobStore;
  close(): Promise<void>;
}

export async function openStores(): Promise<Stores> {
  const config = readConfig();
  const server = config.databaseUrl
    ? undefined
    : await ensureEmbeddedPostgres({ dataDir: config.dataDir });
  const url = config.databaseUrl ?? server!.url;
  // Whoever owns the server brings it to the newest schema; a guest finds that done.
  if (!server || server.owned) await migrate(url);
  const db = openDatabase(url);
  return {
    config,
    db,
    blobs: openBlobStore(db, path.join(config.dataDir, 'cache')),
    close: async () => {
      await db.close();
      await server?.stop();
    },
  };
}
