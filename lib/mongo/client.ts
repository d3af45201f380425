import { MongoClient } from 'mongodb';

/**
 * A connected client. 64-bit integers come as `Long` and are never rounded; give `promoteLongs`
 * where that is wanted. The caller closes it.
 */
export async function connectMongo(uri: string): Promise<MongoClient> {
  const client = new MongoClient(uri, {
    appName: 'aptmql',
    serverSelectionTimeoutMS: 10_000,
    connectTimeoutMS: 10_000,
    maxPoolSize: 20,
    ignoreUndefined: true,
    promoteLongs: false,
  });
  await client.connect();
  return client;
}
