import fs from 'node:fs';
import path from 'node:path';
import { BSON, type Db, type MongoClient } from 'mongodb';
import { designMarkdown } from '../design/document/describe-design';
import { storedTypes } from '../design/model/bson-types';
import { logicalCsv } from '../design/logical/logical-csv';
import { relaxedJson } from '../results/extended-json';
import { sourceIdOf } from '../sqlite/benchmark';
import { QueryProcess } from '../sqlite/query/query-process';
import type { KnownResults } from '../translation/check/known-results';
import type { IndexDesign } from '../design/model/document-design';
import { bundleCard } from './card';
import type { BundleContent, BundleDatabase } from './content';
import { BundleFiles } from './files';
import { jsonSchema } from './json-schema';
import { leftOut } from './left-out';
import { migrateScript } from './migrate-script';
import { readBack, type WrittenItem } from './read-back';
import { restoreDatabase } from './restore';
import type { SigningKey } from './signature';
import { type ItemLines, itemLines } from './item-lines';

export interface ExportOptions {
  readonly out: string;
  readonly mongo: MongoClient;
  readonly key: SigningKey;
  readonly signal: AbortSignal;
  /**
   * What this process checked on the migrations: good for a draft's gold. What is finalised is run
   * again, all of it.
   */
  readonly known?: KnownResults;
  onProgress?(done: number, total: number, what: string): void;
}

export interface ExportOutcome {
  /**
   * Of a draft: where it does not read back as what was exported. A finalised bundle is not written
   * then.
   */
  readonly faults: readonly string[];
}

/**
 * The bundle was not written: its own gold does not score 1.0, or it is unfinished and no draft was
 * asked for.
 */
export class ExportRefused extends Error {
  constructor(readonly missing: readonly string[]) {
    super(
      'the bundle was not written; still ' +
        `missing:\n${missing.map((line) => `  - ${line}`).join('\n')}`,
    );
  }
}

/**
 * What was written reads as something else: a fault of the export itself, never of the benchmark.
 */
export class ReadBackFailed extends Error {
  constructor(readonly faults: readonly string[]) {
    const list = faults
      .slice(0, 20)
      .map((line) => `  - ${line}`)
      .join('\n');
    super(
      `the bundle was not written, because it does not read back as what was exported:\n${list}`,
    );
  }
}

/**
 * Writes a bundle in the layout of BUNDLE.md. A finalised one is certified on the bytes that ship:
 * every collection is restored from the written files into an empty database, and every gold
 * pipeline is run there against the source. Every file is read back and compared with what was
 * meant. The folder appears when it is complete. Exporting twice gives identical bytes.
 */
export async function exportBundle(
  content: BundleContent,
  options: ExportOptions,
): Promise<ExportOutcome> {
  const partial = `${options.out}.partial-${process.pid}`;
  if (content.databases.length === 0 && content.missing === undefined)
    throw new ExportRefused(['the benchmark has no database']);
  fs.rmSync(partial, { recursive: true, force: true });
  assertWritable(options.out);
  try {
    const files = new BundleFiles(partial);
    const failures: string[] = [];
    const written: WrittenItem[] = [];
    const items = new Map<string, string[]>();
    const results = new Map<string, string[]>();
    const total = content.databases.length;
    for (const [done, database] of content.databases.entries()) {
      options.onProgress?.(done, total, database.source.name);
      await writeDatabase(files, database, options.mongo.db(database.migration.mongoDatabase));
      const lines = await writeItems(files, database, content.missing !== undefined, options);
      for (const { split, line, result, failure, written: item } of lines) {
        written.push(item);
        items.set(split, [...(items.get(split) ?? []), line]);
        if (result) results.set(split, [...(results.get(split) ?? []), result]);
        if (failure) failures.push(failure);
      }
    }
    if (failures.length > 0 && content.missing === undefined) throw new ExportRefused(failures);
    for (const [split, lines] of items)
      await files.write(`data/${split}.jsonl`, lines.map((line) => `${line}\n`).join(''));
    for (const [split, lines] of results)
      await files.write(`results/${split}.jsonl.gz`, lines.map((line) => `${line}\n`).join(''));
    const counts = lineCounts(items, results);
    await writeFront(files, content, options.key, failures, counts);
    const { publicKey } = options.key;
    const { databases } = content;
    const faults = await readBack(partial, {
      databases,
      items: written,
      files: files.records,
      publicKey,
    });
    if (faults.length > 0 && content.missing === undefined) throw new ReadBackFailed(faults);
    // A draft keeps the work of hours, and says in its front what is wrong with it.
    if (faults.length > 0)
      await writeFront(files, content, options.key, [...failures, ...faults], counts);
    fs.rmSync(options.out, { recursive: true, force: true });
    fs.renameSync(partial, options.out);
    return { faults };
  } finally {
    fs.rmSync(partial, { recursive: true, force: true });
  }
}

/**
 * Makes sure that a bundle can be written there, by writing beside it: hours of work should not end
 * at a folder that nobody may write to. Throws with the reason; leaves nothing behind but the
 * folders above.
 */
export function assertWritable(out: string): void {
  const target = path.resolve(out);
  if (fs.existsSync(target)) {
    if (!fs.statSync(target).isDirectory()) throw new Error(`${out} is a file; choose a folder`);
    const inside = fs.readdirSync(target);
    if (inside.length > 0 && !inside.includes('MANIFEST.json') && !inside.includes('report.json'))
      throw new Error(`${out} holds something else than a bundle; choose an empty folder`);
  }
  const trial = `${target}.trial-${process.pid}`;
  try {
    makeFolders(path.dirname(target));
    fs.mkdirSync(trial);
    fs.writeFileSync(path.join(trial, 'trial'), '');
    fs.accessSync(fs.existsSync(target) ? target : trial, fs.constants.W_OK);
  } catch (error) {
    throw new Error(
      `${out} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    if (fs.existsSync(trial)) fs.rmSync(trial, { recursive: true });
  }
}

/**
 * One folder after the other: node's own recursive call never returns where a file system like
 * /proc says ENOENT.
 */
function makeFolders(folder: string): void {
  if (fs.existsSync(folder)) return;
  makeFolders(path.dirname(folder));
  fs.mkdirSync(folder);
}

async function writeDatabase(files: BundleFiles, database: BundleDatabase, db: Db): Promise<void> {
  const home = `databases/${database.source.name}`;
  await files.write(`${home}/conceptual.md`, designMarkdown(database.conceptual));
  await files.json(`${home}/design.json`, {
    conceptual: database.conceptual,
    logical: database.logical,
  });
  await files.json(`${home}/indexes.json`, indexesOf(database.indexes));
  await files.write(`${home}/migrate.mjs`, await migrateScript());
  for (const logical of database.logical) {
    await files.write(
      `${home}/logical/${logical.collection}.csv`,
      logicalCsv(logical, storedTypes(database.profile)),
    );
    await files.json(
      `${home}/json_schema/${logical.collection}.json`,
      jsonSchema(logical, database.profile),
    );
    const collection = db.collection(logical.collection);
    await files.write(
      `${home}/ejson/${logical.collection}.jsonl.gz`,
      ejsonLines(
        collection.find({}, { ...sourceOrder, promoteValues: false, promoteLongs: false }),
      ),
    );
    await files.write(
      `${home}/dump/${logical.collection}.bson.gz`,
      rawDocuments(db, logical.collection),
    );
    await files.json(
      `${home}/dump/${logical.collection}.metadata.json`,
      dumpMetadata(logical.collection, database.indexes),
    );
  }
  await files.json(
    `${home}/validation/collection.json`,
    relaxedJson(database.validation.collection),
  );
  await files.json(
    `${home}/validation/cross_collection.json`,
    relaxedJson(database.validation.crossCollection),
  );
  await files.json(`${home}/validation/table.json`, relaxedJson(database.validation.table));
}

// Documents ship in the order in which they were inserted, which is the source's: gold that SQLite
// answers by scan order (a bare column beside an aggregate, a tie) then meets the same rows first.
const sourceOrder = { hint: { $natural: 1 } } as const;

const indexesOf = (indexes: IndexDesign): Record<string, unknown[]> =>
  Object.fromEntries(
    Object.entries(indexes).map(([collection, list]) => [
      collection,
      list.map(({ key, unique }) => ({ key, ...(unique ? { unique } : {}) })),
    ]),
  );

async function* ejsonLines(documents: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const document of documents)
    yield `${BSON.EJSON.stringify(document, { relaxed: false })}\n`;
}

async function* rawDocuments(db: Db, collection: string): AsyncGenerator<Uint8Array> {
  const cursor = db.collection(collection).find({}, { ...sourceOrder, raw: true });
  for await (const raw of cursor) yield raw as unknown as Uint8Array;
}

/** What `mongorestore` reads beside a dump. */
const dumpMetadata = (collection: string, indexes: IndexDesign): unknown => ({
  indexes: [
    { v: 2, key: { _id: 1 }, name: '_id_' },
    ...(indexes[collection] ?? []).map(({ key, unique }) => ({
      v: 2,
      key,
      name: Object.entries(key).flat().join('_'),
      ...(unique ? { unique } : {}),
    })),
  ],
  collectionName: collection,
  type: 'collection',
  options: {},
});

async function writeItems(
  files: BundleFiles,
  database: BundleDatabase,
  draft: boolean,
  options: ExportOptions,
): Promise<ItemLines[]> {
  const queries = QueryProcess.borrow();
  // A draft's gold was checked when it was made; what is finalised is checked again on the bytes
  // that ship.
  const restored = draft
    ? undefined
    : await restoreDatabase(
        path.join(files.root, 'databases', database.source.name),
        options.mongo,
      );
  const db = restored ?? options.mongo.db(database.migration.mongoDatabase);
  try {
    const out: ItemLines[] = [];
    for (const entry of database.items) {
      options.signal.throwIfAborted();
      out.push(
        await itemLines(
          entry,
          database,
          db,
          queries,
          options.signal,
          draft ? options.known : undefined,
        ),
      );
    }
    return out;
  } finally {
    queries.giveBack();
    await restored?.dropDatabase();
  }
}

type LineCounts = Readonly<Record<string, { readonly items: number; readonly results: number }>>;

/** By question file, so that a line that was taken out is missed. */
const lineCounts = (
  items: ReadonlyMap<string, readonly string[]>,
  results: ReadonlyMap<string, readonly string[]>,
): LineCounts =>
  Object.fromEntries(
    [...items].map(([split, lines]) => [
      split,
      { items: lines.length, results: results.get(split)?.length ?? 0 },
    ]),
  );

async function writeFront(
  files: BundleFiles,
  content: BundleContent,
  key: SigningKey,
  failures: readonly string[],
  counts: LineCounts,
): Promise<void> {
  const draft = content.missing !== undefined;
  const missing = [...(content.missing ?? []), ...failures];
  await files.write('VERSION', `${content.toolVersion}${draft ? ' DRAFT' : ''}\n`);
  await files.write(
    'LICENSE',
    'The questions, SQL and data derive from the source benchmark and stay under its licence ' +
      '(BIRD and Spider: CC BY-SA 4.0,\nhttps://creativecommons.org/licenses/by-sa/4.0/). What ' +
      'this bundle adds is under the same licence.\n',
  );
  await files.write('README.md', bundleCard(content, missing));
  const lines = (rows: readonly unknown[]): string =>
    rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  await files.write('provenance/decisions.jsonl', lines(content.provenance.decisions));
  await files.write('provenance/agent_runs.jsonl', lines(content.provenance.agentRuns));
  await files.write(
    'provenance/effort.csv',
    [
      'database,gate,minutes',
      ...content.provenance.effort.map(
        (row) => `${row.database},${row.gate},${row.minutes.toFixed(2)}`,
      ),
    ].join('\n') + '\n',
  );
  await files.json('provenance/audit_head.json', content.provenance.auditHead);
  const defects = content.databases.flatMap((database) =>
    database.items
      .filter((entry) => entry.caveats.includes('source_defect'))
      .map((entry) => ({
        split: entry.item.split,
        db_id: entry.item.database,
        question_id: sourceIdOf(entry.item),
        defects: entry.defects,
        reason: entry.reason?.text ?? null,
      })),
  );
  await files.write('provenance/source_defects.jsonl', lines(defects));
  await files.write('provenance/left_out.jsonl', lines(leftOut(content)));
  await files.json('MANIFEST.json', {
    bundle: content.name,
    draft,
    ...(draft ? { missing } : {}),
    tool: content.toolVersion,
    engine: content.engine,
    sources: content.databases.map(({ source }) => ({
      database: source.name,
      sha256: source.sha256,
      bytes: source.bytes,
    })),
    questions: content.questionFiles.map(({ split, sha256, items }) => ({ split, sha256, items })),
    lines: counts,
    audit: content.provenance.auditHead,
    publicKey: key.publicKey,
    files: Object.fromEntries(files.records),
  });
  const manifest = fs.readFileSync(path.join(files.root, 'MANIFEST.json'));
  await files.write('MANIFEST.sig', `${key.sign(manifest)}\n`);
  await files.write(
    'SHA256SUMS',
    [...files.records].map(([name, { sha256 }]) => `${sha256}  ${name}\n`).join(''),
  );
}
