/**
 * The migration of a bundle's database as one script that needs nothing but node, better-sqlite3
 * and mongodb: the exporter bundles it into `migrate.mjs`, which lies beside the design that it
 * reads.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MongoClient, type Db } from 'mongodb';
import type { DocumentDesign, IndexDesign } from '../design/model/document-design';
import { catalogOf } from '../sqlite/schema/introspect';
import { openSource } from '../sqlite/open';
import { copySource } from '../sqlite/source/source-copy';
import { contentHash } from '../results/hash';
import { Progress, writeCollections, type ProgressDocument, type WriteInput } from './migrate';
import { createIndexes } from './write-documents';

/** What an earlier run has written lies in the database itself until all is there. */
const PROGRESS = 'aptmql_migration_progress';

const usage = `usage: node migrate.mjs --source FILE --uri URI --database NAME [--drop] [--any-source]

Builds the MongoDB database of this folder's design (design.json, indexes.json) from the source SQLite file.
Needs the npm packages better-sqlite3 and mongodb, installed where node finds them from this folder.
Stopped or killed, it goes on where it was when it is called again; the database is complete when the collection
${PROGRESS} is gone from it.

  --source FILE    the benchmark's SQLite file; it and the -wal or -journal file beside it are copied first, to the
                   system's folder for temporary files (TMPDIR), and not changed
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
  let values: {
    source?: string;
    uri?: string;
    database?: string;
    drop?: boolean;
    'any-source'?: boolean;
    help?: boolean;
  };
  try {
    ({ values } = parseArgs({
      options: {
        source: { type: 'string' },
        uri: { type: 'string' },
        database: { type: 'string' },
        drop: { type: 'boolean' },
        'any-source': { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }));
  } catch (error) {
    throw new MigrateError(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
  const { source, uri, database, drop = false } = values;
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  if (!source || !uri || !database)
    throw new MigrateError(`--source, --uri and --database are needed\n${usage}`);
  if (!fs.existsSync(source)) throw new MigrateError(`there is no file ${source}`);
  return { source, uri, database, drop, anySource: values['any-source'] ?? false };
}

function readJson<T>(folder: string, name: string): T {
  const file = path.join(folder, name);
  if (!fs.existsSync(file))
    throw new MigrateError(
      `${file} is missing: the script has to lie in a bundle's database folder`,
    );
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as T;
  } catch (error) {
    throw new MigrateError(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** The bundle's manifest says which file the design was made for. */
function checkSource(folder: string, source: string, sha256: string): void {
  const manifest = path.join(folder, '..', '..', 'MANIFEST.json');
  if (!fs.existsSync(manifest)) return;
  const { sources } = JSON.parse(fs.readFileSync(manifest, 'utf8')) as {
    sources: { database: string; sha256: string }[];
  };
  const expected = sources.find(({ database }) => database === path.basename(folder))?.sha256;
  if (expected && expected !== sha256)
    throw new MigrateError(
      `${source} is not the file that the bundle was made from (its SHA-256 differs from ` +
        'MANIFEST.json); --any-source takes it nevertheless',
    );
}

async function main(): Promise<void> {
  const options = readOptions();
  const folder = path.dirname(fileURLToPath(import.meta.url));
  const { logical } = readJson<DocumentDesign>(folder, 'design.json');
  const indexes = readJson<IndexDesign>(folder, 'indexes.json');
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-migrate-'));
  try {
    // With the files beside the source (-wal, -journal), as when the bundle was made.
    const copy = await copySource(options.source, path.join(scratch, 'source.sqlite'));
    if (!options.anySource) checkSource(folder, options.source, copy.sha256);
    const sqlite = openSource(copy.path);
    const catalog = catalogOf(sqlite, {
      name: path.basename(folder),
      sha256: copy.sha256,
      descriptions: {},
    });
    sqlite.close();
    await build(options, { sourcePath: copy.path, catalog, logical }, indexes);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

type Source = Omit<WriteInput, 'signal' | 'onDocuments'>;

async function build(options: Options, source: Source, indexes: IndexDesign): Promise<void> {
  const { catalog, logical } = source;
  const client = new MongoClient(options.uri, {
    appName: 'aptmql-migrate',
    serverSelectionTimeoutMS: 10_000,
  });
  try {
    await client.connect();
    const db = client.db(options.database);
    const records = db.collection<ProgressDocument>(PROGRESS);
    const progress = new Progress(records, contentHash({ source: catalog.sha256, logical }));
    await prepare(
      db,
      logical.map(({ collection }) => collection),
      options.drop,
      progress,
    );
    await writeAll(db, source, progress);
    await createIndexes(db, indexes);
    await records.drop();
  } finally {
    await client.close();
  }
}

async function prepare(
  db: Db,
  collections: readonly string[],
  drop: boolean,
  progress: Progress,
): Promise<void> {
  if (drop) await db.dropDatabase();
  if (await progress.exists()) {
    console.log(`${db.databaseName} holds what an earlier run has written: going on from there`);
    return;
  }
  const there = await db.listCollections({}, { nameOnly: true }).toArray();
  const taken =
    there.find(({ name }) => name === PROGRESS) ??
    there.find(({ name }) => collections.includes(name));
  if (taken)
    throw new MigrateError(
      `${db.databaseName} holds a collection ${taken.name} ` +
        `already${taken.name === PROGRESS ? ', of a run with another source or design' : ''}: ` +
        'choose another database, or give --drop',
    );
}

async function writeAll(db: Db, input: Source, progress: Progress): Promise<void> {
  const stopped = new AbortController();
  process.once('SIGINT', () =>
    stopped.abort(new MigrateError('stopped; called again, it goes on from here')),
  );
  const say = (collection: string, documents: number, end: string): void =>
    void process.stdout.write(
      `${process.stdout.isTTY ? '\r' : ''}${collection}: ${documents} documents${end}`,
    );
  for (const logical of input.logical) {
    const started = performance.now();
    const onDocuments = process.stdout.isTTY
      ? { onDocuments: (collection: string, documents: number) => say(collection, documents, '') }
      : {};
    const written = await writeCollections(
      db,
      { ...input, logical: [logical], signal: stopped.signal, ...onDocuments },
      progress,
    );
    for (const [collection, { documents }] of written)
      say(collection, documents, ` (${((performance.now() - started) / 1000).toFixed(1)} s)\n`);
  }
}

main().catch((error: unknown) => {
  const known = error instanceof Error && (error instanceof MigrateError || !process.env.DEBUG);
  console.error(known ? `migrate: ${(error as Error).message}` : error);
  process.exitCode = 1;
});
