import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { BSON, MongoClient, MongoServerError, type Db, type Document } from 'mongodb';
import { start as startMongoServer } from 'mongo-embedded';
import type { Command } from '../command';

const { EJSON } = BSON;
const OWN_CASES = 'packages/mongo-embedded/cases/aggregation';

/** One line of a case file, with typed BSON values. */
interface Case {
  area: string;
  name: string;
  documents: Document[];
  pipeline: Document[];
  collections?: Record<string, Document[]>;
  collation?: Document;
  expected?: Document[];
  error?: boolean;
  /** MongoDB's number of the error, where the case says which it must be. */
  code?: number;
  confirmed?: boolean;
}
interface Outcome {
  file: string;
  area: string;
  name: string;
  confirmed: boolean;
  passed: boolean;
  detail?: string;
}

export const command: Command = {
  summary: 'run aggregation cases against any MongoDB-compatible server',
  help: `usage: npm run aptmql -- conformance [<cases.jsonl>…] [--uri URI] [--json] [--all]

Runs aggregation cases and compares results by value, type and key order.

  <cases.jsonl>  files of cases (default: our own, in ${OWN_CASES}/)
  --uri URI      server to run against (default: an embedded server that is started for this)
  --all          print every case, not only those that fail
  --json         print {"total", "passed", "confirmed", "confirmedPassed", "failures"} instead of text

Exit status 1 when a case fails.`,
  async run(args) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { uri: { type: 'string' }, json: { type: 'boolean' }, all: { type: 'boolean' } },
    });
    const files = positionals.length > 0 ? positionals : await ownCases();
    const outcomes = await withServer(values.uri, (db) => runFiles(files, db));
    report(outcomes, values.json === true, values.all === true);
    return outcomes.every((o) => o.passed) ? 0 : 1;
  },
};

async function ownCases(): Promise<string[]> {
  const names = await readdir(OWN_CASES);
  return names
    .filter((n) => n.endsWith('.jsonl'))
    .sort()
    .map((n) => path.join(OWN_CASES, n));
}

async function withServer<T>(uri: string | undefined, work: (db: Db) => Promise<T>): Promise<T> {
  const folder = uri ? undefined : await mkdtemp(path.join(os.tmpdir(), 'aptmql-conformance-'));
  const server = folder ? await startMongoServer({ dataDir: folder }) : undefined;
  try {
    const client = new MongoClient(uri ?? (server as { uri: string }).uri, {
      promoteValues: false,
      promoteLongs: false,
      promoteBuffers: false,
      bsonRegExp: true,
      serverSelectionTimeoutMS: 10_000,
    });
    try {
      await client.connect();
      const db = client.db(`conformance_${process.pid}_${Date.now()}`);
      try {
        return await work(db);
      } finally {
        await db.dropDatabase();
      }
    } finally {
      await client.close();
    }
  } finally {
    await server?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  }
}

async function runFiles(files: readonly string[], db: Db): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const file of files) {
    const lines = (await readFile(file, 'utf8')).split('\n');
    for (const [i, line] of lines.entries()) {
      if (line.trim() === '' || line.startsWith('//')) continue;
      let parsed: Case;
      try {
        parsed = EJSON.parse(line, { relaxed: false }) as unknown as Case;
        assertDates(parsed);
      } catch (error) {
        throw new Error(
          `${file}:${i + 1} is not Extended JSON: ` +
            `${error instanceof Error ? error.message : String(error)}`,
        );
      }
      outcomes.push({
        file: path.basename(file),
        area: parsed.area,
        name: parsed.name,
        confirmed: parsed.confirmed === true,
        ...(await runCase(parsed, db)),
      });
    }
  }
  return outcomes;
}

const MADE_ID = 'made-for-this-case-';

async function fill(db: Db, name: string, documents: readonly Document[]): Promise<void> {
  await db.collection(name).drop();
  await db.createCollection(name);
  if (documents.length === 0) return;
  const withIds = documents.map((d, i) => ('_id' in d ? d : { _id: `${MADE_ID}${i}`, ...d }));
  await db.collection(name).insertMany(withIds as Document[]);
}

async function runCase(c: Case, db: Db): Promise<{ passed: boolean; detail?: string }> {
  await fill(db, 'main', c.documents);
  for (const [name, documents] of Object.entries(c.collections ?? {}))
    await fill(db, name, documents);
  let results: Document[];
  try {
    const generates = c.pipeline[0] !== undefined && '$documents' in c.pipeline[0];
    const options = c.collation
      ? { collation: EJSON.deserialize(c.collation) as { locale: string } }
      : {};
    const cursor = generates
      ? db.aggregate(c.pipeline, options)
      : db.collection('main').aggregate(c.pipeline, options);
    results = await cursor.toArray();
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error;
    if (c.error) {
      const code = Number(error.code);
      return c.code === undefined || code === Number(c.code)
        ? { passed: true }
        : {
            passed: false,
            detail: `expected error ${Number(c.code)}, got ${code}: ${error.message}`,
          };
    }
    return { passed: false, detail: `error ${String(error.code)}: ${error.message}` };
  }
  const got = results.map((d) => show(withoutMadeId(d)));
  if (c.error) return { passed: false, detail: `an error was expected, got ${got.join(' ')}` };
  const wanted = (c.expected ?? []).map(show);
  if (got.length === wanted.length && got.every((g, i) => g === wanted[i])) return { passed: true };
  return {
    passed: false,
    detail:
      `expected ${wanted.join(' ') || '(nothing)'}\n           got ` +
      `${got.join(' ') || '(nothing)'}`,
  };
}

/** Ids that were only made for storing are no part of a result, wherever they turn up. */
function withoutMadeId<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutMadeId) as T;
  if (
    typeof value !== 'object' ||
    value === null ||
    Object.getPrototypeOf(value) !== Object.prototype
  )
    return value;
  const kept = Object.entries(value).filter(
    ([key, v]) => !(key === '_id' && typeof v === 'string' && v.startsWith(MADE_ID)),
  );
  return Object.fromEntries(kept.map(([key, v]) => [key, withoutMadeId(v as unknown)])) as T;
}
/** EJSON makes an invalid date of a text that is none, which would be stored as 1970. */
function assertDates(value: unknown): void {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new Error('a $date is no date');
  } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(assertDates);
}
const show = (document: Document): string => EJSON.stringify(document, { relaxed: false });

function report(outcomes: readonly Outcome[], json: boolean, all: boolean): void {
  const confirmed = outcomes.filter((o) => o.confirmed);
  const failures = outcomes.filter((o) => !o.passed);
  const summary = {
    total: outcomes.length,
    passed: outcomes.length - failures.length,
    confirmed: confirmed.length,
    confirmedPassed: confirmed.filter((o) => o.passed).length,
  };
  if (json) {
    console.log(JSON.stringify({ ...summary, failures }));
    return;
  }
  for (const o of all ? outcomes : failures) {
    console.log(
      `${o.passed ? 'ok  ' : 'FAIL'} ${o.file} ${o.area}: ` +
        `${o.name}${o.confirmed ? '' : ' (not confirmed)'}`,
    );
    if (o.detail) console.log(`     ${o.detail}`);
  }
  console.log(
    `${summary.passed} of ${summary.total} cases pass; of ${summary.confirmed} confirmed ones ` +
      `${summary.confirmedPassed}`,
  );
}
