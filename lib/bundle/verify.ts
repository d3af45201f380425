import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { createGunzip } from 'node:zlib';
import { BSON, type MongoClient } from 'mongodb';
import { z } from 'zod';
import { runGuarded, GuardedError } from '../mongo/guarded';
import { compareResults, documentsToResultSet } from '../results/compare';
import { fromBson, type Value } from '../results/value';
import { pinPipeline } from '../translation/pinned-clock';
import { hashFile } from './files';
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
  const manifest = manifestSchema.parse(JSON.parse(bytes.toString('utf8')));
  const problems = [...(await fileProblems(folder, manifest.files)), ...signatureProblems(folder, bytes, options.publicKey ?? manifest.publicKey)];
  const items = readItems(folder);
  const expected = await readResults(folder);
  let [gold, equal, ties] = [0, 0, 0];
  const home = path.join(folder, 'databases');
  const databases = fs.existsSync(home) ? fs.readdirSync(home).sort() : [];
  if (databases.length === 0) problems.push('databases/: there is none');
  for (const [done, database] of databases.entries()) {
    options.onProgress?.(done, databases.length, database);
    const db = await restoreDatabase(path.join(folder, 'databases', database), options.mongo);
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
  return { draft: manifest.draft, files: Object.keys(manifest.files).length, databases: databases.length, gold, equal, ties, problems };
}

async function fileProblems(folder: string, files: Readonly<Record<string, { sha256: string; bytes: number }>>): Promise<string[]> {
  const problems: string[] = [];
  const sums = new Map(
    fs.readFileSync(path.join(folder, 'SHA256SUMS'), 'utf8').split('\n').filter(Boolean).map((line) => [line.slice(66), line.slice(0, 64)] as const),
  );
  for (const [name, record] of Object.entries(files)) {
    const file = path.join(folder, name);
    if (!path.resolve(file).startsWith(path.resolve(folder) + path.sep)) problems.push(`${name}: lies outside the bundle`);
    else if (!fs.existsSync(file)) problems.push(`${name}: missing`);
    else {
      const now = await hashFile(file);
      if (now.sha256 !== record.sha256 || now.bytes !== record.bytes) problems.push(`${name}: differs from MANIFEST.json`);
      if (sums.get(name) !== now.sha256) problems.push(`${name}: differs from SHA256SUMS`);
    }
  }
  const known = new Set([...Object.keys(files), 'MANIFEST.json', 'MANIFEST.sig', 'SHA256SUMS', 'report.json']);
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const name = path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/');
    if (entry.isFile() && !known.has(name)) problems.push(`${name}: not listed in MANIFEST.json`);
  }
  return problems;
}

function signatureProblems(folder: string, manifest: Uint8Array, publicKey: string): string[] {
  const file = path.join(folder, 'MANIFEST.sig');
  if (!fs.existsSync(file)) return ['MANIFEST.sig: missing'];
  return signatureHolds(manifest, fs.readFileSync(file, 'utf8').trim(), publicKey) ? [] : ['MANIFEST.sig: the signature does not belong to MANIFEST.json and this key'];
}

function readItems(folder: string): BundledItem[] {
  const home = path.join(folder, 'data');
  if (!fs.existsSync(home)) return [];
  const lines = fs.readdirSync(home).filter((name) => name.endsWith('.jsonl')).sort().flatMap((name) => fs.readFileSync(path.join(home, name), 'utf8').split('\n').filter(Boolean));
  return lines.map((line) => itemSchema.parse(JSON.parse(line)));
}

interface ExpectedRows {
  readonly rowCount: number;
  readonly rows: readonly Record<string, unknown>[];
}

async function readResults(folder: string): Promise<Map<string, ExpectedRows>> {
  const out = new Map<string, ExpectedRows>();
  const home = path.join(folder, 'results');
  if (!fs.existsSync(home)) return out;
  for (const name of fs.readdirSync(home).sort()) {
    const lines = readline.createInterface({ input: fs.createReadStream(path.join(home, name)).pipe(createGunzip()), crlfDelay: Infinity });
    for await (const line of lines) {
      if (line === '') continue;
      const { question_id, db_id, row_count, rows } = BSON.EJSON.parse(line, { relaxed: false }) as { question_id: string; db_id: string; row_count: number; rows: Record<string, unknown>[] };
      out.set(`${db_id}/${question_id}`, { rowCount: Number(row_count), rows });
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
