import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureGeneratedClient } from '../../lib/db/migrate';
import { openBenchmark } from '../../lib/sqlite/source/open-benchmark';
import { UsageError, type Command } from '../command';
import { ProgressLine } from '../progress';

export const command: Command = {
  summary: 'load a BIRD or Spider folder or .zip as a benchmark',
  help: `usage: npm run aptmql -- import <folder or .zip> [options]

Reads a benchmark, checks every file and stores all of it or nothing. The agents start on it as soon
as a worker runs (npm start), or with: npm run aptmql -- run <benchmark>

  --name NAME          the benchmark's name (default: the folder's)
  --agent NAME         builtin | claude (default builtin)
  --json               print the outcome as JSON

Exit status: 0 when it was stored.`,

  async run(args) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { name: { type: 'string' }, agent: { type: 'string' }, json: { type: 'boolean' } },
    });
    const [source, ...more] = positionals;
    if (!source || more.length > 0) throw new UsageError('give one benchmark folder or .zip');
    const agent = values.agent ?? 'builtin';
    if (agent !== 'builtin' && agent !== 'claude')
      throw new UsageError('--agent must be builtin or claude');
    const name = values.name ?? path.basename(path.resolve(source)).replace(/\.zip$/i, '');
    const progress = new ProgressLine();
    const opened = await openBenchmark(source, {
      onUnpack: (done, total) => progress.bar('unpacking', done, total, 'files'),
      onProgress: (done, total, what) => progress.bar(`reading ${what}`, done, total, 'databases'),
    });
    try {
      const { benchmark } = opened;
      await ensureGeneratedClient();
      const { openStores } = await import('../services');
      const { importBenchmark } = await import('../../lib/pipeline/import-benchmark');
      const stores = await openStores();
      try {
        const megabytes = (bytes: number) => Math.round(bytes / 1e6);
        const id = await importBenchmark(stores.db, stores.blobs, benchmark, {
          name,
          agent,
          actor: 'aptmql import',
          progress: (done, total) =>
            progress.bar('storing', megabytes(done), megabytes(total), 'MB'),
        });
        progress.clear();
        const outcome = {
          id,
          name,
          databases: benchmark.databases.length,
          items: benchmark.items.length,
          problems: benchmark.problems,
        };
        if (values.json) console.log(JSON.stringify(outcome));
        else {
          console.log(`${name}: ${outcome.databases} databases, ${outcome.items} items`);
          for (const problem of benchmark.problems)
            console.log(`  ${problem.subject}: ${problem.detail}`);
        }
        return 0;
      } finally {
        await stores.close();
      }
    } finally {
      progress.clear();
      await opened.close();
    }
  },
};
