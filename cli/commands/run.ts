import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureGeneratedClient } from '../../lib/db/migrate';
import { stageNames, type StageName } from '../../lib/pipeline/stages/stage';
import { UsageError, type Command } from '../command';
import { openMongo } from '../mongo-connection';
import { ProgressLine } from '../progress';
import type { Stores } from '../services';

export const command: Command = {
  summary: 'run the pending stages of an imported benchmark',
  help: `usage: npm run aptmql -- run <benchmark> [options]

Queues what is pending and works on it until nothing is left. Other workers help if they run.

  --from STAGE         queue this stage and all after it, done or not:
                       ${stageNames.slice(0, 5).join(', ')},
                       ${stageNames.slice(5).join(', ')}
  --databases a,b      only these source databases
  --json               print the outcome as JSON

Exit status: 0 when every stage is done, 1 when one failed.`,

  async run(args) {
    const request = readRequest(args);
    await ensureGeneratedClient();
    const { openStores } = await import('../services');
    const stores = await openStores();
    const progress = new ProgressLine();
    const stopped = new AbortController();
    const stop = () => stopped.abort();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    try {
      const databases = await chosenDatabases(request, stores);
      await queue(request, databases, stores);
      await workThrough(databases, stores, stopped.signal, progress);
      const outcomes = await Promise.all(databases.map((database) => outcomeOf(database, stores)));
      if (request.json) console.log(JSON.stringify({ databases: outcomes }));
      else outcomes.forEach(printOutcome);
      return outcomes.every((row) => row.done === row.stages) ? 0 : 1;
    } finally {
      process.off('SIGINT', stop).off('SIGTERM', stop);
      await stores.close();
    }
  },
};

interface RunRequest {
  readonly benchmark: string;
  /** The stage to start again from; undefined for what is pending. */
  readonly from: StageName | undefined;
  /** Undefined for all of them. */
  readonly databases: readonly string[] | undefined;
  readonly json: boolean;
}

function readRequest(args: string[]): RunRequest {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      from: { type: 'string' },
      databases: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  const [benchmark, ...more] = positionals;
  if (!benchmark || more.length > 0) throw new UsageError('give one benchmark by its name');
  const from = stageNames.find((stage) => stage === values.from);
  if (values.from && !from) throw new UsageError(`there is no stage "${values.from}"`);
  const databases = values.databases?.split(',');
  return { benchmark, from, databases, json: values.json === true };
}

interface SourceDatabase {
  readonly id: string;
  readonly name: string;
}

async function chosenDatabases(
  { benchmark: name, databases: chosen }: RunRequest,
  { db }: Stores,
): Promise<SourceDatabase[]> {
  const benchmark = await db.prisma.benchmark.findUnique({
    where: { name },
    include: { databases: { orderBy: { name: 'asc' } } },
  });
  if (!benchmark) {
    const known = await db.prisma.benchmark.findMany({
      select: { name: true },
      orderBy: { name: 'asc' },
    });
    const names = known.map((row) => row.name).join(', ');
    throw new UsageError(
      `there is no benchmark "${name}"; ` +
        `${known.length > 0 ? `these are: ${names}` : 'import one first'}`,
    );
  }
  const unknown = chosen?.find(
    (wanted) => !benchmark.databases.some((database) => database.name === wanted),
  );
  if (unknown) throw new UsageError(`the benchmark has no database "${unknown}"`);
  return benchmark.databases.filter((database) => !chosen || chosen.includes(database.name));
}

async function queue(
  { from }: RunRequest,
  databases: readonly SourceDatabase[],
  { db }: Stores,
): Promise<void> {
  const { requestPending, requestStage } = await import('../../lib/pipeline/schedule');
  for (const { id } of databases)
    await db.transaction((tx) =>
      from
        ? requestStage(tx, { databaseId: id, stage: from, only: null, carriesChange: true })
        : requestPending(tx, id),
    );
}

/** Works until nothing of these databases is queued or running, or until it is stopped. */
async function workThrough(
  databases: readonly SourceDatabase[],
  stores: Stores,
  signal: AbortSignal,
  progress: ProgressLine,
): Promise<void> {
  const { runWorker } = await import('../run-worker');
  const mongo = await openMongo(stores.config.mongodbUri, stores.config.dataDir);
  const worker = await runWorker(stores, mongo.client);
  try {
    while (!signal.aborted) {
      const active = await stores.db.prisma.stageRun.findMany({
        where: {
          databaseId: { in: databases.map(({ id }) => id) },
          state: { in: ['queued', 'running'] },
        },
        include: { database: true },
        orderBy: { state: 'desc' },
      });
      if (active.length === 0) break;
      const run = active.find(({ state }) => state === 'running');
      if (run) {
        const title = `${run.database.name}: ${run.stage.replaceAll('_', ' ')}`;
        progress.bar(title, run.done, run.total, run.unit);
      }
      // woken by Ctrl-C
      await sleep(300, undefined, { signal }).catch(() => {});
    }
  } finally {
    progress.clear();
    await worker.stop();
    await mongo.close();
  }
}

type Outcome = Awaited<ReturnType<typeof outcomeOf>>;

async function outcomeOf({ id, name }: SourceDatabase, { db }: Stores) {
  const { latestRuns } = await import('../../lib/pipeline/schedule');
  const runs = await latestRuns(db.prisma, id);
  const isDone = (stage: string): boolean =>
    runs.some((run) => run.stage === stage && run.state === 'done');
  return {
    database: name,
    done: stageNames.filter(isDone).length,
    stages: stageNames.length,
    failed: runs
      .filter((run) => run.state === 'failed')
      .map(({ stage, failure }) => ({ stage, failure })),
  };
}

function printOutcome({ database, done, stages, failed }: Outcome): void {
  const failures = failed.map(({ stage, failure }) => `; ${stage} FAILED: ${failure}`).join('');
  console.log(`${database.padEnd(32)} ${done} of ${stages} stages done${failures}`);
}
