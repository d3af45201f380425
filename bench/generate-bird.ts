/**
 * Small databases for schemas whose data is not at hand, sown with the constants of their queries.
 *
 *   npx tsx bench/generate-bird.ts <bird-dir> <out-dir> [--seed 7]
 *
 * Writes a folder in BIRD's layout: `dev.json` with the items of every schema of `dev_tables.json`
 * that has no database in <bird-dir>, and a generated database for each. Prints how many of their
 * queries return something; equality is then measured by `aptmql convert <out-dir>` and the
 * referee.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { generateSource, type SchemaFile } from '../lib/studies/generated-source';
import { openSource } from '../lib/sqlite/open';
import { catalogOf } from '../lib/sqlite/schema/introspect';
import { runnableSql } from '../lib/sqlite/select/runnable-sql';
import { Random } from '../sample/random';

const [bird = '', out = '', flag, seed = '7'] = process.argv.slice(2);
if (bird === '' || out === '' || (flag !== undefined && flag !== '--seed'))
  throw new Error('usage: generate-bird.ts <bird-dir> <out-dir> [--seed 7]');
const schemas = JSON.parse(
  readFileSync(path.join(bird, 'dev_tables.json'), 'utf8'),
) as SchemaFile[];
const items = JSON.parse(readFileSync(path.join(bird, 'dev.json'), 'utf8')) as {
  question_id: number;
  db_id: string;
  SQL: string;
}[];
const absent = schemas.filter(
  ({ db_id }) => !existsSync(path.join(bird, 'dev_databases', db_id, `${db_id}.sqlite`)),
);

rmSync(path.join(out, 'dev_databases'), { recursive: true, force: true });
const report: Record<string, unknown> = {};
let [answered, total] = [0, 0];
for (const schema of absent) {
  const own = items.filter(({ db_id }) => db_id === schema.db_id);
  const folder = path.join(out, 'dev_databases', schema.db_id);
  const file = path.join(folder, `${schema.db_id}.sqlite`);
  mkdirSync(folder, { recursive: true });
  const random = new Random(Number(seed));
  generateSource(file, { schema, sql: own.map(({ SQL }) => SQL), random: () => random.next() });
  const sqlite = openSource(file);
  const catalog = catalogOf(sqlite, { name: schema.db_id, sha256: '', descriptions: {} });
  const empty = own.filter(({ SQL }) => {
    try {
      const rows = sqlite.prepare(runnableSql(SQL, catalog)).raw(true).all() as unknown[][];
      // A lone null, or a count of nothing, says no more than no row.
      return rows.every((row) =>
        row.every(
          (value) =>
            value === null || (rows.length === 1 && row.length === 1 && Number(value) === 0),
        ),
      );
    } catch {
      return true;
    }
  });
  sqlite.close();
  report[schema.db_id] = {
    items: own.length,
    empty: empty.length,
    emptyItems: empty.map(({ question_id }) => question_id),
  };
  answered += own.length - empty.length;
  total += own.length;
}
writeFileSync(
  path.join(out, 'dev.json'),
  JSON.stringify(
    items.filter(({ db_id }) => absent.some((schema) => schema.db_id === db_id)),
    null,
    1,
  ),
);
console.log(
  JSON.stringify({
    databases: absent.length,
    items: total,
    notEmpty: answered,
    share: Math.round((answered / total) * 1000) / 1000,
    byDatabase: report,
  }),
);
