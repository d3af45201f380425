import {
  Binary,
  Double,
  Long,
  type Collection,
  type Db,
  type Document,
  type MongoClient,
} from 'mongodb';
import type { Catalog } from '../sqlite/catalog';
import type { DocumentDesign, IndexDesign, LogicalDesign } from '../design/model/document-design';
import { contentHash } from '../results/hash';
import { fromBson, type SqliteValue } from '../results/value';
import { assemble, MigrationError, type StartAfter } from './assemble';
import {
  BATCH_DOCUMENTS,
  DOCUMENTS_BEYOND,
  createIndexes,
  nothingWritten,
  writeDocuments,
  type Written,
} from './write-documents';

export interface MigrationInput {
  readonly sourcePath: string;
  readonly catalog: Catalog;
  readonly design: DocumentDesign;
  readonly indexes: IndexDesign;
  readonly mongo: MongoClient;
  /** At most 20 characters of `[a-z0-9_]`. */
  readonly prefix: string;
  readonly signal: AbortSignal;
  onDocuments?(collection: string, documents: number): void;
}

/** The content of a migration artefact. */
export interface Migration {
  readonly mongoDatabase: string;
  readonly collections: readonly {
    readonly name: string;
    readonly documents: number;
    readonly bytes: number;
    readonly largestDocument: number;
  }[];
  /** Source rows that went into documents, by table. */
  readonly rows: Readonly<Record<string, number>>;
}

const MARKER = 'aptmql_migrations';
const PROGRESS = 'aptmql_migration_progress';

/**
 * Migrates a source database by its design. Every design has a MongoDB database of its own, named
 * by the hash of what goes into it, so that the one in use is never touched: it is superseded when
 * the new one is complete. Repeating a finished migration returns its record; an interrupted one
 * goes on where it stopped, with the same result.
 */
export async function migrate(input: MigrationInput): Promise<Migration> {
  const mongoDatabase = migrationDatabase(input);
  const meta = input.mongo.db(`${input.prefix}_meta`);
  const marker = meta.collection<{ _id: string; migration: Migration }>(MARKER);
  const db = input.mongo.db(mongoDatabase);
  const finished = await marker.findOne({ _id: mongoDatabase });
  if (finished && (await countsHold(db, finished.migration))) return finished.migration;

  const progress = new Progress(meta.collection(PROGRESS), mongoDatabase);
  // Without a record of it, nobody knows what lies there.
  if (finished || !(await progress.exists())) {
    await progress.forget();
    await db.dropDatabase();
  }
  const written = await writeCollections(db, { ...input, logical: input.design.logical }, progress);
  await createIndexes(db, input.indexes);
  const migration = migrationRecord(mongoDatabase, input.catalog, written);
  if (!(await countsHold(db, migration)))
    throw new MigrationError(
      `${mongoDatabase} does not hold as many documents as were written: something else ` +
        'writes to it',
    );
  await marker.replaceOne({ _id: mongoDatabase }, { migration }, { upsert: true });
  await progress.forget();
  return migration;
}

export interface WriteInput extends Pick<
  MigrationInput,
  'sourcePath' | 'catalog' | 'signal' | 'onDocuments'
> {
  readonly logical: readonly LogicalDesign[];
}

/** Writes all collections, each from where the progress says that an earlier run stopped. */
export async function writeCollections(
  db: Db,
  input: WriteInput,
  progress: Progress,
): Promise<Map<string, Written>> {
  const { sourcePath, catalog, signal } = input;
  const all = new Map<string, Written>();
  for (const logical of input.logical) {
    signal.throwIfAborted();
    const start = await startOf(db, logical, input, progress);
    const used = new Map(Object.entries(start.rows));
    const onWritten = async (written: Written): Promise<void> => {
      await progress.record(logical.collection, written);
      input.onDocuments?.(logical.collection, written.documents);
    };
    const documents = assemble(sourcePath, catalog, logical, used, afterOf(start));
    all.set(
      logical.collection,
      await writeDocuments(db.collection(logical.collection), documents, used, start, {
        signal,
        onWritten,
      }),
    );
  }
  return all;
}

const afterOf = ({ position, documents }: Written): StartAfter | undefined =>
  position ? { position, documents } : undefined;

/**
 * Where the writing of a collection begins. What an earlier run recorded was acknowledged; behind
 * it may lie batches of which the record would have come later, perhaps in part: they are removed.
 * If the rest is not what was recorded, the collection starts over.
 */
async function startOf(
  db: Db,
  logical: LogicalDesign,
  input: Pick<MigrationInput, 'sourcePath' | 'catalog'>,
  progress: Progress,
): Promise<Written> {
  const recorded = await progress.read(logical.collection);
  const target = db.collection<Document>(logical.collection);
  if (recorded && (await target.estimatedDocumentCount()) >= recorded.documents) {
    const beyond: unknown[] = [];
    for (const { document } of assemble(
      input.sourcePath,
      input.catalog,
      logical,
      new Map(),
      afterOf(recorded),
    ))
      if (beyond.push(document._id) === DOCUMENTS_BEYOND) break;
    for (let from = 0; from < beyond.length; from += BATCH_DOCUMENTS)
      await target.deleteMany({
        _id: { $in: beyond.slice(from, from + BATCH_DOCUMENTS) as never[] },
      });
    if ((await target.countDocuments({})) === recorded.documents) return recorded;
  }
  await target.drop();
  await db.createCollection(logical.collection);
  await progress.record(logical.collection, nothingWritten);
  return nothingWritten;
}

export interface ProgressDocument {
  readonly _id: { readonly database: string; readonly collection: string };
  readonly written: Omit<Written, 'position' | 'rows'> & {
    readonly position: readonly unknown[] | null;
    readonly rows: readonly { readonly table: string; readonly rows: number }[];
  };
}

/**
 * What is known to be written of what goes by this name: a MongoDB database, or a design and its
 * source.
 */
export class Progress {
  constructor(
    private readonly records: Collection<ProgressDocument>,
    private readonly database: string,
  ) {}

  async exists(): Promise<boolean> {
    return (await this.records.countDocuments({ '_id.database': this.database }, { limit: 1 })) > 0;
  }

  async read(collection: string): Promise<Written | undefined> {
    const found = await this.records.findOne(
      { _id: { database: this.database, collection } },
      { promoteLongs: false, promoteValues: false },
    );
    if (!found) return undefined;
    const { documents, bytes, largestDocument, position, rows } = found.written;
    return {
      documents: Number(documents),
      bytes: Number(bytes),
      largestDocument: Number(largestDocument),
      position: position && position.map(sqliteValue),
      rows: Object.fromEntries(rows.map((entry) => [String(entry.table), Number(entry.rows)])),
    };
  }

  async record(collection: string, written: Written): Promise<void> {
    // Table names may hold dots and dollars: they are values here, not keys.
    const rows = Object.entries(written.rows).map(([table, n]) => ({ table, rows: n }));
    const position = written.position && written.position.map(bsonValue);
    await this.records.replaceOne(
      { _id: { database: this.database, collection } },
      { written: { ...written, rows, position } },
      { upsert: true },
    );
  }

  async forget(): Promise<void> {
    await this.records.deleteMany({ '_id.database': this.database });
  }
}

/** A scan position as BSON and back, types and all 64 bits kept. */
function bsonValue(value: SqliteValue): unknown {
  if (typeof value === 'bigint') return Long.fromBigInt(value);
  if (typeof value === 'number') return new Double(value);
  return value instanceof Uint8Array ? new Binary(value) : value;
}

function sqliteValue(value: unknown): SqliteValue {
  if (value instanceof Double) return value.value;
  return fromBson(value) as SqliteValue;
}

function migrationRecord(
  mongoDatabase: string,
  catalog: Catalog,
  written: ReadonlyMap<string, Written>,
): Migration {
  const rows = Object.fromEntries(catalog.tables.map(({ name }) => [name, 0]));
  for (const entry of written.values())
    for (const [table, n] of Object.entries(entry.rows)) rows[table] = (rows[table] ?? 0) + n;
  return {
    mongoDatabase,
    collections: [...written].map(([name, { documents, bytes, largestDocument }]) => ({
      name,
      documents,
      bytes,
      largestDocument,
    })),
    rows,
  };
}

function migrationDatabase({ prefix, catalog, design, indexes }: MigrationInput): string {
  const readable = catalog.database
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 16);
  const hash = contentHash({ source: catalog.sha256, logical: design.logical, indexes }).slice(
    0,
    12,
  );
  return `${prefix}_${readable}_${hash}`;
}

async function countsHold(db: Db, migration: Migration): Promise<boolean> {
  for (const { name, documents } of migration.collections) {
    if ((await db.collection(name).countDocuments({})) !== documents) return false;
  }
  return true;
}
