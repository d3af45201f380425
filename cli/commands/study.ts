import { parseArgs } from 'node:util';
import { defaultSettings } from '../../lib/pipeline/stages/stage';
import { openBenchmark } from '../../lib/sqlite/source/open-benchmark';
import {
  studiedStrategies,
  studyIntegrity,
  type Integrity,
  type IntegrityRow,
} from '../../lib/studies/integrity';
import { UsageError, type Command } from '../command';
import { ProgressLine } from '../progress';

export const command: Command = {
  summary: 'measure the strategies against each other (the paper’s Table 3)',
  help: `usage: npm run aptmql -- study integrity <folder> [--databases a,b] [--json]

Converts every database of a BIRD or Spider folder under each strategy (one-to-one, foreign-key
embedding, access patterns) with the same engines, and prints the paper's Table 3: lossless, the
share of source rows lost, or why the database cannot be converted. Needs no MongoDB.`,

  async run(args) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { databases: { type: 'string' }, json: { type: 'boolean' } },
    });
    const [study, folder, ...more] = positionals;
    if (study !== 'integrity')
      throw new UsageError(study ? `there is no study "${study}"` : 'name the study: integrity');
    if (!folder || more.length > 0) throw new UsageError('give one benchmark folder');
    const progress = new ProgressLine();
    const rows = await measure(folder, values.databases?.split(','), progress);
    progress.clear();
    if (values.json) console.log(JSON.stringify(rows));
    else print(rows);
    return 0;
  },
};

async function measure(
  folder: string,
  only: readonly string[] | undefined,
  progress: ProgressLine,
): Promise<IntegrityRow[]> {
  const { benchmark, close } = await openBenchmark(folder, { databases: only });
  const { databases, items } = benchmark;
  try {
    return databases.map((database, index): IntegrityRow => {
      progress.bar(database.name, index, databases.length, 'databases');
      return studyIntegrity(
        database,
        items.filter((item) => item.database === database.name),
        defaultSettings,
      );
    });
  } finally {
    await close();
  }
}

function print(rows: readonly IntegrityRow[]): void {
  console.log(
    `${'database'.padEnd(32)} ${'tables'.padStart(6)} ${'rows'.padStart(9)}  ` +
      `${studiedStrategies.map((name) => name.padEnd(16)).join('')}`,
  );
  for (const row of rows)
    console.log(
      `${row.database.padEnd(32)} ${String(row.tables).padStart(6)} ` +
        `${String(row.rows).padStart(9)}  ` +
        `${studiedStrategies.map((name) => cell(row.strategies[name]).padEnd(16)).join('')}`,
    );
  const summary = studiedStrategies.map((name) => {
    const outcomes = rows.map((row) => row.strategies[name].outcome);
    const lossless = outcomes.filter((outcome) => outcome === 'lossless').length;
    return `${outcomes.filter((outcome) => outcome !== 'failed').length} (${lossless})`.padEnd(16);
  });
  console.log(
    `${'converted (lossless)'.padEnd(32)} ${''.padStart(6)} ${''.padStart(9)}  ${summary.join('')}`,
  );
  for (const row of rows) {
    for (const name of studiedStrategies) {
      const result = row.strategies[name];
      if (result.outcome === 'failed') console.log(`  ${row.database}, ${name}: ${result.reason}`);
      if (result.outcome === 'lossy')
        console.log(
          `  ${row.database}, ${name}: lost ${Object.entries(result.lostRows)
            .map(([table, n]) => `${n} of ${table}`)
            .join(', ')}`,
        );
    }
  }
}

const cell = (result: Integrity): string => {
  if (result.outcome === 'lossless') return '✓';
  return result.outcome === 'failed' ? '×' : `${(100 * result.share).toFixed(2)} %`;
};
