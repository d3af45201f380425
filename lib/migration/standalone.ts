/**
 * The migration of a bundle's database as one script that needs nothing but node, better-sqlite3 and mongodb: the
 * exporter bundles it into `migrate.mjs`, which lies beside the design that it reads.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MongoClient, type Db } from 'mongodb';
import type { DocumentDesign, IndexDesign } from '../design/document-design';
import { catalogOf } from '../sqlite/introspect';
import { openSource } from '../sqlite/open';
import type { Catalog } from '../sqlite/catalog';
import { assemble } from './assemble';
import { createIndexes, nothingWritten, writeDocuments } from './write-documents';

const usage = `usage: node migrate.mjs --source FILE --uri URI --database NAME [--drop] [--any-source]

Builds the MongoDB database of this folder's design (design.json, indexes.json) from the source SQLite file.
Needs the npm packages better-sqlite3 and mongodb, installed where node finds them from this folder.

  --source FILE    the benchmark's SQLite file
  --uri URI        the MongoDB to write to, e.g. mongodb://localhost:27017
  --database NAME  the database to build; it must not hold any of the design's collections
  --drop           drop that database first
  --any-source     take a file although its SHA-256 is not the one in the bundle's MANIFEST.json`;

/** What the caller can put right; its message is all that is shown. */
class MigrateError extends Error {}

interface Options {
  readonly source: string;
  readonly uri: string;
  readonly database: string;
  readonly drop: boolean;
  readonly anySource: boolean;
}

function readOptions(): Options {
  let values: { source?: string; uri?: string; database?: string; drop?: boolean; 'any-source'?: boolean; help?: boolean };
  try {
    ({ values } = parseArgs({ options: { source: { type: 'string' }, uri: { type: 'string' }, database: { type: 'string' }, drop: { type: 'boolean' }, 'any-source': { type: 'boolean' }, help: { type: 'boolean' } } }));
  } catch (error) {
    throw new MigrateError(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
  const { source, uri, database, drop = false } = values;
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  if (!source || !uri || !database) throw new MigrateError(`--source, --uri and --database are needed\n${usage}`);
  if (!fs.existsSync(source)) throw new MigrateError(`there is no file ${source}`);
  return { source, uri, database, drop, anySource: values['any-source'] ?? false };
}

function readJson<T>(folder: string, name: string): T {
  const file = path.join(folder, name);
  if (!fs.existsSync(file)) throw new MigrateError(`${file} is missing: the script has to lie in a bundle's database folder`);
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as T;
  } catch (error) {
    throw new MigrateError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The bundle's manifest says which file the design was made for. */
async function checkSource(folder: string, source: string): Promise<void> {
  const manifest = path.join(folder, '..', '..', 'MANIFEST.json');
  if (!fs.existsSync(manifest)) return;
  const { sources } = JSON.parse(fs.readFileSync(manifest, 'utf8')) as { sources: { database: string; sha256: string }[] };
  const expected = sources.find(({ database }) => database === path.basename(folder))?.sha256;
  if (!expected) return;
  const hash = createHash('sha256');
  for await (const chunk of fs.createReadStream(source)) hash.update(chunk as Buffer);
  if (hash.digest('hex') !== expected) throw new MigrateError(`${source} is not the file that the bundle was made from (its SHA-256 differs from MANIFEST.json); --any-source takes it nevertheless`);
}

async function main(): Promise<void> {
  const options = readOptions();
  const folder = path.dirname(fileURLToPath(import.meta.url));
  const { logical } = readJson<DocumentDesign>(folder, 'design.json');
  const indexes = readJson<IndexDesign>(folder, 'indexes.json');
  if (!options.anySource) await checkSource(folder, options.source);
  const sqlite = openSource(options.source);
  const catalog = catalogOf(sqlite, { name: path.basename(folder), sha256: '', descriptions: {} });
  sqlite.close();
  const client = new MongoClient(options.uri, { appName: 'aptmql-migrate', serverSelectionTimeoutMS: 10_000 });
  try {
    await client.connect();
    const db = client.db(options.database);
    await prepare(db, logical.map(({ collection }) => collection), options.drop);
    await writeAll(db, options.source, catalog, logical);
    await createIndexes(db, indexes);
  } finally {
    await client.close();
  }
}

async function prepare(db: Db, collections: readonly string[], drop: boolean): Promise<void> {
  if (drop) await db.dropDatabase();
  const there = await db.listCollections({}, { nameOnly: true }).toArray();
  const taken = there.find(({ name }) => collections.includes(name));
  if (taken) throw new MigrateError(`${db.databaseName} holds a collection ${taken.name} already: choose another database, or give --drop`);
}

async function writeAll(db: Db, source: string, catalog: Catalog, logical: DocumentDesign['logical']): Promise<void> {
  const stopped = new AbortController();
  process.once('SIGINT', () => stopped.abort(new MigrateError('stopped; the database is incomplete')));
  for (const design of logical) {
    const used = new Map<string, number>();
    const collection = await db.createCollection(design.collection);
    const started = performance.now();
    const say = (documents: number, end: string): void => void process.stdout.write(`${process.stdout.isTTY ? '\r' : ''}${design.collection}: ${documents} documents${end}`);
    const onWritten = ({ documents }: { documents: number }): Promise<void> => Promise.resolve(process.stdout.isTTY ? say(documents, '') : undefined);
    const { documents } = await writeDocuments(collection, assemble(source, catalog, design, used), used, nothingWritten, { signal: stopped.signal, onWritten });
    say(documents, ` (${((performance.now() - started) / 1000).toFixed(1)} s)\n`);
  }
}

main().catch((error: unknown) => {
  const known = error instanceof Error && (error instanceof MigrateError || !process.env.DEBUG);
  console.error(known ? `migrate: ${(error as Error).message}` : error);
  process.exitCode = 1;
});
