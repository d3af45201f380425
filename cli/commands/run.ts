import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureGeneratedClient } from '../../lib/db/migrate';
import { stageNames } from '../../lib/pipeline/stages/stage';
import { UsageError, type Command } from '../command';
import { openMongo } from '../mongo-connection';
import { ProgressLine } from '../progress';

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
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        from: { type: 'string' },
        databases: { type: 'string' },
        json: { type: 'boolean' },
      },
    });
    const [name, ...more] = positionals;
    if (!name || more.length > 0) throw new UsageError('give one benchmark by its name');
    const from = stageNames.find((stage) => stage === values.from);
    if (values.from && !from) throw new UsageError(`there is no stage "${values.from}"`);
    await ensureGeneratedClient();
    const { openStores } = await import('../services');
    const { runWorker } = await import('../run-worker');
    const { latestRuns, requestPending, requestStage } =
      await import('../../lib/pipeline/schedule');
    const stores = await openStores();
    const progress = new ProgressLine();
    const stopped = new AbortController();
    const stop = () => stopped.abort();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    try {
      const { db } = stores;
      const benchmark = await db.prisma.benchmark.findUnique({
        where: { name },
        include: { databases: { orderBy: { name: 'asc' } } },
      });
      if (!benchmark) {
        const known = await db.prisma.benchmark.findMany({
          select: { name: true },
          orderBy: { name: 'asc' },
        });
        throw new UsageError(
          `there is no benchmark "${name}"; ` +
            `${known.length > 0 ? `these are: ${known.map((row) => row.name).join(', ')}` : 'import one first'}`,
        );
      }
      const chosen = values.databases?.split(',');
      const unknown = chosen?.find(
        (wanted) => !benchmark.databases.some((database) => database.name === wanted),
      );
      if (unknown) throw new UsageError(`the benchmark has no database "${unknown}"`);
      const databases = benchmark.databases.filter(
        (database) => !chosen || chosen.includes(database.name),
      );
      for (const { id } of databases) {
        await db.transaction((tx) =>
          from
            ? requestStage(tx, { databaseId: id, stage: from, only: null, carriesChange: true })
            : requestPending(tx, id),
        );
      }
      const mongo = await openMongo(stores.config.mongodbUri, stores.config.dataDir);
      const worker = await runWorker(stores, mongo.client);
      try {
        const ids = databases.map(({ id }) => id);
        while (!stopped.signal.aborted) {
          const active = await db.prisma.stageRun.findMany({
            where: { databaseId: { in: ids }, state: { in: ['queued', 'running'] } },
            include: { database: true },
            orderBy: { state: 'desc' },
          });
          if (active.length === 0) break;
          const run = active.find(({ state }) => state === 'running');
          if (run)
            progress.bar(
              `${run.database.name}: ${run.stage.replaceAll('_', ' ')}`,
              run.done,
              run.total,
              run.unit,
            );
          // woken by Ctrl-C
          await sleep(300, undefined, { signal: stopped.signal }).catch(() => {});
        }
      } finally {
        progress.clear();
        await worker.stop();
        await mongo.close();
      }
      const outcome = [];
      for (const { id, name: database } of databases) {
        const runs = await latestRuns(db.prisma, id);
        const failed = runs
          .filter((run) => run.state === 'failed')
          .map(({ stage, failure }) => ({ stage, failure }));
        outcome.push({
          database,
          done: stageNames.filter((stage) =>
            runs.some((run) => run.stage === stage && run.state === 'done'),
          ).length,
          stages: stageNames.length,
          failed,
        });
      }
      if (values.json) console.log(JSON.stringify({ databases: outcome }));
      else
        for (const row of outcome)
          console.log(
            `${row.database.padEnd(32)} ${row.done} of ${row.stages} stages ` +
              `done${row.failed.map(({ stage, failure }) => `; ${stage} FAILED: ${failure}`).join('')}`,
          );
      return outcome.every((row) => row.done === row.stages) ? 0 : 1;
    } finally {
      process.off('SIGINT', stop).off('SIGTERM', stop);
      await stores.close();
    }
  },
};
