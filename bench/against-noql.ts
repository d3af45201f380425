/**
 * The share of queries with the right rows, ours and the peer's (@synatic/noql 5.1.6, as it is and
 *   with repaired input), and what our translation and optimisation take, in one run.
 *
 * The peer is GPL and no dependency of this project: put it into a folder of its own,
 *
 *   mkdir /tmp/noql && cd /tmp/noql && npm init -y && npm install @synatic/noql@5.1.6
 *   NOQL=/tmp/noql npx tsx bench/against-noql.ts <bird-dir> <spider-dir> [--limit databases]
 *
 * The peer runs over one collection a table, with fields named as the columns; ours over the
 * access-pattern design. All are compared alike: as bags of rows, columns matched by their values,
 * columns that nobody asked for forgiven, and a tie at a LIMIT that comes out otherwise counted as
 * wrong.
 */
import type { DocumentDesign } from '../lib/design/model/document-design';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MongoClient, type Db, type Document } from 'mongodb';
import { deriveDesign } from '../lib/design/logical/logical';
import { proposeDesign } from '../lib/design/propose/propose';
import { readWorkload } from '../lib/design/model/read-workload';
import { applyTransform } from '../lib/design/model/transform';
import { assembleDocuments } from '../lib/migration/assemble';
import { start as startMongoServer } from 'mongo-embedded';
import { compareResults, documentsToResultSet } from '../lib/results/compare';
import { fromBson, type ResultSet, type SqliteValue, type Value } from '../lib/results/value';
import { quoteName, type Catalog } from '../lib/sqlite/catalog';
import { askedJoins } from '../lib/sqlite/profile/asked-joins';
import { catalogOf } from '../lib/sqlite/schema/introspect';
import { openSource } from '../lib/sqlite/open';
import { profileDatabase } from '../lib/sqlite/profile/profile-database';
import { runnableSql } from '../lib/sqlite/select/runnable-sql';
import { bson } from '../lib/translation/mql/mql';
import { optimise } from '../lib/translation/rules/optimise';
import { pinPipeline, pinSql } from '../lib/translation/check/pinned-clock';
import { PLAIN_AGGREGATE } from '../lib/translation/rules/plain-aggregate';
import { translate } from '../lib/translation/translate';
import { repairForPeer } from './peer-repairs';

const CLOCK = '2026-01-01T00:00:00Z';
const args = process.argv.slice(2);
const at = args.indexOf('--limit');
const limit = at < 0 ? Infinity : Number(args[at + 1]);
const folders = at < 0 ? args : args.slice(0, at);
const home = process.env['NOQL'];
if (!home || folders.length === 0)
  throw new Error(
    'usage: NOQL=<folder holding node_modules/@synatic/noql> against-noql.ts <bird-dir> ' +
      '<spider-dir>',
  );
interface Peer {
  makeMongoAggregate(sql: string): {
    readonly pipeline: Document[];
    readonly collections: readonly string[];
  };
}
const peer = createRequire(path.join(path.resolve(home), 'package.json'))('@synatic/noql') as Peer;

const SIDES = ['ours', 'peer', 'peerRepaired'] as const;
type Side = (typeof SIDES)[number];
interface Tally {
  items: number;
  equal: Record<Side, number>;
  refused: Record<Side, number>;
}
const tally = (): Tally => ({
  items: 0,
  equal: { ours: 0, peer: 0, peerRepaired: 0 },
  refused: { ours: 0, peer: 0, peerRepaired: 0 },
});
const milliseconds: number[] = [];

const work = mkdtempSync(path.join(tmpdir(), 'against-'));
const server = await startMongoServer({ dataDir: work });
const client = await new MongoClient(server.uri, {
  promoteValues: false,
  promoteLongs: false,
}).connect();
const report: Record<string, unknown> = {};
try {
  for (const folder of folders) {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.sqlite'))
      .map((name) => path.join(folder, name))
      .slice(0, limit);
    const items = readdirSync(folder)
      .filter(
        (name) => /^(dev|train.*)\.json$/.test(name) && statSync(path.join(folder, name)).isFile(),
      )
      .flatMap(
        (name) =>
          JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as {
            db_id: string;
            SQL?: string;
            query?: string;
          }[],
      );
    const sum = tally();
    for (const file of files) {
      const database = path.basename(file, '.sqlite');
      await measure(
        file,
        items.filter(({ db_id }) => db_id === database).map((item) => item.SQL ?? item.query ?? ''),
        sum,
      );
    }
    const share = (counts: Record<Side, number>): Record<string, number> =>
      Object.fromEntries(
        SIDES.map((side) => [
          side,
          Math.round((1000 * counts[side]) / Math.max(1, sum.items)) / 1000,
        ]),
      );
    report[path.basename(folder)] = {
      databases: files.length,
      items: sum.items,
      equal: share(sum.equal),
      refused: share(sum.refused),
    };
  }
} finally {
  await client.close();
  await server.stop();
  rmSync(work, { recursive: true, force: true });
}
const sorted = [...milliseconds].sort((a, b) => a - b);
const quantile = (q: number): number =>
  Math.round(1000 * (sorted[Math.floor((sorted.length - 1) * q)] ?? 0)) / 1000;
console.log(
  JSON.stringify(
    {
      ...report,
      translateAndOptimiseMs: { median: quantile(0.5), p95: quantile(0.95), max: quantile(1) },
    },
    null,
    1,
  ),
);

async function measure(file: string, queries: readonly string[], sum: Tally): Promise<void> {
  const sqlite = openSource(file);
  const catalog = catalogOf(sqlite, { name: 'bench', sha256: '', descriptions: {} });
  const profile = profileDatabase(sqlite, catalog, {
    asked: askedJoins(
      queries.map((sql) => ({ sql })),
      catalog,
    ),
  });
  const workload = readWorkload(
    queries.map((sql, n) => ({
      questionId: String(n),
      split: 'bench',
      database: 'bench',
      question: '',
      evidence: '',
      sql,
      difficulty: '',
    })),
    catalog,
    profile,
  );
  const conceptual = proposeDesign({
    catalog,
    profile,
    workload,
    strategy: 'access-pattern',
    limits: { maxArrayP99: 100, maxArray: 1000 },
    directives: [],
  }).design;
  const design = deriveDesign({ conceptual, catalog, profile, directives: [] });
  const [ours, theirs] = [client.db('ours'), client.db('theirs')];
  await loadDesign(ours, file, catalog, design);
  await loadTables(theirs, sqlite, catalog);
  for (const sql of queries) {
    const expected = source(sqlite, pinSql(runnableSql(sql, catalog), CLOCK));
    // Gold that SQLite itself refuses says nothing of a translator.
    if (!expected) continue;
    sum.items++;
    for (const side of SIDES) {
      const outcome =
        side === 'ours'
          ? await runOurs(sql, expected, ours)
          : await runPeer(
              side === 'peer' ? sql : attempt(() => repairForPeer(sql, catalog)),
              expected,
              theirs,
              catalog,
            );
      if (outcome === 'equal') sum.equal[side]++;
      if (outcome === 'refused') sum.refused[side]++;
    }
  }
  sqlite.close();

  async function runOurs(sql: string, rows: ResultSet, db: Db): Promise<Outcome> {
    const begun = performance.now();
    const translation = translate(sql, { catalog, profile, design });
    if (translation.status !== 'translated') return 'refused';
    // Only a run shows whether an aggregate has rows; here every pipeline runs once.
    const { collection, pipeline } = optimise({
      catalog,
      profile,
      design,
      collection: translation.collection,
      pipeline: translation.pipeline,
      without: [PLAIN_AGGREGATE],
    });
    milliseconds.push(performance.now() - begun);
    const carried = {
      columns: rows.columns,
      rows: rows.rows.map((row) =>
        row.map((value, n) =>
          applyTransform(
            translation.columns[n]?.transform ?? { kind: 'identity' },
            value as SqliteValue,
          ),
        ),
      ),
    };
    return run(db, collection, pinPipeline(pipeline, CLOCK), carried);
  }
}

async function loadDesign(
  db: Db,
  file: string,
  catalog: Catalog,
  { logical }: DocumentDesign,
): Promise<void> {
  await db.dropDatabase();
  for (const one of logical)
    await insert(db, one.collection, [...assembleDocuments(file, catalog, one, new Map())]);
}

/** A collection for each table, as it is. */
async function loadTables(
  db: Db,
  sqlite: ReturnType<typeof openSource>,
  catalog: Catalog,
): Promise<void> {
  await db.dropDatabase();
  for (const { name, columns } of catalog.tables) {
    const rows = sqlite
      .prepare(`SELECT * FROM ${quoteName(name)}`)
      .raw(true)
      .all() as SqliteValue[][];
    const documents = rows.map((row) =>
      Object.fromEntries(columns.map((column, n) => [column.name, bson(row[n] ?? null)])),
    );
    await insert(db, name, documents);
  }
}

type Outcome = 'equal' | 'different' | 'refused';

async function runPeer(
  sql: string | undefined,
  expected: ResultSet,
  db: Db,
  catalog: Catalog,
): Promise<Outcome> {
  const made = sql === undefined ? undefined : attempt(() => peer.makeMongoAggregate(sql));
  if (!made) return 'refused';
  const [collection = ''] = made.collections;
  // A collection by another case would be an empty one; the peer's user would see that at once.
  const named =
    catalog.tables.find(({ name }) => name.toLowerCase() === collection.toLowerCase())?.name ??
    collection;
  return run(db, named, made.pipeline, expected);
}

async function run(
  db: Db,
  collection: string,
  pipeline: readonly Document[],
  expected: ResultSet,
): Promise<Outcome> {
  let documents: Value[];
  try {
    documents = (
      await db
        .collection(collection)
        .aggregate([...pipeline], { maxTimeMS: 10_000 })
        .toArray()
    ).map((document) => fromBson(document) as Value);
  } catch {
    // Whatever the server says of it, these are not the right rows.
    return 'different';
  }
  const actual = documentsToResultSet(documents.map((document) => withoutId(document)));
  return compareResults(expected, actual, { columns: 'any', extraColumns: 'allow', order: 'bag' })
    .kind === 'equal'
    ? 'equal'
    : 'different';
}

function withoutId(document: Value): Value {
  return Object.fromEntries(
    Object.entries(document as Record<string, Value>).filter(([name]) => name !== '_id'),
  );
}

function source(sqlite: ReturnType<typeof openSource>, sql: string): ResultSet | undefined {
  return attempt(() => {
    const statement = sqlite.prepare(sql);
    return {
      columns: statement.columns().map(({ name }) => name),
      rows: statement.raw(true).all() as SqliteValue[][],
    };
  });
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

async function insert(db: Db, collection: string, documents: readonly Document[]): Promise<void> {
  for (let from = 0; from < documents.length; from += 1000)
    await db.collection(collection).insertMany(documents.slice(from, from + 1000));
}
