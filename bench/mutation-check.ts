/**
 * How well the data tests the gold: the share of single changes of the pipelines that change their
 * results, and the items with a predicate none of whose changes does.
 *
 *   npx tsx bench/mutation-check.ts <bundle-dir>… --uri mongodb://…
 *
 * Restores the documents of each database into one of its own, which it drops again. Prints one
 * JSON document.
 */
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { createGunzip } from 'node:zlib';
import { BSON, MongoClient, type Document } from 'mongodb';
import type { LogicalDesign } from '../lib/design/model/document-design';
import { parseLogicalCsv } from '../lib/design/logical/logical-csv';
import { mutationsOf, weakPredicates, type Mutation } from '../lib/translation/check/mutations';

const args = process.argv.slice(2);
const at = args.indexOf('--uri');
const uri = args[at + 1];
if (at < 0 || !uri) throw new Error('usage: mutation-check.ts <bundle-dir>… --uri mongodb://…');
const bundles = args.filter((_, index) => index !== at && index !== at + 1);
const client = await new MongoClient(uri, { promoteValues: true }).connect();

interface GoldItem {
  readonly question_id: string;
  readonly db_id: string;
  readonly MQL: { readonly collection: string; readonly pipeline: Document[] } | null;
  readonly order_sensitive: boolean;
}

const kinds: Record<string, { mutations: number; changed: number }> = {};
const weak: string[] = [];
let items = 0;
for (const bundle of bundles) {
  const gold = readdirSync(path.join(bundle, 'data'))
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) =>
      readFileSync(path.join(bundle, 'data', name), 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    )
    .map((line) => BSON.EJSON.parse(line, { relaxed: true }) as GoldItem);
  for (const database of readdirSync(path.join(bundle, 'databases'))) {
    const own = gold.filter((item) => item.db_id === database && item.MQL);
    const folder = path.join(bundle, 'databases', database);
    const db = client.db(`mutation_${String(process.pid)}`);
    await db.dropDatabase();
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.jsonl(\.gz)?$/.test(name),
    ))
      await restore(path.join(folder, file), path.basename(file).replace(/\.jsonl(\.gz)?$/, ''));
    const logical: LogicalDesign[] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.csv'))
      .map((name) => parseLogicalCsv(readFileSync(path.join(folder, name), 'utf8')));
    for (const item of own) {
      await mutate(item, database, logical);
      items++;
    }
    await db.dropDatabase();
  }
}
await client.close();

async function mutate(
  item: GoldItem,
  database: string,
  logical: readonly LogicalDesign[],
): Promise<void> {
  const { collection, pipeline } = item.MQL!;
  const seen = new Map<string, Promise<string>>();
  const digest = (stages: readonly Document[]): Promise<string> => {
    const key = BSON.EJSON.stringify(stages as Document[]);
    const known = seen.get(key) ?? run(collection, stages, item.order_sensitive);
    seen.set(key, known);
    return known;
  };
  const mutations: Mutation[] = mutationsOf({
    collection,
    pipeline,
    design: { logical },
    ordered: item.order_sensitive,
  });
  const original = await digest(pipeline);
  for (const mutation of mutations) {
    const count = (kinds[mutation.kind] ??= { mutations: 0, changed: 0 });
    count.mutations++;
    if ((await digest(mutation.pipeline)) !== original) count.changed++;
  }
  if ((await weakPredicates(mutations, original, digest)).length > 0)
    weak.push(`${database}/${item.question_id}`);
}

async function run(
  collection: string,
  pipeline: readonly Document[],
  ordered: boolean,
): Promise<string> {
  try {
    const documents = await client
      .db(`mutation_${String(process.pid)}`)
      .collection(collection)
      .aggregate([...pipeline], { maxTimeMS: 10_000 })
      .toArray();
    const rows = documents.map((document) => BSON.EJSON.stringify(document));
    return (ordered ? rows : rows.sort()).join('\n');
  } catch {
    return 'error';
  }
}

async function restore(file: string, collection: string): Promise<void> {
  const bytes = createReadStream(file);
  const lines = readline.createInterface({
    input: file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes,
  });
  const documents: Document[] = [];
  for await (const line of lines)
    if (line !== '') documents.push(BSON.EJSON.parse(line, { relaxed: false }) as Document);
  if (documents.length > 0)
    await client
      .db(`mutation_${String(process.pid)}`)
      .collection(collection)
      .insertMany(documents);
}

const sum = (key: 'mutations' | 'changed'): number =>
  Object.values(kinds).reduce((total, count) => total + count[key], 0);
console.log(
  JSON.stringify({
    items,
    mutations: sum('mutations'),
    changed: sum('changed'),
    share: Math.round((sum('changed') / Math.max(1, sum('mutations'))) * 1000) / 1000,
    kinds,
    weaklyTested: weak.length,
    weaklyTestedItems: weak.slice(0, 200),
  }),
);
