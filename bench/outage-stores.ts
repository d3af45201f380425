import type { BlobStore } from '../lib/db/blob-store';
import type { Database } from '../lib/db/database';

export interface Stores {
  readonly db: Database;
  readonly blobs: BlobStore;
  /** For bundles that are unpacked. */
  readonly scratch: string;
}
