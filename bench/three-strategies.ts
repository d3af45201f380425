/**
 * Converts folders in each strategy and prints every item whose status, caveats or number of rows
 * differ: what differs between strategies on the same data is ambiguous or wrong.
 *
 *   npx tsx bench/three-strategies.ts <folder>… [--databases a,b] [--keep <dir>]
 *
 * Prints one JSON document; exits with 1 where items differ that are not named ambiguous in all
 * strategies.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { AMBIGUITIES } from '../lib/translation/check/open-constructs';

const STRATEGIES = ['access-pattern', 'one-to-one', 'fk-embedding'] as const;

/** Said of the gold pipeline, not of the question: these may differ. */
const OF_THE_PIPELINE = new Set(['weakly_tested', 'empty_aggregate']);

interface BundledItem {
  readonly question_id: string;
  readonly db_id: string;
  readonly SQL: string;
  readonly status: string;
  readonly reason?: { readonly code: number; readonly text: string } | null;
  readonly caveats: readonly string[];
  readonly result_digest?: string;
  readonly row_count?: number;
}

interface Difference {
  readonly item: string;
  readonly SQL: string;
  readonly differs: readonly string[];
  readonly strategies: Record<
    string,
    Pick<BundledItem, 'status' | 'reason' | 'caveats' | 'row_count'>
  >;
}

const { folders, databases, keep } = readArguments(process.argv.slice(2));

function readArguments(args: readonly string[]): {
  folders: string[];
  databases: string | undefined;
  keep: string | undefined;
} {
  const options = new Map<string, string>();
  const folders: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (arg.startsWith('--')) options.set(arg, args[++index] ?? '');
    else folders.push(arg);
  }
  if (folders.length === 0)
    throw new Error('usage: three-strategies.ts <folder>… [--databases a,b] [--keep <dir>]');
  return { folders, databases: options.get('--databases'), keep: options.get('--keep') };
}

interface FolderReport {
  readonly folder: string;
  readonly items: number;
  readonly seconds: readonly number[];
  /**
   * Databases that a baseline cannot hold whole, and says so: their items have other data there.
   */
  readonly leftOut: Readonly<Record<string, string>>;
  readonly unnamed: number;
  readonly differences: readonly Difference[];
}

function compareFolder(folder: string): FolderReport {
  const out = keep ?? mkdtempSync(path.join(os.tmpdir(), 'three-strategies-'));
  const seconds: number[] = [];
  const leftOut: Record<string, string> = {};
  const bundles = STRATEGIES.map((strategy) => {
    const bundle = path.join(out, `${path.basename(folder)}-${strategy}`);
    const started = performance.now();
    convert(folder, strategy, bundle);
    seconds.push(Math.round((performance.now() - started) / 100) / 10);
    for (const [name, why] of lossyDatabases(bundle)) leftOut[name] = `${strategy}: ${why}`;
    return readBundle(bundle);
  });
  if (keep === undefined) rmSync(out, { recursive: true, force: true });
  const all = new Map(bundles.flatMap((bundle) => [...bundle]));
  const keys = [...all]
    .filter(([, item]) => !Object.hasOwn(leftOut, item.db_id))
    .map(([key]) => key);
  const differences = keys.flatMap((key) =>
    compareItem(
      key,
      bundles.map((bundle) => bundle.get(key)),
    ),
  );
  const unnamed = differences.filter((difference) => !isNamed(difference)).length;
  return { folder, items: keys.length, seconds, leftOut, unnamed, differences };
}

function convert(folder: string, strategy: string, bundle: string): void {
  const selection = databases === undefined ? [] : ['--databases', databases];
  const command = [
    'run',
    '-s',
    'aptmql',
    '--',
    'convert',
    folder,
    '--strategy',
    strategy,
    '--out',
    bundle,
    '--json',
    ...selection,
  ];
  const { status, stderr } = spawnSync('npm', command, { encoding: 'utf8', maxBuffer: 1 << 28 });
  // Status 1 also says that one of the databases was not converted; the report names it.
  const isWritten = status === 1 && existsSync(path.join(bundle, 'report.json'));
  if (status !== 0 && !isWritten)
    throw new Error(`${folder} was not converted with ${strategy}: ${stderr.slice(-2000)}`);
}

function lossyDatabases(bundle: string): [name: string, why: string][] {
  const { databases: reports } = JSON.parse(
    readFileSync(path.join(bundle, 'report.json'), 'utf8'),
  ) as {
    databases: readonly {
      name: string;
      failed?: string;
      lossless: boolean;
      lostRows: Record<string, number>;
    }[];
  };
  return reports.flatMap(({ name, failed, lossless, lostRows }): [string, string][] => {
    if (failed !== undefined) return [[name, failed]];
    return lossless ? [] : [[name, `loses rows: ${JSON.stringify(lostRows)}`]];
  });
}

function readBundle(bundle: string): Map<string, BundledItem> {
  const items = new Map<string, BundledItem>();
  const data = path.join(bundle, 'data');
  for (const file of readdirSync(data).filter((name) => name.endsWith('.jsonl'))) {
    for (const line of readFileSync(path.join(data, file), 'utf8')
      .split('\n')
      .filter((text) => text !== '')) {
      const item = JSON.parse(line) as BundledItem;
      items.set(`${file} ${item.db_id} ${item.question_id}`, item);
    }
  }
  return items;
}

function compareItem(key: string, items: readonly (BundledItem | undefined)[]): Difference[] {
  const aspects: Record<string, (item: BundledItem | undefined) => unknown> = {
    status: (item) => item?.status,
    caveats: (item) => item?.caveats.filter((caveat) => !OF_THE_PIPELINE.has(caveat)),
    rows: (item) => item?.row_count,
  };
  const differs = Object.keys(aspects).filter(
    (aspect) => new Set(items.map((item) => JSON.stringify(aspects[aspect]!(item)))).size > 1,
  );
  if (differs.length === 0) return [];
  const strategies = Object.fromEntries(
    STRATEGIES.map((strategy, index) => [strategy, summary(items[index])]),
  );
  return [{ item: key, SQL: items.find((item) => item)?.SQL ?? '', differs, strategies }];
}

const summary = (item: BundledItem | undefined): Difference['strategies'][string] => ({
  status: item?.status ?? 'missing',
  caveats: item?.caveats ?? [],
  ...(item?.reason && { reason: item.reason }),
  ...(item?.row_count !== undefined && { row_count: item.row_count }),
});

const isNamed = ({ strategies }: Difference): boolean =>
  Object.values(strategies).every(({ caveats }) =>
    caveats.some((caveat) => (AMBIGUITIES as readonly string[]).includes(caveat)),
  );

const reports = folders.map(compareFolder);
console.log(JSON.stringify(reports, null, 1));
process.exitCode = reports.some(({ unnamed }) => unnamed > 0) ? 1 : 0;
