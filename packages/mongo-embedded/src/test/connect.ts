import { MongoClient } from 'mongodb';

/** A connected client that returns 64-bit integers as `Long`. The caller closes it. */
export async function connect(uri: string): Promise<MongoClient> {
  const client = new MongoClient(uri, {
    serverSelectionTimeoutMS: 10_000,
    ignoreUndefined: true,
    promoteLongs: false,
  });
  await client.connect();
  return client;
}
