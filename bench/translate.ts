/**
 * Time of translating and optimising, and the share that is translated, over the items of BIRD and
 * Spider folders.
 *
 *   npx tsx bench/translate.ts <benchmark-dir>… [--strategy access-pattern|one-to-one|fk-embedding]
 *
 * Prints one JSON document. Equality is not measured here: that takes a server (`aptmql convert`,
 * then the referee).
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Strategy } from '../lib/design/model/document-design';
import { deriveDesign } from '../lib/design/logical/logical';
import { proposeDesign } from '../lib/design/propose/propose';
import { readWorkload } from '../lib/design/model/read-workload';
import { askedJoins } from '../lib/sqlite/profile/asked-joins';
import { catalogOf } from '../lib/sqlite/schema/introspect';
import { openSource } from '../lib/sqlite/open';
import { profileDatabase } from '../lib/sqlite/profile/profile-database';
import { optimise } from '../lib/translation/rules/optimise';
import { translate } from '../lib/translation/translate';

const args = process.argv.slice(2);
const at = args.indexOf('--strategy');
const strategy = (at < 0 ? 'access-pattern' : args[at + 1]) as Strategy;
const folders = at < 0 ? args : args.filter((_, index) => index !== at && index !== at + 1);

const files = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name)),
);
const databases = new Map(
  files
    .filter((file) => /\.sqlite$/.test(file))
    .map((file) => [path.basename(file, '.sqlite'), file]),
);
const items = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter(
      (name) => /^(dev|train.*)\.json$/.test(name) && statSync(path.join(folder, name)).isFile(),
    )
    .flatMap(
      (name) =>
        JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as {
          db_id: string;
          SQL?: string;
          query?: string;
        }[],
    ),
);

const milliseconds: number[] = [];
const stages: number[] = [];
const untranslated: Record<string, number> = {};
let joined = 0;
let joinedWithoutLookup = 0;
for (const [database, file] of databases) {
  const sqlite = openSource(file);
  const catalog = catalogOf(sqlite, { name: database, sha256: '', descriptions: {} });
  const own = items
    .filter(({ db_id }) => db_id === database)
    .map((item, index) => ({
      questionId: String(index),
      split: 'bench',
      database,
      question: '',
      evidence: '',
      sql: item.SQL ?? item.query ?? '',
      difficulty: '',
    }));
  const profile = profileDatabase(sqlite, catalog, { asked: askedJoins(own, catalog) });
  sqlite.close();
  const input = {
    catalog,
    profile,
    workload: readWorkload(own, catalog, profile),
    strategy,
    limits: { maxArrayP99: 100, maxArray: 1000 },
    directives: [],
  };
  const design = deriveDesign({
    conceptual: proposeDesign(input).design,
    catalog,
    profile,
    directives: [],
  });
  for (const { sql } of own) {
    const start = performance.now();
    const translation = translate(sql, { catalog, profile, design });
    if (translation.status === 'untranslated') {
      untranslated[translation.code] = (untranslated[translation.code] ?? 0) + 1;
      continue;
    }
    const { pipeline } = optimise({
      catalog,
      profile,
      design,
      collection: translation.collection,
      pipeline: translation.pipeline,
    });
    milliseconds.push(performance.now() - start);
    stages.push(pipeline.length);
    if (/\bjoin\b/i.test(sql)) {
      joined++;
      if (!JSON.stringify(pipeline).includes('"$lookup"')) joinedWithoutLookup++;
    }
  }
}

const quantile = (values: readonly number[], q: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * q)] ?? 0;
const round = (value: number): number => Math.round(value * 1000) / 1000;
console.log(
  JSON.stringify(
    {
      strategy,
      databases: databases.size,
      translated: milliseconds.length,
      untranslated,
      milliseconds: {
        median: round(quantile(milliseconds, 0.5)),
        p95: round(quantile(milliseconds, 0.95)),
        max: round(quantile(milliseconds, 1)),
      },
      stages: {
        median: quantile(stages, 0.5),
        mean: round(stages.reduce((sum, count) => sum + count, 0) / stages.length),
      },
      joinsWithoutLookup: round(joinedWithoutLookup / Math.max(1, joined)),
    },
    null,
    2,
  ),
);
