import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { builtinAgent } from '../../agents/drivers/builtin';
import type { BundleContent, BundleDatabase } from '../../lib/bundle/content';
import { assertWritable, exportBundle, type ExportOptions } from '../../lib/bundle/export';
import { installationKey } from '../../lib/bundle/signature';
import type { Migration } from '../../lib/migration/migrate';
import {
  runInMemory,
  collectBundleDatabase,
  type MemoryRun,
} from '../../lib/pipeline/stages/memory-run';
import { lostRowsOf } from '../../lib/pipeline/stages/migration-stages';
import { defaultSettings, type BenchmarkSettings } from '../../lib/pipeline/stages/stage';
import type { ImportProblem, SourceBenchmark } from '../../lib/sqlite/benchmark';
import { openBenchmark, type OpenBenchmark } from '../../lib/sqlite/source/open-benchmark';
import { KnownResults } from '../../lib/translation/check/known-results';
import { hasGenuineLoss } from '../../lib/validation/table-validation';
import { UsageError, type Command } from '../command';
import { openMongo, type MongoConnection } from '../mongo-connection';
import { ProgressLine } from '../progress';
import { throughOutages } from '../through-outages';
import { toolVersion } from '../tool-version';

// The first of each is the default.
const strategies = ['access-pattern', 'one-to-one', 'fk-embedding'] as const;
const retypings = ['proven', 'never'] as const;
const identifiers = ['stored', 'string'] as const;
const rules = ['all', 'none'] as const;

function oneOf<Name extends string>(
  option: string,
  names: readonly [Name, ...Name[]],
  given: string | undefined,
): Name {
  const found = names.find((name) => name === (given ?? names[0]));
  if (!found) throw new UsageError(`--${option} must be one of ${names.join(', ')}`);
  return found;
}

interface DatabaseReport {
  readonly name: string;
  readonly tables: number;
  readonly rows: number;
  readonly collections: number;
  readonly documents: number;
  readonly lossless: boolean;
  readonly lostRows: Readonly<Record<string, number>>;
  readonly failed?: string;
  readonly validation: Readonly<
    Record<'collection' | 'crossCollection' | 'table', { passed: number; failed: number }>
  >;
  readonly items: {
    total: number;
    translated: number;
    untranslated: number;
    caveats: Readonly<Record<string, number>>;
  };
  readonly optimised: number;
  readonly seconds: { design: number; migrate: number; validate: number; translate: number };
}

export const command: Command = {
  summary: 'convert a benchmark folder and write its draft bundle',
  help: `usage: npm run aptmql -- convert <folder or .zip> --out <folder> [options]

Imports a BIRD or Spider folder, runs every stage with the builtin agent, and writes the draft
bundle and report.json. Needs no Postgres and no reviewer.

  --out DIR            where the bundle goes (an empty folder, or an earlier bundle)
  --databases a,b      only these source databases
  --limit N            only the first N items of each database
  --strategy S         ${strategies.join(' | ')} (default access-pattern)
  --retype R           ${retypings.join(' | ')}: text that is dates, booleans or numbers throughout
  --identifiers I      ${identifiers.join(' | ')}: the type of integer keys (default stored)
  --rules R            ${rules.join(' | ')}: none keeps the gold as it was translated (default all)
  --uri URI            a MongoDB to use (default: MONGODB_URI, else the embedded server)
  --json               print the report as JSON

Exit status: 0 when every database was converted, 1 when one failed (the others are written).`,

  async run(args) {
    const request = readRequest(args);
    assertWritable(request.out);
    const progress = new ProgressLine();
    const abort = new AbortController();
    const stop = (): void => abort.abort(new Error('cancelled'));
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
    const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'aptmql-convert-'));
    let mongo: MongoConnection | undefined;
    let opened: OpenBenchmark | undefined;
    try {
      opened = await openBenchmark(request.folder, {
        scratch,
        databases: request.databases,
        onUnpack: (done, total) => progress.bar('unpacking', done, total, 'files'),
        onProgress: (done, total, what) =>
          progress.bar(`reading ${what}`, done, total, 'databases'),
      });
      // A server of its own: conversions can run beside each other and beside the product, and
      // leave nothing behind.
      mongo = await openMongo(request.uri, scratch);
      return await convert(request, opened.benchmark, mongo, abort.signal, progress);
    } finally {
      progress.clear();
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
      await mongo?.close();
      await opened?.close();
      fs.rmSync(scratch, { recursive: true, force: true });
    }
  },
};

interface ConvertRequest {
  /** Of the benchmark, or its archive. */
  readonly folder: string;
  readonly out: string;
  /** Undefined for all of them. */
  readonly databases: readonly string[] | undefined;
  /** Items of each database. */
  readonly limit: number;
  readonly settings: BenchmarkSettings;
  readonly uri: string | undefined;
  readonly json: boolean;
}

function readRequest(args: string[]): ConvertRequest {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      out: { type: 'string' },
      databases: { type: 'string' },
      limit: { type: 'string' },
      strategy: { type: 'string' },
      retype: { type: 'string' },
      identifiers: { type: 'string' },
      rules: { type: 'string' },
      uri: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  const [folder, ...more] = positionals;
  if (!folder || more.length > 0) throw new UsageError('give one benchmark folder or .zip');
  if (!values.out) throw new UsageError('--out is missing');
  const limit = values.limit === undefined ? Infinity : Number(values.limit);
  if (!(limit > 0)) throw new UsageError('--limit must be a positive number');
  return {
    folder,
    out: values.out,
    databases: values.databases?.split(','),
    limit,
    settings: {
      ...defaultSettings,
      strategy: oneOf('strategy', strategies, values.strategy),
      retype: oneOf('retype', retypings, values.retype),
      identifiers: oneOf('identifiers', identifiers, values.identifiers),
      rules: oneOf('rules', rules, values.rules),
    },
    uri: values.uri ?? process.env.MONGODB_URI,
    json: values.json === true,
  };
}

/** Converts, exports and reports; returns the exit status. */
async function convert(
  request: ConvertRequest,
  benchmark: SourceBenchmark,
  mongo: MongoConnection,
  signal: AbortSignal,
  progress: ProgressLine,
): Promise<number> {
  const { out, settings, limit } = request;
  const known = new KnownResults();
  const { reports, databases } = await convertAll(
    benchmark,
    settings,
    limit,
    mongo,
    known,
    signal,
    progress,
  );
  const options: ExportOptions = {
    out,
    mongo: mongo.client,
    key: installationKey(path.resolve(process.env.APTMQL_DATA ?? '.data')),
    signal,
    known,
    onProgress: (done, total, what) => progress.bar(`writing ${what}`, done, total, 'databases'),
  };
  const content = bundleContent(request, benchmark, mongo, reports, databases);
  const { faults } = await throughOutages(
    mongo.client,
    signal,
    () => exportBundle(content, options),
    (message) => {
      progress.clear();
      console.error(`the bundle is written again when MongoDB is back: ${message}`);
    },
  );
  const report = { databases: reports, problems: benchmark.problems };
  fs.writeFileSync(path.join(out, 'report.json'), `${JSON.stringify(report, null, 1)}\n`);
  progress.clear();
  if (request.json) console.log(JSON.stringify(report));
  else printReport(reports, benchmark.problems, out);
  for (const fault of faults) console.error(`does not read back as exported: ${fault}`);
  const isWanted = (subject: string): boolean => request.databases?.includes(subject) ?? true;
  const isWhole =
    faults.length === 0 &&
    !benchmark.problems.some(({ kind, subject }) => isMissing(kind) && isWanted(subject)) &&
    !reports.some(({ failed }) => failed);
  return isWhole ? 0 : 1;
}

const bundleContent = (
  { folder }: ConvertRequest,
  benchmark: SourceBenchmark,
  mongo: MongoConnection,
  reports: readonly DatabaseReport[],
  databases: readonly BundleDatabase[],
): BundleContent => ({
  name: path.basename(path.resolve(folder)).replace(/\.zip$/i, ''),
  toolVersion: toolVersion(),
  engine: mongo.engine,
  questionFiles: benchmark.questionFiles,
  databases,
  problems: benchmark.problems,
  provenance: { decisions: [], effort: [], agentRuns: [], auditHead: null },
  missing: [
    'no person has reviewed it',
    ...reports.flatMap((report) =>
      report.failed ? [`${report.name} could not be converted: ${report.failed}`] : [],
    ),
  ],
});

async function convertAll(
  benchmark: SourceBenchmark,
  settings: BenchmarkSettings,
  limit: number,
  mongo: MongoConnection,
  known: KnownResults,
  signal: AbortSignal,
  progress: ProgressLine,
): Promise<{ reports: DatabaseReport[]; databases: BundleDatabase[] }> {
  const reports: DatabaseReport[] = [];
  const databases: BundleDatabase[] = [];
  for (const source of benchmark.databases) {
    const items = benchmark.items.filter((item) => item.database === source.name).slice(0, limit);
    try {
      const convertOne = (): Promise<MemoryRun> =>
        runInMemory({
          source,
          items,
          settings,
          agent: builtinAgent,
          mongo: mongo.client,
          mongoPrefix: 'aptmql_convert',
          known,
          signal,
          onProgress: (stage, done, total, unit) =>
            progress.bar(`${source.name}: ${stage.replaceAll('_', ' ')}`, done, total, unit),
        });
      const run = await throughOutages(mongo.client, signal, convertOne, (message) => {
        progress.clear();
        console.error(`${source.name} is converted again when MongoDB is back: ${message}`);
      });
      const database = await collectBundleDatabase(source, items, run.artefacts);
      databases.push(database);
      reports.push(reportOf(database, run.seconds));
    } catch (error) {
      signal.throwIfAborted();
      if (process.env.DEBUG) console.error(error);
      reports.push({
        ...emptyReport(source.name, items.length),
        failed: error instanceof Error ? error.message : String(error),
      });
    }
  }
  return { reports, databases };
}

function reportOf(
  database: BundleDatabase,
  seconds: Readonly<Partial<Record<string, number>>>,
): DatabaseReport {
  const { profile, migration, validation, items } = database;
  const lostRows = lostRowsOf(migration as Migration, profile);
  const tally = <T>(
    list: readonly T[],
    ok: (entry: T) => boolean,
  ): { passed: number; failed: number } => {
    const passed = list.filter(ok).length;
    return { passed, failed: list.length - passed };
  };
  const table = tally(validation.table, (entry) => !hasGenuineLoss(entry));
  const collection = tally(
    validation.collection.flatMap((entry) => entry.mappings),
    (mapping) => mapping.verdict.kind === 'equal',
  );
  const crossCollection = tally(
    validation.crossCollection.flatMap((entry) => entry.references),
    (reference) => reference.holds,
  );
  const caveats: Record<string, number> = {};
  for (const item of items)
    for (const caveat of item.caveats) caveats[caveat] = (caveats[caveat] ?? 0) + 1;
  const translated = items.filter((item) => item.mql).length;
  const spent = (...names: string[]): number =>
    Number(names.reduce((sum, name) => sum + (seconds[name] ?? 0), 0).toFixed(3));
  return {
    name: database.source.name,
    tables: profile.tables.length,
    rows: profile.tables.reduce((sum, entry) => sum + entry.rowCount, 0),
    collections: database.logical.length,
    documents: migration.collections.reduce((sum, entry) => sum + entry.documents, 0),
    lossless: Object.keys(lostRows).length === 0 && table.failed === 0 && collection.failed === 0,
    lostRows,
    validation: { collection, crossCollection, table },
    items: { total: items.length, translated, untranslated: items.length - translated, caveats },
    optimised: items.filter((item) => item.optimised).length,
    seconds: {
      design: spent('profile', 'conceptual_design', 'logical_design'),
      migrate: spent('migration'),
      validate: spent('collection_validation', 'cross_validation', 'table_validation'),
      translate: spent('translation', 'optimisation', 'evidence'),
    },
  };
}

const emptyReport = (name: string, items: number): DatabaseReport => ({
  name,
  tables: 0,
  rows: 0,
  collections: 0,
  documents: 0,
  lossless: false,
  lostRows: {},
  validation: {
    collection: { passed: 0, failed: 0 },
    crossCollection: { passed: 0, failed: 0 },
    table: { passed: 0, failed: 0 },
  },
  items: { total: items, translated: 0, untranslated: items, caveats: {} },
  optimised: 0,
  seconds: { design: 0, migrate: 0, validate: 0, translate: 0 },
});

const isMissing = (kind: ImportProblem['kind']): boolean =>
  kind === 'database_unreadable' || kind === 'database_left_out';

function printReport(
  reports: readonly DatabaseReport[],
  problems: readonly ImportProblem[],
  out: string,
): void {
  for (const report of reports) {
    const { items } = report;
    const data = report.failed
      ? `FAILED: ${report.failed}`
      : `${report.rows} rows → ${report.documents} documents in ${report.collections} ` +
        `collections, ${report.lossless ? 'lossless' : 'NOT LOSSLESS'}`;
    console.log(`${report.name.padEnd(32)} ${data}; ${items.translated}/${items.total} translated`);
  }
  const total = reports.reduce((sum, report) => sum + report.items.total, 0);
  const translated = reports.reduce((sum, report) => sum + report.items.translated, 0);
  const seconds = reports.reduce(
    (sum, report) => ({
      design: sum.design + report.seconds.design,
      migrate: sum.migrate + report.seconds.migrate,
      validate: sum.validate + report.seconds.validate,
      translate: sum.translate + report.seconds.translate,
    }),
    { design: 0, migrate: 0, validate: 0, translate: 0 },
  );
  console.log(
    `\n${reports.filter((report) => report.lossless).length} of ${reports.length} databases ` +
      `lossless; ${translated} of ${total} items translated ` +
      `(${total ? ((100 * translated) / total).toFixed(1) : 0} %)`,
  );
  console.log(
    `seconds: ${Object.entries(seconds)
      .map(([name, value]) => `${name} ${value.toFixed(1)}`)
      .join(
        ', ',
      )}; peak memory of this process ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`,
  );
  for (const { kind, subject, detail } of problems)
    console.log(
      `${subject}${kind === 'database_unreadable' ? ' was not converted' : ''}: ${detail}`,
    );
  console.log(`draft bundle: ${out}`);
}
