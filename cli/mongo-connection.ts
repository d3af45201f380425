import path from 'node:path';
import type { MongoClient } from 'mongodb';
import { connectMongo } from '../lib/mongo/client';
import { start as startMongoServer } from 'mongo-embedded';

export interface MongoConnection {
  readonly client: MongoClient;
  readonly engine: { readonly name: string; readonly version: string };
  close(): Promise<void>;
}

/**
 * The MongoDB of `uri` or `MONGODB_URI`, else our embedded server on the data folder of this
 * installation.
 */
export async function openMongo(
  uri = process.env.MONGODB_URI,
  dataFolder = process.env.APTMQL_DATA ?? '.data',
): Promise<MongoConnection> {
  const server = uri
    ? undefined
    : await startMongoServer({ dataDir: path.resolve(dataFolder, 'mongo') });
  const client = await connectMongo(uri ?? server!.uri);
  const { version } = (await client.db('admin').command({ buildInfo: 1 })) as unknown as {
    version: string;
  };
  return {
    client,
    engine: { name: server ? 'AptMQL embedded server' : 'MongoDB', version },
    async close() {
      await client.close();
      await server?.stop();
    },
  };
}
