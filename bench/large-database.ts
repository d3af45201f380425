/**
 * A generated database of 8 tables and about 1.08 M rows (the size of BIRD's `financial`), with
 * skewed fan-out: profile, design, migration and the three validations, each in seconds, with the
 * peak memory of this process; the migration is also measured against inserting the same ready-made
 * documents, and at a tenth of the rows.
 *
 *   npx tsx bench/large-database.ts [rows of the largest table] [--buckets]
 *
 * With `--buckets` a reviewer directs the rows of the largest table into buckets.
 */
import Database from 'better-sqlite3';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { builtinAgent } from '../agents/drivers/builtin';
import type { IndexDesign, LogicalDesign } from '../lib/design/model/document-design';
import { assembleDocuments } from '../lib/migration/assemble';
import { connectMongo } from '../lib/mongo/client';
import { start as startMongoServer } from 'mongo-embedded';
import type { ProfileContent } from '../lib/pipeline/stages/design-stages';
import { stages } from '../lib/pipeline/stages/index';
import { defaultSettings, stageNames, type StageInput } from '../lib/pipeline/stages/stage';
import { Random } from '../sample/random';

const DDL = `
    CREATE TABLE district (district_id INTEGER PRIMARY KEY, name TEXT, region TEXT,
      inhabitants INTEGER, salary REAL);
    CREATE TABLE account (account_id INTEGER PRIMARY KEY, district_id INTEGER REFERENCES district,
      frequency TEXT, date TEXT);
    CREATE TABLE client (client_id INTEGER PRIMARY KEY, gender TEXT, birth_date TEXT,
      district_id INTEGER REFERENCES district);
    CREATE TABLE disp (disp_id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES client,
      account_id INTEGER REFERENCES account, type TEXT);
    CREATE TABLE loan (loan_id INTEGER PRIMARY KEY, account_id INTEGER REFERENCES account,
      date TEXT, amount INTEGER, duration INTEGER, payments REAL, status TEXT);
    CREATE TABLE card (card_id INTEGER PRIMARY KEY, disp_id INTEGER REFERENCES disp, type TEXT,
      issued TEXT);
    CREATE TABLE "order" (order_id INTEGER PRIMARY KEY, account_id INTEGER REFERENCES account,
      bank_to TEXT, account_to INTEGER, amount REAL, k_symbol TEXT);
    CREATE TABLE trans (trans_id INTEGER PRIMARY KEY, account_id INTEGER REFERENCES account,
      date TEXT, type TEXT, operation TEXT, amount INTEGER, balance INTEGER, k_symbol TEXT,
        bank TEXT, account INTEGER);`;

const ACCOUNTS = 4500;
const random = new Random(7);
const two = (value: number): string => String(value).padStart(2, '0');
const date = (): string =>
  `199${random.int(3, 8)}-${two(random.int(1, 12))}-${two(random.int(1, 28))}`;

type Fill = (table: string, width: number, count: number, row: (id: number) => unknown[]) => void;

function generate(file: string, transactions: number): void {
  const sqlite = new Database(file);
  sqlite.pragma('journal_mode = OFF');
  sqlite.exec(DDL);
  const fill: Fill = (table, width, count, row) => {
    const insert = sqlite.prepare(
      `INSERT INTO "${table}" VALUES (${Array(width).fill('?').join(',')})`,
    );
    sqlite.transaction(() => {
      for (let id = 1; id <= count; id++) insert.run(...row(id));
    })();
  };
  fillMasterData(fill);
  // Squaring skews: a few accounts have thousands of transactions, many have some.
  fill('trans', 10, transactions, (id) => [
    id,
    1 + Math.floor(random.next() ** 2 * ACCOUNTS),
    date(),
    random.pick(['credit', 'withdrawal']),
    random.pick(['cash', 'card', 'transfer', null]),
    random.int(1, 90_000),
    random.int(-1000, 200_000),
    random.pick(['household', 'pension', null]),
    random.pick(['AB', 'CD', null]),
    random.chance(0.7) ? null : random.int(1e6, 9e7),
  ]);
  sqlite.close();
}

/** Everything but the transactions, which are what there is much of. */
function fillMasterData(fill: Fill): void {
  fill('district', 5, 77, (id) => [
    id,
    `District ${id}`,
    random.pick(['north', 'south', 'east', 'west']),
    random.int(40_000, 1_200_000),
    random.int(8000, 13_000) + 0.5,
  ]);
  fill('account', 4, ACCOUNTS, (id) => [
    id,
    random.int(1, 77),
    random.pick(['monthly', 'weekly', 'after transaction']),
    date(),
  ]);
  fill('client', 4, 5369, (id) => [id, random.pick(['F', 'M']), date(), random.int(1, 77)]);
  fill('disp', 4, 5369, (id) => [
    id,
    id,
    Math.min(ACCOUNTS, random.int(1, ACCOUNTS)),
    random.pick(['OWNER', 'DISPONENT']),
  ]);
  fill('loan', 7, 682, (id) => [
    id,
    random.int(1, ACCOUNTS),
    date(),
    random.int(5000, 500_000),
    random.pick([12, 24, 36, 48, 60]),
    random.int(300, 9000) + 0.25,
    random.pick(['A', 'B', 'C', 'D']),
  ]);
  fill('card', 4, 892, (id) => [
    id,
    random.int(1, 5369),
    random.pick(['junior', 'classic', 'gold']),
    date(),
  ]);
  fill('order', 6, 6471, (id) => [
    id,
    random.int(1, ACCOUNTS),
    random.pick(['AB', 'CD', 'EF']),
    random.int(1e6, 9e7),
    random.int(100, 9000) + 0.5,
    random.pick(['SIPO', 'UVER', null]),
  ]);
}

interface Figures {
  readonly rows: number;
  readonly seconds: Readonly<Record<string, number>>;
  readonly rawInsert: number;
}

async function measure(folder: string, transactions: number): Promise<Figures> {
  const file = path.join(folder, `bank${transactions}.sqlite`);
  generate(file, transactions);
  const server = await startMongoServer({ dataDir: path.join(folder, `mongo${transactions}`) });
  const mongo = await connectMongo(server.uri);
  try {
    const kept = new Map<string, unknown>();
    const input: StageInput = {
      source: {
        name: 'bank',
        path: file,
        sha256: String(transactions),
        bytes: fs.statSync(file).size,
        descriptions: {},
      },
      items: [],
      settings: defaultSettings,
      agent: builtinAgent,
      mongo,
      mongoPrefix: 'bench',
      directives: values.buckets
        ? [
            {
              kind: 'relationship',
              relationship: 'trans(account_id)->account(account_id)',
              choice: 'bucket',
            },
          ]
        : [],
      read: async <T>({ kind, key }: { kind: string; key: string }) =>
        kept.get(`${kind}/${key}`) as T | undefined,
    };
    const seconds: Record<string, number> = {};
    for (const name of stageNames.slice(0, 7)) {
      const started = performance.now();
      const { artefacts, report } = await stages[name](input, {
        signal: new AbortController().signal,
        progress: () => undefined,
      });
      seconds[name] = (performance.now() - started) / 1000;
      for (const artefact of artefacts)
        kept.set(`${artefact.kind}/${artefact.key}`, artefact.content);
      console.log(
        `  ${name.padEnd(24)} ${seconds[name].toFixed(1)} s  ${JSON.stringify(report)}  (peak so ` +
          `far ${Math.round(process.resourceUsage().maxRSS / 1024)} MB)`,
      );
    }
    const { catalog, profile } = kept.get('profile/bank') as ProfileContent;
    const rows = profile.tables.reduce((sum, table) => sum + table.rowCount, 0);
    // The same documents, ready-made, and the same indexes: what the migration cannot be faster
    // than.
    let rawInsert = 0;
    for (const [key, design] of kept) {
      if (!key.startsWith('logical_design/')) continue;
      const target = mongo.db('bench_raw').collection((design as LogicalDesign).collection);
      let batch: Record<string, unknown>[] = [];
      const flush = async (): Promise<void> => {
        const started = performance.now();
        await target.insertMany(batch);
        rawInsert += (performance.now() - started) / 1000;
        batch = [];
      };
      for (const document of assembleDocuments(file, catalog, design as LogicalDesign, new Map()))
        if (batch.push(document) === 1000) await flush();
      if (batch.length > 0) await flush();
      const started = performance.now();
      for (const index of (kept.get('index_design/bank') as IndexDesign)[
        (design as LogicalDesign).collection
      ] ?? [])
        await target.createIndex(index.key);
      rawInsert += (performance.now() - started) / 1000;
    }
    return { rows, seconds, rawInsert };
  } finally {
    await mongo.close();
    await server.stop();
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { buckets: { type: 'boolean' } },
});
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-bench-'));
try {
  const largest = Number(positionals[0] ?? 1_056_320);
  console.log(`${largest / 10} rows in the largest table`);
  const small = await measure(folder, Math.round(largest / 10));
  console.log(`${largest} rows in the largest table`);
  const large = await measure(folder, largest);
  const total = Object.values(large.seconds).reduce((sum, value) => sum + value, 0);
  const perRow = (figures: Figures): number => (1e6 * figures.seconds.migration!) / figures.rows;
  console.log(
    `\n${large.rows} rows: ${total.toFixed(0)} s in all (limit 300), peak memory ` +
      `${Math.round(process.resourceUsage().maxRSS / 1024)} MB (limit 1536)`,
  );
  console.log(
    `migration at ${((100 * large.rawInsert) / large.seconds.migration!).toFixed(0)} % of the ` +
      'speed of inserting the same documents (limit 60 %)',
  );
  console.log(
    `migration ${perRow(small).toFixed(1)} µs a row at ${small.rows} rows, ` +
      `${perRow(large).toFixed(1)} µs at ${large.rows}: ` +
      `${(perRow(large) / perRow(small)).toFixed(2)}×`,
  );
  // A machine with other work to do slows both: what matters is whether migrating grows more than
  // inserting does.
  const rawPerRow = (figures: Figures): number => (1e6 * figures.rawInsert) / figures.rows;
  console.log(
    `inserting alone ${rawPerRow(small).toFixed(1)} µs a row at ${small.rows} rows, ` +
      `${rawPerRow(large).toFixed(1)} µs at ${large.rows}: ` +
      `${(rawPerRow(large) / rawPerRow(small)).toFixed(2)}×`,
  );
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
