import { BSON, type Document } from 'mongodb';
import { Doc } from '../bson/doc';
import { removeExpired } from '../commands/expire';
import { Engine, type Request } from '../commands/engine';
import { workerCommands } from '../commands/table';
import { Store } from '../storage/store';

/**
 * For tests: an engine in this thread, without wire and files, that takes and gives what the driver
 * would.
 */
export class TestEngine {
  private readonly store = new Store(':memory:', true);
  private readonly engine = new Engine(this.store, 0);

  run(command: Document, options: BSON.DeserializeOptions = { promoteLongs: false }): Document {
    const doc = Doc.fromRaw(
      Buffer.from(BSON.serialize({ ...command, $db: 'test' }, { ignoreUndefined: true })),
    );
    const name = doc.keys[0] as string;
    const known = workerCommands[name.toLowerCase()];
    if (!known) throw new Error(`no command ${name}`);
    const request: Request = {
      database: 'test',
      name,
      command: doc,
      sequences: new Map(),
      checkpoint: () => undefined,
    };
    return BSON.deserialize(known.run(this.engine, request), options);
  }
  fill(collection: string, documents: readonly Document[]): void {
    this.run({ drop: collection });
    this.run({ create: collection });
    if (documents.length > 0) this.run({ insert: collection, documents });
  }
  aggregate(
    collection: string,
    pipeline: readonly Document[],
    options: Document = {},
    read?: BSON.DeserializeOptions,
  ): Document[] {
    return (
      this.run(
        { aggregate: collection, pipeline, cursor: { batchSize: 100_000 }, ...options },
        read,
      ).cursor as { firstBatch: Document[] }
    ).firstBatch;
  }
  /** Does what the server does every minute. */
  expire(now: number): number {
    return removeExpired(this.store, now);
  }
  close(): void {
    this.store.close();
  }
}
