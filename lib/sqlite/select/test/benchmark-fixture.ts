import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const DATA = path.resolve(import.meta.dirname, '../../../../../shared/data');

export interface BenchmarkItem {
  readonly id: string;
  readonly database: string;
  readonly sql: string;
}

/**
 * The benchmarks that tests read beside the repository, or undefined (with a message) where they
 * are absent.
 */
export function benchmarkData():
  { items: BenchmarkItem[]; databases: Map<string, string> } | undefined {
  if (!existsSync(DATA)) {
    console.warn(`skipped: there is no benchmark data at ${DATA}`);
    return undefined;
  }
  const items = ['spider/dev.json', 'spider/train_spider.json', 'bird/dev.json'].flatMap((file) => {
    const entries = JSON.parse(readFileSync(path.join(DATA, file), 'utf8')) as {
      db_id: string;
      query?: string;
      SQL?: string;
      question_id?: number;
    }[];
    return entries.map((entry, index) => ({
      id: `${file}:${String(entry.question_id ?? index)}`,
      database: entry.db_id,
      sql: entry.SQL ?? entry.query ?? '',
    }));
  });
  const databases = new Map<string, string>();
  for (const folder of ['spider/database', 'bird/dev_databases']) {
    for (const name of readdirSync(path.join(DATA, folder))) {
      const file = path.join(DATA, folder, name, `${name}.sqlite`);
      if (existsSync(file)) databases.set(name, file);
    }
  }
  return { items, databases };
}
