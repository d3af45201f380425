import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { BSON, type Db, type Document, type MongoClient } from 'mongodb';
import { gunzippedLines } from './files';

const BATCH = 1000;

/**
 * Restores a bundle's database folder, from its Extended JSON and with its indexes, into an empty
 * MongoDB database.
 */
export async function restoreDatabase(folder: string, mongo: MongoClient): Promise<Db> {
  const db = mongo.db(`aptmql_restore_${randomBytes(6).toString('hex')}`);
  try {
    for (const name of fs.readdirSync(path.join(folder, 'ejson')).sort()) {
      const collection = await db.createCollection(name.replace(/\.jsonl\.gz$/, ''));
      let batch: Document[] = [];
      for await (const line of gunzippedLines(path.join(folder, 'ejson', name))) {
        if (line === '') continue;
        batch.push(BSON.EJSON.parse(line, { relaxed: false }) as Document);
        if (batch.length === BATCH) await collection.insertMany(batch.splice(0));
      }
      if (batch.length > 0) await collection.insertMany(batch);
      batch = [];
    }
    const indexes = JSON.parse(
      fs.readFileSync(path.join(folder, 'indexes.json'), 'utf8'),
    ) as Record<string, { key: Record<string, 1 | -1>; unique?: true }[]>;
    for (const [collection, list] of Object.entries(indexes)) {
      for (const { key, unique } of list)
        await db.collection(collection).createIndex(key, unique ? { unique } : {});
    }
    return db;
  } catch (error) {
    await db.dropDatabase();
    throw error;
  }
}
