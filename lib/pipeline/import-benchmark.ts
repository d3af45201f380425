import { randomUUID } from 'node:crypto';
import type { ImportProblem, SourceBenchmark } from '../sqlite/benchmark';
import { audited } from '../db/audit';
import type { BlobStore } from '../db/blob-store';
import { isUniqueViolation, pgText, type Database, type Tx } from '../db/database';
import { notify } from '../db/notify';
import { encodeContent } from './content';
import { requestStage } from './schedule';
import { defaultSettings, type BenchmarkSettings } from './stages/stage';

export interface ImportOptions {
  readonly name: string;
  /** A user's id, or the name of the program that imports. */
  readonly actor: string;
  readonly settings?: BenchmarkSettings;
  readonly agent?: string;
  /** Sets the agents to work at once. */
  readonly start?: boolean;
  readonly progress?: (bytes: number, total: number) => void;
  readonly signal?: AbortSignal;
}

export class BenchmarkNameTaken extends Error {
  constructor(name: string) {
    super(`there is already a benchmark named "${name}": choose another name`);
  }
}

/**
 * Files of the benchmark are damaged or no databases: a benchmark without them would be another
 * one.
 */
export class DatabasesUnreadable extends Error {
  constructor(unreadable: readonly ImportProblem[]) {
    const named = unreadable.slice(0, 5).map(({ subject, detail }) => `${subject}: ${detail}`);
    const count = unreadable.length === 1 ? 'one database' : `${unreadable.length} databases`;
    const more = unreadable.length > 5 ? '; …' : '';
    super(
      `${count} cannot be read. ${named.join('; ')}${more}. Repair the files, or take them out ` +
        'of the folder.',
    );
  }
}

/**
 * Stores a benchmark: all of it or nothing. Files go into the blob store first, where nothing
 * refers to them yet; then one transaction makes the benchmark.
 */
export async function importBenchmark(
  db: Database,
  blobs: BlobStore,
  source: SourceBenchmark,
  options: ImportOptions,
): Promise<string> {
  if (await db.prisma.benchmark.findUnique({ where: { name: options.name } }))
    throw new BenchmarkNameTaken(options.name);
  const unreadable = source.problems.filter(({ kind }) => kind === 'database_unreadable');
  if (unreadable.length > 0) throw new DatabasesUnreadable(unreadable);
  const stored: Stored = {
    databases: await storeDatabases(blobs, source, options),
    questionFiles: await storeQuestions(blobs, source),
  };
  const benchmarkId = randomUUID();

  try {
    await audited(db, async (tx) => {
      await createRows(tx, benchmarkId, source, stored, options);
      await notify(tx, { type: 'benchmark', benchmarkId });
      const detail = {
        name: options.name,
        kind: source.kind,
        databases: stored.databases.map(({ name, sha256 }) => ({ name, sha256 })),
        items: source.items.length,
        problems: source.problems.length,
      };
      return {
        result: undefined,
        audit: [
          {
            chain: benchmarkId,
            actor: options.actor,
            action: 'import_benchmark',
            subject: `benchmark:${benchmarkId}`,
            detail,
          },
        ],
      };
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw new BenchmarkNameTaken(options.name);
    throw error;
  }
  return benchmarkId;
}

type StoredDatabase = SourceBenchmark['databases'][number] & {
  readonly id: string;
  readonly blobHash: string;
};

interface StoredQuestions {
  readonly split: string;
  readonly sha256: string;
  readonly items: number;
  readonly blob: string;
}

/** What of the benchmark is in the blob store. */
interface Stored {
  readonly databases: readonly StoredDatabase[];
  readonly questionFiles: readonly StoredQuestions[];
}

async function storeDatabases(
  blobs: BlobStore,
  source: SourceBenchmark,
  options: ImportOptions,
): Promise<StoredDatabase[]> {
  const total = source.databases.reduce((sum, database) => sum + database.bytes, 0);
  let stored = 0;
  const databases: StoredDatabase[] = [];
  for (const database of source.databases) {
    options.signal?.throwIfAborted();
    const { hash, bytes } = await blobs.putFile(database.path, (sent) =>
      options.progress?.(stored + sent, total),
    );
    if (hash !== database.sha256)
      throw new Error(`${database.name}: the file changed while it was imported`);
    stored += bytes;
    databases.push({ ...database, id: randomUUID(), blobHash: hash });
  }
  return databases;
}

async function storeQuestions(
  blobs: BlobStore,
  { questionFiles }: SourceBenchmark,
): Promise<StoredQuestions[]> {
  const stored: StoredQuestions[] = [];
  for (const { split, path, sha256, items } of questionFiles) {
    stored.push({ split, sha256, items, blob: (await blobs.putFile(path)).hash });
  }
  return stored;
}

/** The benchmark, its databases and items, and where the agents begin. */
async function createRows(
  tx: Tx,
  benchmarkId: string,
  source: SourceBenchmark,
  stored: Stored,
  options: ImportOptions,
): Promise<void> {
  await tx.benchmark.create({
    data: {
      id: benchmarkId,
      name: options.name,
      kind: source.kind,
      agent: options.agent ?? 'builtin',
      mongoPrefix: `b${benchmarkId.replaceAll('-', '').slice(0, 12)}_`,
      settings: new Uint8Array(encodeContent(options.settings ?? defaultSettings)),
      questionFiles: new Uint8Array(encodeContent(stored.questionFiles)),
      problems: new Uint8Array(encodeContent(source.problems)),
    },
  });
  await tx.sourceDatabase.createMany({
    data: stored.databases.map(({ id, name, sha256, bytes, blobHash, descriptions }) => ({
      id,
      benchmarkId,
      name,
      sha256,
      bytes: BigInt(bytes),
      blobHash,
      descriptions: new Uint8Array(encodeContent(descriptions)),
    })),
  });
  const idOf = new Map(stored.databases.map(({ name, id }) => [name, id]));
  const rows = source.items.map((item, position) => ({
    benchmarkId,
    databaseId: idOf.get(item.database)!,
    questionId: item.questionId,
    split: item.split,
    position,
    difficulty: item.difficulty === null ? null : pgText(item.difficulty),
    title: pgText(item.question),
    content: new Uint8Array(encodeContent(item)),
  }));
  for (let at = 0; at < rows.length; at += 500)
    await tx.item.createMany({ data: rows.slice(at, at + 500) });
  if (options.start ?? true)
    for (const { id } of stored.databases)
      await requestStage(tx, { databaseId: id, stage: 'profile', only: null });
}
