/**
 * The estimated cost of queries against what they really examine: for each item of a folder its
 * gold runs on the migrated design, and the estimate is ranked against `totalDocsExamined` of the
 * server (Spearman's rho, ties by mean rank), over all items and database by database. The
 * workload's estimate is compared with that of the one-to-one design with indexes proposed in the
 * same way.
 *
 *   npx tsx bench/cost-model.ts <benchmark-dir> [--databases a,b] [--verbose]
 */
import type { Db } from 'mongodb';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { builtinAgent } from '../agents/drivers/builtin';
import { score } from '../lib/design/model/score';
import { CostModel } from '../lib/design/cost/cost-model';
import type {
  ConceptualDesign,
  DocumentDesign,
  IndexDesign,
  LogicalDesign,
} from '../lib/design/model/document-design';
import { proposeIndexes } from '../lib/design/cost/indexes';
import { deriveDesign } from '../lib/design/logical/logical';
import { proposeDesign } from '../lib/design/propose/propose';
import type { Workload } from '../lib/design/model/workload';
import type { Migration } from '../lib/migration/migrate';
import { connectMongo } from '../lib/mongo/client';
import { documentsExamined } from '../lib/mongo/explain';
import { start as startMongoServer } from 'mongo-embedded';
import type { GoldContent } from '../lib/pipeline/stages/artefacts';
import type { ProfileContent } from '../lib/pipeline/stages/design-stages';
import { stages } from '../lib/pipeline/stages/index';
import { defaultSettings, type StageInput, type StageName } from '../lib/pipeline/stages/stage';
import { readBenchmarkFolder } from '../lib/sqlite/source/benchmark-folder';

const needed: readonly StageName[] = [
  'profile',
  'conceptual_design',
  'logical_design',
  'migration',
  'translation',
  'optimisation',
];

interface Point {
  readonly database: string;
  readonly questionId: string;
  readonly estimated: number;
  readonly documents: number;
  readonly examined: number;
}

/** Spearman's rank correlation; NaN where one side does not vary. */
function spearman(points: readonly Point[], of: (point: Point) => number): number {
  const ranks = (values: readonly number[]): number[] => {
    const sorted = [...values].sort((a, b) => a - b);
    const rank = new Map(
      [...new Set(values)].map((value) => [
        value,
        (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2,
      ]),
    );
    return values.map((value) => rank.get(value)!);
  };
  const [a, b] = [ranks(points.map(of)), ranks(points.map(({ examined }) => examined))];
  const mean = (list: readonly number[]): number =>
    list.reduce((sum, value) => sum + value, 0) / list.length;
  const [ma, mb] = [mean(a), mean(b)];
  const covariance = a.reduce((sum, value, index) => sum + (value - ma) * (b[index]! - mb), 0);
  return (
    covariance /
    Math.sqrt(
      a.reduce((sum, value) => sum + (value - ma) ** 2, 0) *
        b.reduce((sum, value) => sum + (value - mb) ** 2, 0),
    )
  );
}

/** What each gold query was estimated to cost, and what it examined. */
async function pointsOf(
  database: string,
  workload: Workload,
  model: CostModel,
  db: Db,
  goldOf: (questionId: string) => GoldContent | undefined,
): Promise<Point[]> {
  const found: Point[] = [];
  for (const { blocks, questionIds } of workload.patterns.flatMap(({ variants }) => variants)) {
    const cost = model.query(blocks);
    for (const questionId of questionIds) {
      const gold = goldOf(questionId);
      if (!gold) continue;
      const examined = await documentsExamined(db, gold.mql.collection, gold.mql.pipeline);
      if (examined === null) continue;
      const { documents } = cost;
      found.push({ database, questionId, estimated: score(cost), documents, examined });
    }
  }
  return found;
}

function printDatabase(name: string, own: readonly Point[], ofOneToOne: number): void {
  console.log(
    `${name.padEnd(36)} ${String(own.length).padStart(4)} items  rho ` +
      `${spearman(own, (point) => point.estimated).toFixed(2)}  documents only ` +
      `${spearman(own, (point) => point.documents).toFixed(2)}  cost ` +
      `${ofOneToOne.toFixed(2)} of one-to-one`,
  );
  if (!wanted) return;
  for (const { questionId, documents, examined } of own)
    console.log(
      `  ${questionId.padEnd(20)} estimated ${documents.toFixed(1).padStart(10)}  examined ` +
        `${String(examined).padStart(8)}`,
    );
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { databases: { type: 'string' }, verbose: { type: 'boolean' } },
});
const wanted = values.databases?.split(',');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-bench-'));
const benchmark = await readBenchmarkFolder(positionals[0] ?? '', {
  copies: path.join(folder, 'copies'),
  databases: wanted,
});
const server = await startMongoServer({ dataDir: folder });
const mongo = await connectMongo(server.uri);
const points: Point[] = [];
const dearer: string[] = [];
let [chosen, baseline] = [0, 0];
try {
  for (const source of benchmark.databases) {
    const items = benchmark.items.filter((item) => item.database === source.name);
    if (items.length === 0) continue;
    const kept = new Map<string, unknown>();
    const read = <T>(kind: string, key: string): T => kept.get(`${kind}/${key}`) as T;
    const input: StageInput = {
      source,
      items,
      settings: defaultSettings,
      agent: builtinAgent,
      mongo,
      mongoPrefix: 'bench',
      directives: [],
      read: async <T>({ kind, key }: { kind: string; key: string }) =>
        kept.get(`${kind}/${key}`) as T | undefined,
    };
    for (const name of needed) {
      const { artefacts } = await stages[name](input, {
        signal: new AbortController().signal,
        progress: () => undefined,
      });
      for (const artefact of artefacts)
        kept.set(`${artefact.kind}/${artefact.key}`, artefact.content);
    }
    const { catalog, profile } = read<ProfileContent>('profile', source.name);
    const workload = read<Workload>('workload', source.name);
    const conceptual = read<ConceptualDesign>('conceptual_design', source.name);
    const db = mongo.db(read<Migration>('migration', source.name).mongoDatabase);
    const design: DocumentDesign = {
      conceptual,
      logical: conceptual.collections.map(({ name }) =>
        read<LogicalDesign>('logical_design', `${source.name}/${name}`),
      ),
    };
    const model = new CostModel(design, read<IndexDesign>('index_design', source.name), profile);
    const goldOf = (questionId: string): GoldContent | undefined =>
      kept.get(`gold/${source.name}/${questionId}`) as GoldContent | undefined;
    const own = await pointsOf(source.name, workload, model, db, goldOf);
    points.push(...own);
    const flat = deriveDesign({
      conceptual: proposeDesign({
        catalog,
        profile,
        workload,
        strategy: 'one-to-one',
        limits: defaultSettings,
        directives: [],
      }).design,
      catalog,
      profile,
      directives: [],
    });
    const flatCost = score(
      new CostModel(flat, proposeIndexes(flat, catalog, profile, workload), profile).workload(
        workload,
      ),
    );
    const cost = score(model.workload(workload));
    chosen += cost;
    baseline += flatCost;
    if (cost > flatCost * (1 + 1e-9))
      dearer.push(`${source.name} (${cost.toFixed(0)} against ${flatCost.toFixed(0)})`);
    if (values.verbose) printDatabase(source.name, own, cost / flatCost);
  }
} finally {
  await mongo.close();
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
const names = [...new Set(points.map(({ database }) => database))];
const each = names
  .map((name) =>
    spearman(
      points.filter(({ database }) => database === name),
      ({ estimated }) => estimated,
    ),
  )
  .filter((rho) => !Number.isNaN(rho))
  .sort((a, b) => a - b);
console.log(`\n${points.length} items of ${names.length} databases`);
console.log(
  `Spearman's rho over all items: cost ` +
    `${spearman(points, ({ estimated }) => estimated).toFixed(3)}, its documents alone ` +
    `${spearman(points, ({ documents }) => documents).toFixed(3)} (wanted: 0.7)`,
);
console.log(
  `database by database: median ${each[Math.floor(each.length / 2)]?.toFixed(2)}, lowest ` +
    `${each[0]?.toFixed(2)}, ${each.filter((rho) => rho >= 0.7).length} of ${each.length} at ` +
    '0.7 or more',
);
console.log(
  `the workload's cost is ${(chosen / baseline).toFixed(2)} of that of one-to-one with indexes; ` +
    `dearer: ${dearer.length === 0 ? 'none' : dearer.join(', ')}`,
);
