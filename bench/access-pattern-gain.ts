/**
 * What the access-pattern design is worth to the gold: documents examined and time of a workload of
 * 32 queries over a generated shop of about 150,000 rows, on the access-pattern design, on
 * one-to-one as DocSpider builds it (no indexes), and on one-to-one with indexes proposed in the
 * same way. Every result is compared with the SQL's.
 *
 *   npx tsx bench/access-pattern-gain.ts [orders, 25000 by default] [--verbose]
 */
import Database from 'better-sqlite3';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Db, Document } from 'mongodb';
import { builtinAgent } from '../agents/drivers/builtin';
import type { LogicalDesign } from '../lib/design/model/document-design';
import { proposeIndexes } from '../lib/design/cost/indexes';
import { readWorkload } from '../lib/design/model/read-workload';
import { connectMongo } from '../lib/mongo/client';
import { start as startMongoServer } from 'mongo-embedded';
import { documentsExamined } from '../lib/mongo/explain';
import type { ProfileContent } from '../lib/pipeline/stages/design-stages';
import { stages } from '../lib/pipeline/stages/index';
import {
  defaultSettings,
  stageNames,
  type BenchmarkSettings,
  type StageInput,
} from '../lib/pipeline/stages/stage';
import type { Item } from '../lib/sqlite/benchmark';
import { QueryProcess } from '../lib/sqlite/query/query-process';
import { checkEquivalence, isEquivalent } from '../lib/translation/check/equivalence';
import { optimise } from '../lib/translation/rules/optimise';
import { translate, type TranslationContext } from '../lib/translation/translate';
import { Random } from '../sample/random';

/**
 * What a shop asks: one customer's orders, the lines of one order, the best of a category, the
 * busiest of a city.
 */
const QUERIES = [
  'SELECT o.order_id, o.placed, o.status FROM orders o JOIN customer c ON o.customer_id = ' +
    'c.customer_id WHERE c.customer_id = 4711 ORDER BY o.placed DESC',
  'SELECT o.order_id, o.placed FROM orders o JOIN customer c ON o.customer_id = c.customer_id ' +
    "WHERE c.email = 'c812@example.org'",
  'SELECT p.name, l.quantity, l.price FROM order_line l JOIN product p ON l.product_id = ' +
    'p.product_id WHERE l.order_id = 1234',
  'SELECT SUM(l.quantity * l.price) FROM order_line l WHERE l.order_id = 777',
  'SELECT c.name, o.status FROM customer c JOIN orders o ON o.customer_id = c.customer_id WHERE ' +
    'o.order_id = 9001',
  'SELECT c.name, COUNT(*) FROM customer c JOIN orders o ON o.customer_id = c.customer_id WHERE ' +
    "c.city = 'City 7' GROUP BY c.customer_id",
  'SELECT c.name FROM customer c JOIN orders o ON o.customer_id = c.customer_id WHERE c.city = ' +
    "'City 12' GROUP BY c.customer_id HAVING COUNT(*) > 6",
  'SELECT COUNT(*) FROM orders o JOIN customer c ON o.customer_id = c.customer_id WHERE c.city = ' +
    "'City 3' AND o.status = 'returned'",
  'SELECT c.name, a.street FROM customer c JOIN address a ON a.customer_id = c.customer_id WHERE ' +
    'c.customer_id = 99',
  'SELECT a.street, a.postcode FROM address a JOIN customer c ON a.customer_id = c.customer_id ' +
    "WHERE c.email = 'c4000@example.org'",
  'SELECT r.stars, r.title FROM review r WHERE r.product_id = 321 ORDER BY r.stars DESC LIMIT 5',
  'SELECT p.name, AVG(r.stars) FROM product p JOIN review r ON r.product_id = p.product_id WHERE ' +
    'p.product_id = 55 GROUP BY p.product_id',
  'SELECT AVG(r.stars) FROM review r JOIN product p ON r.product_id = p.product_id WHERE p.name ' +
    "= 'Product 900'",
  'SELECT p.name, p.price FROM product p JOIN category k ON p.category_id = k.category_id WHERE ' +
    "k.name = 'Category 5' ORDER BY p.price DESC LIMIT 3",
  'SELECT COUNT(*) FROM product p JOIN category k ON p.category_id = k.category_id WHERE k.name ' +
    "= 'Category 9'",
  'SELECT p.name FROM product p JOIN review r ON r.product_id = p.product_id JOIN category k ON ' +
    "p.category_id = k.category_id WHERE k.name = 'Category 2' GROUP BY p.product_id HAVING " +
    'AVG(r.stars) > 4',
  'SELECT o.order_id FROM orders o JOIN order_line l ON l.order_id = o.order_id WHERE ' +
    'o.customer_id = 17 AND l.quantity > 3',
  'SELECT COUNT(DISTINCT l.product_id) FROM orders o JOIN order_line l ON l.order_id = ' +
    'o.order_id WHERE o.customer_id = 2500',
  'SELECT p.name FROM orders o JOIN order_line l ON l.order_id = o.order_id JOIN product p ON ' +
    'l.product_id = p.product_id WHERE o.order_id = 4242 AND l.price > 20',
  'SELECT o.order_id, SUM(l.quantity) FROM orders o JOIN order_line l ON l.order_id = o.order_id ' +
    "JOIN customer c ON o.customer_id = c.customer_id WHERE c.email = 'c31@example.org' GROUP BY " +
    'o.order_id',
  'SELECT s.carrier, s.sent FROM shipment s JOIN orders o ON s.order_id = o.order_id WHERE ' +
    'o.customer_id = 1001',
  'SELECT s.carrier FROM shipment s WHERE s.order_id = 8080',
  'SELECT c.name FROM customer c WHERE c.customer_id IN (SELECT customer_id FROM orders WHERE ' +
    "status = 'returned' AND placed LIKE '2023-07%')",
  'SELECT name FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = ' +
    "c.customer_id) AND c.city = 'City 1'",
  'SELECT (SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.customer_id) FROM customer c ' +
    'WHERE c.customer_id = 3333',
  'SELECT c.name, o.placed FROM customer c JOIN orders o ON o.customer_id = c.customer_id WHERE ' +
    "o.placed BETWEEN '2023-03-01' AND '2023-03-02'",
  'SELECT r.title FROM review r JOIN customer c ON r.customer_id = c.customer_id WHERE ' +
    'c.customer_id = 600',
  'SELECT p.name, r.stars FROM review r JOIN product p ON r.product_id = p.product_id WHERE ' +
    'r.customer_id = 42',
  'SELECT c.name FROM review r JOIN customer c ON r.customer_id = c.customer_id WHERE ' +
    'r.product_id = 77 AND r.stars = 1',
  'SELECT MAX(o.placed) FROM orders o WHERE o.customer_id = 1500',
  'SELECT k.name, COUNT(*) FROM category k JOIN product p ON p.category_id = k.category_id GROUP ' +
    'BY k.category_id ORDER BY COUNT(*) DESC LIMIT 3',
  'SELECT p.name, l.quantity FROM product p JOIN order_line l ON l.product_id = p.product_id ' +
    'JOIN orders o ON l.order_id = o.order_id WHERE o.customer_id = 2222 ORDER BY l.quantity ' +
    'DESC, p.name',
];

function generate(file: string, orders: number): void {
  const sqlite = new Database(file);
  sqlite.pragma('journal_mode = OFF');
  sqlite.exec(`
    CREATE TABLE category (category_id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE product (product_id INTEGER PRIMARY KEY,
      category_id INTEGER NOT NULL REFERENCES category, name TEXT NOT NULL, price REAL NOT NULL);
    CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, name TEXT NOT NULL,
      email TEXT NOT NULL UNIQUE, city TEXT NOT NULL);
    CREATE TABLE address (address_id INTEGER PRIMARY KEY,
      customer_id INTEGER NOT NULL REFERENCES customer, street TEXT NOT NULL, postcode TEXT);
    CREATE TABLE orders (order_id INTEGER PRIMARY KEY,
      customer_id INTEGER NOT NULL REFERENCES customer, placed TEXT NOT NULL, status TEXT NOT NULL);
    CREATE TABLE order_line (order_id INTEGER NOT NULL REFERENCES orders, line INTEGER NOT NULL,
      product_id INTEGER NOT NULL REFERENCES product, quantity INTEGER NOT NULL,
        price REAL NOT NULL, PRIMARY KEY (order_id, line));
    CREATE TABLE shipment (shipment_id INTEGER PRIMARY KEY,
      order_id INTEGER NOT NULL UNIQUE REFERENCES orders, carrier TEXT NOT NULL, sent TEXT);
    CREATE TABLE review (review_id INTEGER PRIMARY KEY,
      product_id INTEGER NOT NULL REFERENCES product,
        customer_id INTEGER NOT NULL REFERENCES customer, stars INTEGER NOT NULL, title TEXT);`);
  const random = new Random(11);
  const customers = Math.round(orders / 5);
  const products = 2000;
  const date = (): string =>
    `${random.int(2020, 2024)}-${String(random.int(1, 12)).padStart(2, '0')}-${String(random.int(1, 28)).padStart(2, '0')}`;
  const fill = (table: string, count: number, row: (id: number) => readonly unknown[][]): void => {
    sqlite.transaction(() => {
      for (let id = 1; id <= count; id++)
        for (const values of row(id))
          sqlite
            .prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(',')})`)
            .run(...values);
    })();
  };
  fill('category', 40, (id) => [[id, `Category ${id}`]]);
  fill('product', products, (id) => [
    [id, random.int(1, 40), `Product ${id}`, random.int(1, 90) + 0.5],
  ]);
  fill('customer', customers, (id) => [
    [id, `Customer ${id}`, `c${id}@example.org`, `City ${random.int(1, 60)}`],
  ]);
  fill('address', customers, (id) => [
    [
      id,
      id,
      `Street ${random.int(1, 999)}`,
      random.chance(0.1) ? null : String(random.int(10_000, 99_999)),
    ],
  ]);
  fill('orders', orders, (id) => [
    [id, random.int(1, customers), date(), random.pick(['open', 'sent', 'returned', 'paid'])],
  ]);
  fill('order_line', orders, (id) =>
    Array.from({ length: random.int(1, 6) }, (_, line) => [
      id,
      line + 1,
      random.int(1, products),
      random.int(1, 5),
      random.int(1, 90) + 0.5,
    ]),
  );
  fill('shipment', orders, (id) =>
    random.chance(0.7)
      ? [[id, id, random.pick(['north', 'south', 'air']), random.chance(0.2) ? null : date()]]
      : [],
  );
  fill('review', Math.round(orders * 0.8), (id) => [
    [
      id,
      random.int(1, products),
      random.int(1, customers),
      random.int(1, 5),
      random.chance(0.1) ? null : `Review ${id}`,
    ],
  ]);
  sqlite.close();
}

interface Gold {
  readonly collection: string;
  readonly pipeline: readonly Document[];
}
interface Converted {
  readonly db: Db;
  readonly collections: readonly string[];
  readonly gold: readonly (Gold | undefined)[];
  readonly unequal: number;
  readonly rows: number;
}

async function convert(
  file: string,
  strategy: BenchmarkSettings['strategy'],
  mongo: Awaited<ReturnType<typeof connectMongo>>,
  queries: QueryProcess,
): Promise<Converted> {
  const kept = new Map<string, unknown>();
  const items: Item[] = QUERIES.map((sql, index) => ({
    questionId: String(index),
    split: 'bench',
    database: 'shop',
    question: '',
    evidence: '',
    sql,
    difficulty: '',
  }));
  const input: StageInput = {
    source: {
      name: 'shop',
      path: file,
      sha256: 'shop',
      bytes: fs.statSync(file).size,
      descriptions: {},
    },
    items,
    settings: { ...defaultSettings, strategy },
    agent: builtinAgent,
    mongo,
    mongoPrefix: `gain_${strategy.slice(0, 3)}`,
    directives: [],
    read: async <T>({ kind, key }: { kind: string; key: string }) =>
      kept.get(`${kind}/${key}`) as T | undefined,
  };
  const signal = new AbortController().signal;
  for (const name of stageNames.slice(0, 4)) {
    const { artefacts } = await stages[name](input, { signal, progress: () => undefined });
    for (const artefact of artefacts)
      kept.set(`${artefact.kind}/${artefact.key}`, artefact.content);
  }
  const { catalog, profile } = kept.get('profile/shop') as ProfileContent;
  const logical = [...kept]
    .filter(([key]) => key.startsWith('logical_design/'))
    .map(([, content]) => content as LogicalDesign);
  const conceptual = kept.get('conceptual_design/shop') as never;
  const design = { conceptual, logical };
  const workload = readWorkload(items, catalog, profile);
  const { mongoDatabase } = kept.get('migration/shop') as { mongoDatabase: string };
  const db = mongo.db(mongoDatabase);
  const { gold, unequal } = await goldOf({ catalog, profile, design }, file, db, queries);
  // What the design would get as indexes if it were the access-pattern one.
  const indexes = proposeIndexes(design, catalog, profile, workload);
  for (const { collection } of logical) {
    await db.collection(collection).dropIndexes();
    for (const index of indexes[collection] ?? [])
      await db
        .collection(collection)
        .createIndex({ ...index.key }, index.unique ? { unique: true } : {});
  }
  return {
    db,
    collections: logical.map(({ collection }) => collection),
    gold,
    unequal,
    rows: profile.tables.reduce((sum, table) => sum + table.rowCount, 0),
  };
}

/** The gold of every query; undefined where there is none. */
async function goldOf(
  context: TranslationContext,
  file: string,
  db: Db,
  queries: QueryProcess,
): Promise<Pick<Converted, 'gold' | 'unequal'>> {
  const gold: (Gold | undefined)[] = [];
  let unequal = 0;
  for (const sql of QUERIES) {
    const translation = translate(sql, context);
    if (translation.status !== 'translated') {
      unequal++;
      gold.push(undefined);
      continue;
    }
    const { collection, pipeline, columns } = translation;
    const optimised = optimise({ ...context, collection, pipeline });
    const { verdict } = await checkEquivalence({
      sql,
      sourcePath: file,
      catalog: context.catalog,
      queries,
      db,
      ...optimised,
      columns,
      clock: defaultSettings.pinnedClock,
      signal: new AbortController().signal,
    });
    if (!isEquivalent(verdict)) unequal++;
    gold.push(optimised);
  }
  return { gold, unequal };
}

interface Figures {
  readonly examined: readonly number[];
  readonly milliseconds: readonly number[];
}

async function measure({ db, gold }: Converted): Promise<Figures> {
  const examined: number[] = [];
  const milliseconds: number[] = [];
  for (const query of gold) {
    if (!query) continue;
    examined.push((await documentsExamined(db, query.collection, query.pipeline)) ?? 0);
    let fastest = Infinity;
    for (let run = 0; run < 3; run++) {
      const begun = performance.now();
      await db
        .collection(query.collection)
        .aggregate([...query.pipeline])
        .toArray();
      fastest = Math.min(fastest, performance.now() - begun);
    }
    milliseconds.push(fastest);
  }
  return { examined, milliseconds };
}

const total = (list: readonly number[]): number => list.reduce((sum, value) => sum + value, 0);
const median = (list: readonly number[]): number =>
  [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
const round = (value: number): number => Math.round(value * 100) / 100;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-gain-'));
const args = process.argv.slice(2).filter((arg) => arg !== '--verbose');
const verbose = process.argv.includes('--verbose');
const server = await startMongoServer({ dataDir: path.join(folder, 'mongo') });
const mongo = await connectMongo(server.uri);
const queries = QueryProcess.borrow();
try {
  const file = path.join(folder, 'shop.sqlite');
  generate(file, Number(args[0] ?? 25_000));
  const designed = await convert(file, 'access-pattern', mongo, queries);
  const flat = await convert(file, 'one-to-one', mongo, queries);
  const sides = {
    accessPattern: await measure(designed),
    oneToOneIndexed: await measure(flat),
    oneToOneBare: { examined: [], milliseconds: [] } as Figures,
  };
  for (const collection of flat.collections) await flat.db.collection(collection).dropIndexes();
  sides.oneToOneBare = await measure(flat);
  if (verbose) {
    for (const [index, sql] of QUERIES.entries()) {
      const [a, b, c] = [sides.accessPattern, sides.oneToOneBare, sides.oneToOneIndexed].map(
        ({ examined }) => examined[index] ?? 0,
      );
      console.log(
        `${String(a).padStart(8)} ${String(b).padStart(10)} ${String(c).padStart(10)}  ${sql}`,
      );
      console.log(`         ${JSON.stringify(designed.gold[index]?.pipeline)}`);
    }
  }
  const summary = Object.fromEntries(
    Object.entries(sides).map(([name, { examined, milliseconds }]) => [
      name,
      {
        documentsExamined: total(examined),
        medianExamined: median(examined),
        milliseconds: round(total(milliseconds)),
        medianMs: round(median(milliseconds)),
      },
    ]),
  );
  const against = (other: Figures): object => ({
    documentsExamined: round(
      total(other.examined) / Math.max(1, total(sides.accessPattern.examined)),
    ),
    medianOfQueries: round(
      median(
        other.examined.map(
          (value, index) => value / Math.max(1, sides.accessPattern.examined[index] ?? 1),
        ),
      ),
    ),
    time: round(total(other.milliseconds) / total(sides.accessPattern.milliseconds)),
  });
  console.log(
    JSON.stringify(
      {
        rows: designed.rows,
        queries: QUERIES.length,
        collections: { accessPattern: designed.collections, oneToOne: flat.collections.length },
        notEqual: { accessPattern: designed.unequal, oneToOne: flat.unequal },
        ...summary,
        ratio: {
          toOneToOneBare: against(sides.oneToOneBare),
          toOneToOneIndexed: against(sides.oneToOneIndexed),
        },
      },
      null,
      1,
    ),
  );
} finally {
  queries.close();
  await mongo.close();
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
