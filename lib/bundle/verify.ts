import fs from 'node:fs';
import path from 'node:path';
import { BSON, type Db, type MongoClient } from 'mongodb';
import { z } from 'zod';
import { runGuarded, GuardedError } from '../mongo/guarded';
import { compareResults, documentsToResultSet } from '../results/compare';
import { fromBson, type Value } from '../results/value';
import { pinPipeline } from '../translation/pinned-clock';
import { gunzippedLines, hashFile } from './files';
import { parsePipelineJson } from './pipeline-json';
import { restoreDatabase } from './restore';
import { signatureHolds } from './signature';

export interface VerifyOptions {
  readonly mongo: MongoClient;
  /** The publisher's key; without it the signature is checked against the key that the bundle itself names. */
  readonly publicKey?: string;
  readonly signal: AbortSignal;
  onProgress?(done: number, total: number, what: string): void;
}

export interface Verification {
  readonly draft: boolean;
  readonly files: number;
  readonly databases: number;
  readonly gold: number;
  readonly equal: number;
  /** Items whose LIMIT cuts a tie, where another engine may choose other rows: compared by number of rows. */
  readonly ties: number;
  /** Whose signature was checked: the key that was given, or the one that the bundle names itself, which anyone can replace. */
  readonly key: { readonly publicKey: string; readonly from: 'given' | 'bundle' };
  readonly problems: readonly string[];
}

const manifestSchema = z.object({
  draft: z.boolean(),
  publicKey: z.string(),
  files: z.record(z.string(), z.object({ sha256: z.string(), bytes: z.number() })),
});
const itemSchema = z.object({
  question_id: z.string(),
  db_id: z.string(),
  status: z.string(),
  MQL: z.object({ collection: z.string(), pipeline: z.array(z.unknown()) }).nullable(),
  columns: z.array(z.object({ name: z.string(), path: z.string() })),
  caveats: z.array(z.string()),
  order_sensitive: z.boolean(),
  row_count: z.number().nullable(),
  clock: z.string().optional(),
});
type BundledItem = z.infer<typeof itemSchema>;

/** Checks a bundle as a stranger would: hashes, signature, restore into an empty MongoDB, all gold against its results. */
export async function verifyBundle(folder: string, options: VerifyOptions): Promise<Verification> {
  const manifestFile = path.join(folder, 'MANIFEST.json');
  if (!fs.existsSync(manifestFile)) throw new Error(`${folder} is no bundle: it has no MANIFEST.json`);
  const bytes = fs.readFileSync(manifestFile);
  const manifest = parsed('MANIFEST.json', bytes.toString('utf8'), manifestSchema);
  if (typeof manifest === 'string') throw new Error(`${folder} is no bundle that can be verified: ${manifest}`);
  const key = options.publicKey === undefined ? { publicKey: manifest.publicKey, from: 'bundle' as const } : { publicKey: options.publicKey, from: 'given' as const };
  const problems = [...(await fileProblems(folder, manifest.files)), ...signatureProblems(folder, bytes, key.publicKey)];
  const items = readItems(folder, problems);
  const expected = await readResults(folder, problems);
  let [gold, equal, ties] = [0, 0, 0];
  const home = path.join(folder, 'databases');
  const databases = fs.existsSync(home) ? fs.readdirSync(home).sort() : [];
  if (databases.length === 0) problems.push('databases/: there is none');
  for (const [done, database] of databases.entries()) {
    options.onProgress?.(done, databases.length, database);
    const db = await restored(folder, database, options.mongo, problems);
    if (!db) continue;
    try {
      for (const item of items.filter((candidate) => candidate.db_id === database && candidate.MQL)) {
        options.signal.throwIfAborted();
        gold++;
        const verdict = await runGold(item, expected.get(`${database}/${item.question_id}`), db, options.signal);
        if (verdict === 'tie') ties++;
        else if (verdict === 'equal') equal++;
        else problems.push(`${database}/${item.question_id}: ${verdict}`);
      }
    } finally {
      await db.dropDatabase();
    }
  }
  return { draft: manifest.draft, files: Object.keys(manifest.files).length, databases: databases.length, gold, equal, ties, key, problems };
}

/** A text as JSON of this shape, or a sentence that says where it is not. */
function parsed<T>(where: string, text: string, schema: z.ZodType<T>): T | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `${where}: no JSON (${error instanceof Error ? error.message : String(error)})`;
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  return `${where}: ${issue!.path.length > 0 ? `${issue!.path.join('.')}: ` : ''}${issue!.message}`;
}

/** A database that cannot be restored is a finding of its own; the others are verified nevertheless. */
async function restored(folder: string, database: string, mongo: MongoClient, problems: string[]): Promise<Db | undefined> {
  try {
    return await restoreDatabase(path.join(folder, 'databases', database), mongo);
  } catch (error) {
    problems.push(`databases/${database}: cannot be restored: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

async function fileProblems(folder: string, files: Readonly<Record<string, { sha256: string; bytes: number }>>): Promise<string[]> {
  const problems: string[] = [];
  const sums = readSums(folder, problems);
  for (const [name, record] of Object.entries(files)) {
    const file = path.join(folder, name);
    if (!path.resolve(file).startsWith(path.resolve(folder) + path.sep)) problems.push(`${name}: lies outside the bundle`);
    else if (!fs.existsSync(file)) problems.push(`${name}: missing`);
    // What a link leads to is not in the bundle, and reading a pipe would never end.
    else if (!fs.lstatSync(file).isFile()) problems.push(`${name}: ${kindOf(fs.lstatSync(file))} instead of a file`);
    else {
      const now = await hashFile(file);
      if (now.sha256 !== record.sha256 || now.bytes !== record.bytes) problems.push(`${name}: differs from MANIFEST.json`);
      if (sums && sums.get(name) !== now.sha256) problems.push(`${name}: ${sums.has(name) ? 'differs from' : 'not in'} SHA256SUMS`);
    }
  }
  const known = new Set([...Object.keys(files), 'MANIFEST.json', 'MANIFEST.sig', 'SHA256SUMS', 'report.json']);
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const name = path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/');
    if (!entry.isDirectory() && !known.has(name)) problems.push(`${name}: ${entry.isFile() ? '' : `${kindOf(entry)}, `}not listed in MANIFEST.json`);
  }
  return problems;
}

const kindOf = (entry: { isSymbolicLink(): boolean; isDirectory(): boolean }): string => (entry.isSymbolicLink() ? 'a symbolic link' : entry.isDirectory() ? 'a folder' : 'something special');

function readSums(folder: string, problems: string[]): Map<string, string> | undefined {
  const file = path.join(folder, 'SHA256SUMS');
  if (!fs.existsSync(file)) {
    problems.push('SHA256SUMS: missing');
    return undefined;
  }
  return new Map(fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => [line.slice(66), line.slice(0, 64)]));
}

function signatureProblems(folder: string, manifest: Uint8Array, publicKey: string): string[] {
  const file = path.join(folder, 'MANIFEST.sig');
  if (!fs.existsSync(file)) return ['MANIFEST.sig: missing'];
  if (Buffer.from(publicKey, 'base64').length !== 32) return ['MANIFEST.sig: cannot be checked: a public key is 32 bytes in base64'];
  return signatureHolds(manifest, fs.readFileSync(file, 'utf8').trim(), publicKey) ? [] : ['MANIFEST.sig: the signature does not belong to MANIFEST.json and this key'];
}

function readItems(folder: string, problems: string[]): BundledItem[] {
  const home = path.join(folder, 'data');
  if (!fs.existsSync(home)) return [];
  return fs.readdirSync(home).filter((name) => name.endsWith('.jsonl')).sort().flatMap((name) =>
    fs.readFileSync(path.join(home, name), 'utf8').split('\n').flatMap((line, at) => {
      if (line === '') return [];
      const item = parsed(`data/${name}, line ${at + 1}`, line, itemSchema);
      if (typeof item !== 'string') return [item];
      problems.push(item);
      return [];
    }),
  );
}

interface ExpectedRows {
  readonly rowCount: number;
  readonly rows: readonly Record<string, unknown>[];
}

const resultSchema = z.object({ question_id: z.string(), db_id: z.string(), row_count: z.coerce.number(), rows: z.array(z.record(z.string(), z.unknown())) });

async function readResults(folder: string, problems: string[]): Promise<Map<string, ExpectedRows>> {
  const out = new Map<string, ExpectedRows>();
  const home = path.join(folder, 'results');
  if (!fs.existsSync(home)) return out;
  for (const name of fs.readdirSync(home).sort()) {
    let at = 0;
    try {
      for await (const line of gunzippedLines(path.join(home, name))) {
        at++;
        if (line === '') continue;
        const { question_id, db_id, row_count, rows } = resultSchema.parse(BSON.EJSON.parse(line, { relaxed: false }));
        out.set(`${db_id}/${question_id}`, { rowCount: row_count, rows });
      }
    } catch (error) {
      problems.push(`results/${name}${at > 0 ? `, line ${at}` : ''}: cannot be read: ${error instanceof z.ZodError ? error.issues[0]!.message : error instanceof Error ? error.message : String(error)}`);
    }
  }
  return out;
}

async function runGold(item: BundledItem, expected: ExpectedRows | undefined, db: Awaited<ReturnType<typeof restoreDatabase>>, signal: AbortSignal): Promise<string> {
  if (!expected) return 'its expected rows are missing';
  const mql = item.MQL!;
  let documents: Value[];
  try {
    const pipeline = parsePipelineJson(mql.pipeline);
    documents = (await runGuarded(db, mql.collection, item.clock === undefined ? pipeline : pinPipeline(pipeline, item.clock), { maxTimeMS: 60_000, maxRows: 200_000, maxBytes: 256 * 1024 * 1024, signal })).map(fromBson);
  } catch (error) {
    if (!(error instanceof GuardedError)) throw error;
    return `the gold pipeline does not run: ${error.message}`;
  }
  if (documents.length !== expected.rowCount) return `${expected.rowCount} rows expected, ${documents.length} found`;
  const tied = item.caveats.includes('tie') || item.caveats.includes('unordered_limit');
  // Only the first rows ship of a long result: the rest is compared by number.
  if (expected.rowCount > expected.rows.length) return item.order_sensitive && !tied ? compare(expected.rows.map(fromBson), documents.slice(0, expected.rows.length), item, tied) : 'equal';
  return compare(expected.rows.map(fromBson), documents, item, tied);
}

function compare(expected: readonly Value[], actual: readonly Value[], item: BundledItem, tied: boolean): string {
  const verdict = compareResults(documentsToResultSet(expected), documentsToResultSet(actual), { columns: 'named', extraColumns: 'refuse', order: 'bag' });
  if (verdict.kind === 'equal') return 'equal';
  return tied ? 'tie' : verdict.detail;
}
