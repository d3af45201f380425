import path from 'node:path';
import { readConfig } from '../config';
import { openBlobStore, type BlobStore } from './blob-store';
import { openDatabase, type Database } from './database';
import { listen, type Listener } from './notify';

export interface ProcessStores {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly events: Listener;
}

// On globalThis, because the bundler may give each route its own copy of this module.
const holder = globalThis as typeof globalThis & {
  aptmqlStores?: ProcessStores & { readonly url: string };
};

/** This process's connections, opened at first use from DATABASE_URL and APTMQL_DATA. */
export function processStores(): ProcessStores {
  const { databaseUrl, dataDir } = readConfig();
  if (!databaseUrl)
    throw new Error('DATABASE_URL is not set: start with `npm start`, or set it to a PostgreSQL');
  if (holder.aptmqlStores?.url !== databaseUrl) {
    const db = openDatabase(databaseUrl);
    holder.aptmqlStores = {
      url: databaseUrl,
      db,
      blobs: openBlobStore(db, path.join(dataDir, 'cache')),
      events: listen(databaseUrl),
    };
  }
  return holder.aptmqlStores;
}

/** For tests and orderly ends. */
export async function closeProcessStores(): Promise<void> {
  const stores = holder.aptmqlStores;
  delete holder.aptmqlStores;
  await stores?.events.close();
  await stores?.db.close();
}
