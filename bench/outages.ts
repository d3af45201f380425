/**
 * Outages in every stage: starts the product on a data folder of its own, lets all stages of a
 * source database run undisturbed, then again for each service and each way to go (kill -9;
 * stopped for 40 s), with one outage in each stage and one while the final bundle
 * is made. Every current artefact and every file of the bundle must be the same as undisturbed.
 * Linux only.
 *
 *   npx tsx bench/outages.ts <BIRD folder> [--database superhero] [--seconds 40]
 *     [--services mongodb,postgres,worker,web,disk] [--modes kill,stop] [--in <folder>]
 *
 * `disk` fills the disk of the folder `--in`, e.g. a tmpfs of 500 MB mounted for this.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openBlobStore } from '../lib/db/blob-store';
import { openDatabase } from '../lib/db/database';
import { ensureEmbeddedPostgres } from '../lib/db/embedded-postgres';
import { stageNames } from '../lib/pipeline/stages/stage';
import type { SourceBenchmark } from '../lib/sqlite/benchmark';
import { openBenchmark } from '../lib/sqlite/source/open-benchmark';
import { startProduct, type Mode, type Product, type Service } from './outage-product';
import { runThrough, settled, type Outcome } from './outage-run';
import { type Stores } from './outage-stores';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: 'superhero' },
    services: { type: 'string', default: 'mongodb,postgres,worker' },
    modes: { type: 'string', default: 'kill,stop' },
    seconds: { type: 'string', default: '40' },
    port: { type: 'string', default: '3987' },
    in: { type: 'string', default: os.tmpdir() },
  },
});

interface Differences {
  readonly missing: readonly string[];
  readonly added: readonly string[];
  readonly differing: readonly string[];
}
type Hashes = ReadonlyMap<string, string>;

const differences = (expected: Hashes, actual: Hashes): Differences => ({
  missing: [...expected.keys()].filter((key) => !actual.has(key)),
  added: [...actual.keys()].filter((key) => !expected.has(key)),
  differing: [...expected.keys()].filter(
    (key) => actual.has(key) && actual.get(key) !== expected.get(key),
  ),
});

const HEADER = [
  'outage           | stages hit | artefacts: missing, added, differing | gold |',
  'bundle files: missing, added, differing | runs not done | worker deaths | seconds',
].join(' ');

function printRow(name: string, outcome: Outcome, reference: Outcome): void {
  const artefacts = differences(reference.hashes, outcome.hashes);
  const files = differences(reference.bundle, outcome.bundle);
  const counts = ({ missing, added, differing }: Differences): string =>
    `${missing.length}, ${added.length}, ${differing.length}`;
  const cells = [
    name.padEnd(16),
    outcome.disturbed.length,
    `${outcome.hashes.size}: ${counts(artefacts)}`,
    outcome.gold,
    `${outcome.bundle.size}: ${counts(files)}`,
    outcome.failed.length,
    outcome.deaths,
    outcome.seconds.toFixed(0),
  ];
  console.log(cells.join(' | '));
  for (const reason of outcome.failed) console.log(`  ${reason}`);
  for (const [how, keys] of [...Object.entries(artefacts), ...Object.entries(files)]) {
    if (keys.length > 0) console.log(`  ${how}: ${keys.slice(0, 8).join('; ')}`);
  }
}

async function compareOutages(
  product: Product,
  stores: Stores,
  source: SourceBenchmark,
): Promise<void> {
  const reference = await runThrough(stores, source, 'undisturbed', undefined);
  const { stageMs } = reference;
  for (const [stage, milliseconds] of stageMs) console.log(`${stage}: ${milliseconds} ms`);
  console.log(HEADER);
  printRow('undisturbed', reference, reference);
  const again = await runThrough(stores, source, 'undisturbed again', undefined);
  printRow('undisturbed again', again, reference);
  for (const mode of values.modes.split(',') as Mode[]) {
    for (const service of values.services.split(',') as Service[]) {
      const name = `${service} ${mode}`;
      const disturb = () => product.disturb(service, mode);
      const outcome = await runThrough(stores, source, name, { disturb, stageMs });
      printRow(name, outcome, reference);
      const missed = stageNames.filter((stage) => !outcome.disturbed.includes(stage));
      if (missed.length > 0) console.log(`  over before it could be hit: ${missed.join(', ')}`);
    }
  }
}

async function main(folder: string): Promise<void> {
  const dataDir = fs.mkdtempSync(path.join(values.in, 'aptmql-outages-'));
  fs.chmodSync(dataDir, 0o755); // PostgreSQL runs as another user where this one is root
  const product = await startProduct(dataDir, values.port, Number(values.seconds) * 1000);
  const opened = await openBenchmark(folder, { databases: [values.database] });
  try {
    const server = await ensureEmbeddedPostgres({ dataDir });
    if (server.owned) throw new Error('the product does not own its PostgreSQL');
    const db = openDatabase(server.url);
    const blobs = openBlobStore(db, path.join(dataDir, 'cache'));
    try {
      // The sample benchmark of a first start is worked on first.
      for (const { id } of await db.prisma.sourceDatabase.findMany()) await settled(db, id);
      const stores = { db, blobs, scratch: path.join(dataDir, 'unpacked') };
      await compareOutages(product, stores, opened.benchmark);
    } finally {
      await db.close();
    }
  } finally {
    await opened.close();
    await product.stop();
  }
}

const [folder] = positionals;
if (folder === undefined) throw new Error('name a BIRD folder');
await main(folder);
