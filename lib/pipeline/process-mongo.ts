import type { MongoClient } from 'mongodb';
import path from 'node:path';
import { AppError } from '../app-error';
import { readConfig } from '../config';
import { connectMongo } from '../mongo/client';
import { start as startMongoServer } from 'mongo-embedded';

const holder = globalThis as typeof globalThis & { aptmqlMongo?: Promise<MongoClient> | undefined };

/**
 * This process's MongoDB client: MONGODB_URI, or the embedded server of the data folder, which may
 * run elsewhere.
 */
export function processMongo(): Promise<MongoClient> {
  holder.aptmqlMongo ??= connect().catch((error: unknown) => {
    holder.aptmqlMongo = undefined; // the next request tries again
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError(
      'unavailable',
      `MongoDB cannot be reached: ${reason}`,
      'Try again when it is back; nothing was lost.',
    );
  });
  return holder.aptmqlMongo;
}

async function connect(): Promise<MongoClient> {
  const { mongodbUri, dataDir } = readConfig();
  return connectMongo(
    mongodbUri ?? (await startMongoServer({ dataDir: path.join(dataDir, 'mongo') })).uri,
  );
}
