import fs from 'node:fs';
import path from 'node:path';
import type { Db, MongoClient } from 'mongodb';
import { z } from 'zod';
import { runGuarded, GuardedError } from '../mongo/guarded';
import { asOutage } from '../mongo/outage';
import { compareResults, isInOrder, isPartOf } from '../results/compare';
import { isLegalChoice } from '../results/open-choice';
import { Unavailable } from '../results/unavailable';
import { fromBson, isValueDocument, type ResultSet, type Value } from '../results/value';
import { AMBIGUITIES } from '../translation/check/open-constructs';
import { resultDigest } from '../results/result-digest';
import { runPastStalls } from '../translation/check/past-stalls';
import { pinPipeline } from '../translation/check/pinned-clock';
import {
  itemKey,
  parseJson,
  readItems,
  readResults,
  type BundledItem,
  type BundledResult,
} from './bundled-items';
import { fileProblems, signatureProblems } from './check-files';
import { documentProblems } from './check-documents';
import { parsePipelineJson, shippedKey, textKey } from './pipeline-json';
import { restoreDatabase } from './restore';

export interface VerifyOptions {
  readonly mongo: MongoClient;
  /**
   * The publisher's key; without it the signature is checked against the key that the bundle itself
   * names.
   */
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
  /**
   * Items whose source leaves open which rows are right, and for which this engine chose others.
   */
  readonly ties: number;
  /**
   * Whose signature was checked: the key that was given, or the one that the bundle names itself,
   * which anyone can replace.
   */
  readonly key: { readonly publicKey: string; readonly from: 'given' | 'bundle' };
  readonly problems: readonly string[];
}

const manifestSchema = z.object({
  draft: z.boolean(),
  publicKey: z.string(),
  /** Lines of data/ and results/ by question file. */
  lines: z.record(z.string(), z.object({ items: z.number(), results: z.number() })).optional(),
  files: z.record(z.string(), z.object({ sha256: z.string(), bytes: z.number() })),
});

/**
 * Checks a bundle as a stranger would: hashes, signature, restore into an empty MongoDB, all gold
 * against its results.
 *
 * @throws Unavailable when MongoDB goes away or a query hits its time limit twice: the bundle is
 *   neither right nor wrong then
 */
export async function verifyBundle(folder: string, options: VerifyOptions): Promise<Verification> {
  const manifestFile = path.join(folder, 'MANIFEST.json');
  if (!fs.existsSync(manifestFile))
    throw new Error(`${folder} is no bundle: it has no MANIFEST.json`);
  const bytes = fs.readFileSync(manifestFile);
  const manifest = parseJson('MANIFEST.json', bytes.toString('utf8'), manifestSchema);
  if (typeof manifest === 'string')
    throw new Error(`${folder} is no bundle that can be verified: ${manifest}`);
  const key =
    options.publicKey === undefined
      ? { publicKey: manifest.publicKey, from: 'bundle' as const }
      : { publicKey: options.publicKey, from: 'given' as const };
  const problems = [
    ...(await fileProblems(folder, manifest.files)),
    ...signatureProblems(folder, bytes, key.publicKey),
  ];
  const items = readItems(folder, problems);
  problems.push(...itemProblems(items));
  const expected = await readResults(folder, problems);
  problems.push(...countProblems(manifest.lines, items, expected));
  let [gold, equal, ties] = [0, 0, 0];
  const home = path.join(folder, 'databases');
  const databases = fs.existsSync(home) ? fs.readdirSync(home).sort() : [];
  if (databases.length === 0) problems.push('databases/: there is none');
  problems.push(...itemsWithoutDatabase(items, databases));
  for (const [done, database] of databases.entries()) {
    options.onProgress?.(done, databases.length, database);
    const db = await restored(folder, database, options.mongo, problems);
    if (!db) continue;
    problems.push(...(await dumpProblems(folder, database)));
    try {
      for (const item of items.filter(
        (candidate) => candidate.db_id === database && candidate.MQL,
      )) {
        options.signal.throwIfAborted();
        gold++;
        const outcome = await runGold(
          item,
          expected.get(itemKey(item.split, database, item.question_id)),
          db,
          options.signal,
        );
        if (outcome.kind === 'tie') ties++;
        else if (outcome.kind === 'equal') equal++;
        else problems.push(`${database}/${item.question_id}: ${outcome.why}`);
      }
    } finally {
      await db.dropDatabase();
    }
  }
  return {
    draft: manifest.draft,
    files: Object.keys(manifest.files).length,
    databases: databases.length,
    gold,
    equal,
    ties,
    key,
    problems,
  };
}

/** What is wrong with items beside their gold. */
function itemProblems(items: readonly BundledItem[]): string[] {
  const seen = new Set<string>();
  return items.flatMap((item) => {
    const name = `data/${item.split}.jsonl: item ${item.question_id} of ${item.db_id}`;
    const key = itemKey(item.split, item.db_id, item.question_id);
    const isRepeated = seen.has(key);
    seen.add(key);
    const isTranslated = item.status === 'translated';
    return [
      ...(isRepeated ? [`${name} is repeated`] : []),
      ...(textDiffers(item) ? [`${name}: MQL_text is another query than MQL`] : []),
      ...(isTranslated !== (item.MQL !== null)
        ? [`${name} is ${item.status}, but its MQL says otherwise`]
        : []),
    ];
  });
}

function textDiffers({ MQL, MQL_text: text }: BundledItem): boolean {
  if (text === undefined) return false;
  if (MQL === null || text === null) return (MQL === null) !== (text === null);
  return shippedKey(MQL) !== textKey(text);
}

/** Lines that were taken out or added. */
function countProblems(
  lines: z.infer<typeof manifestSchema>['lines'],
  items: readonly BundledItem[],
  results: ReadonlyMap<string, BundledResult>,
): string[] {
  const known = new Set(items.map((item) => itemKey(item.split, item.db_id, item.question_id)));
  const strays = [...results.keys()].filter((key) => !known.has(key));
  const counts = Object.entries(lines ?? {}).flatMap(([split, expected]) => {
    const found = items.filter((item) => item.split === split).length;
    const rows = [...results.keys()].filter(
      (key) => (JSON.parse(key) as string[])[0] === split,
    ).length;
    return [
      ...(found === expected.items
        ? []
        : [`data/${split}.jsonl: ${found} items instead of ${expected.items}`]),
      ...(rows === expected.results
        ? []
        : [`results/${split}.jsonl.gz: ${rows} lines instead of ${expected.results}`]),
    ];
  });
  return [
    ...strays.map((key) => `results/: rows of an item that does not exist: ${key}`),
    ...counts,
  ];
}

const itemsWithoutDatabase = (
  items: readonly BundledItem[],
  databases: readonly string[],
): string[] =>
  items
    .filter((item) => !databases.includes(item.db_id))
    .map(
      (item) =>
        `data/${item.split}.jsonl: item ${item.question_id} is of ${item.db_id}, which is not in ` +
        'databases/',
    );

/** Dumps hold the documents that were restored from Extended JSON. */
async function dumpProblems(folder: string, database: string): Promise<string[]> {
  const home = `databases/${database}`;
  if (!fs.existsSync(path.join(folder, home, 'dump'))) return [];
  const names = fs.readdirSync(path.join(folder, home, 'ejson')).sort();
  const problems: string[] = [];
  for (const name of names) {
    const collection = name.replace(/\.jsonl\.gz$/, '');
    try {
      problems.push(...(await documentProblems(folder, home, collection)));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      problems.push(`${home}/dump/${collection}.bson.gz: cannot be read: ${reason}`);
    }
  }
  return problems;
}

/**
 * A database that cannot be restored is a finding of its own; the others are verified nevertheless.
 */
async function restored(
  folder: string,
  database: string,
  mongo: MongoClient,
  problems: string[],
): Promise<Db | undefined> {
  try {
    return await restoreDatabase(path.join(folder, 'databases', database), mongo);
  } catch (error) {
    const outage = asOutage(error);
    if (outage instanceof Unavailable) throw outage;
    problems.push(
      `databases/${database}: cannot be restored: ` +
        `${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}

type Outcome =
  | { readonly kind: 'equal' }
  | { readonly kind: 'tie' }
  | { readonly kind: 'wrong'; readonly why: string };

const EQUAL: Outcome = { kind: 'equal' };
const TIE: Outcome = { kind: 'tie' };
const wrong = (why: string): Outcome => ({ kind: 'wrong', why });

async function runGold(
  item: BundledItem,
  expected: BundledResult | undefined,
  db: Db,
  signal: AbortSignal,
): Promise<Outcome> {
  if (!expected) return wrong('its expected rows are missing');
  if (item.row_count !== expected.rowCount) {
    return wrong(`data says ${item.row_count} rows, results ${expected.rowCount}`);
  }
  let documents: Value[];
  try {
    const pipeline = parsePipelineJson(item.MQL!.pipeline);
    const pinned = item.clock === undefined ? pipeline : pinPipeline(pipeline, item.clock);
    const limits = { ...GOLD_LIMITS, signal };
    const run = () => runGuarded(db, item.MQL!.collection, pinned, limits);
    documents = (await runPastStalls(run)).map(fromBson);
  } catch (error) {
    if (!(error instanceof GuardedError)) throw error;
    return wrong(`the gold pipeline does not run: ${error.message}`);
  }
  return compareGold(item, expected, documents);
}

const GOLD_LIMITS = { maxTimeMS: 60_000, maxRows: 200_000, maxBytes: 256 * 1024 * 1024 };

/**
 * Compares number, columns and values of the rows, their order where it counts (up to rows with
 * equal sort keys), and the digest, which stands for the rows of a long result that do not ship.
 */
function compareGold(
  item: BundledItem,
  expected: BundledResult,
  documents: readonly Value[],
): Outcome {
  const left = inColumns(item, expected.rows.map(fromBson));
  const right = inColumns(item, documents);
  const [unknown] = [...left.extra, ...right.extra];
  if (unknown !== undefined) return wrong(`no column is named ${unknown}`);
  const isWhole = expected.rows.length === expected.rowCount;
  const isDigestOf = (rows: ResultSet): boolean =>
    resultDigest(rows, item.order_sensitive) === (item.result_digest ?? undefined);
  if (isWhole && item.result_digest && !isDigestOf(left)) {
    return wrong('the expected rows do not have the digest that the item names');
  }
  const differs = (why: string): Outcome => {
    if (!isAmbiguous(item.caveats)) return wrong(why);
    return isChoice(item, expected, left.rows, right.rows)
      ? TIE
      : wrong(`${why}; no choice of the rows that tie gives these`);
  };
  if (documents.length !== expected.rowCount) {
    return differs(`${expected.rowCount} rows expected, ${documents.length} found`);
  }
  if (!isWhole) return compareFirstRows(item, expected, left, right, isDigestOf(right), differs);
  const order = item.order_sensitive ? { tied: expected.tied ?? [] } : 'bag';
  const verdict = compareResults(left, right, { columns: 'named', extraColumns: 'refuse', order });
  return verdict.kind === 'equal' ? EQUAL : differs(verdict.detail);
}

/** Where the bundle does not say what is open, any answer may be legal. */
function isChoice(
  item: BundledItem,
  { rowCount, choices, tied = [] }: BundledResult,
  expected: ResultSet['rows'],
  actual: ResultSet['rows'],
): boolean {
  if (!choices) return true;
  const known = choices.map(({ rows, among }) => ({
    rows,
    among: inColumns(item, among.map(fromBson)).rows,
  }));
  return actual.length === rowCount && isLegalChoice(expected, actual, known, tied);
}

/**
 * Another digest is still equal where floats differ within the tolerance, or where ties come in
 * another order.
 */
function compareFirstRows(
  item: BundledItem,
  { tied = [] }: BundledResult,
  { rows: expected }: ResultSet,
  { rows: actual }: ResultSet,
  isDigestEqual: boolean,
  differs: (why: string) => Outcome,
): Outcome {
  const hasFloats = expected.some((row) => row.some((value) => typeof value === 'number'));
  const mayDiffer = !item.result_digest || hasFloats || tied.length > 0;
  if (!isDigestEqual && !mayDiffer) return differs('the rows do not have the expected digest');
  const matches = item.order_sensitive
    ? isInOrder(expected, actual, tied)
    : isPartOf(expected, actual);
  const count = expected.length;
  return matches ? EQUAL : differs(`the first ${count} rows are others, or in another order`);
}

/**
 * Documents as rows of the item's columns. `extra`: fields that hold something and are no column of
 * the item.
 */
function inColumns(
  item: BundledItem,
  documents: readonly Value[],
): ResultSet & { readonly extra: readonly string[] } {
  const paths = item.columns.map((column) => column.path);
  const known = new Set(paths);
  const extra = new Set<string>();
  const rows = documents.map((document) => {
    if (!isValueDocument(document)) return paths.map(() => null);
    for (const name of Object.keys(document)) if (!known.has(name)) extra.add(name);
    return paths.map((name) => (Object.hasOwn(document, name) ? document[name]! : null));
  });
  return { columns: item.columns.map((column) => column.name), rows, extra: [...extra] };
}

/** Caveats of gold whose source leaves open which rows are right. */
const AMBIGUOUS = new Set<string>(AMBIGUITIES);
const isAmbiguous = (caveats: readonly string[]): boolean =>
  caveats.some((caveat) => AMBIGUOUS.has(caveat));
