import type { BundleContent } from './content';
import { leftOut } from './left-out';

/**
 * The dataset card: a YAML header that dataset viewers read, then what a consumer needs to know.
 */
export function bundleCard(content: BundleContent, missing: readonly string[]): string {
  const splits = content.questionFiles.map(({ split }) => split);
  const lines = [
    '---',
    'license: cc-by-sa-4.0',
    'task_categories: [text-generation]',
    'configs:',
    '- config_name: default',
    '  data_files:',
    ...splits.map(
      (split) => `  - split: ${split.replace(/\W/g, '_')}\n    path: data/${split}.jsonl`,
    ),
    '---',
    '',
    `# ${content.name}: text-to-MQL`,
    '',
    ...(content.missing === undefined ? [] : draftNotice(missing)),
    ...figures(content),
    ...leftOutTables(content),
    ...leftOutItems(content),
    ...USE,
  ];
  return lines.join('\n');
}

const draftNotice = (missing: readonly string[]): string[] => [
  '> **DRAFT.** This bundle is not finalised. Do not publish scores on it.',
  '>',
  ...missing.slice(0, 50).map((line) => `> - ${line.replaceAll('\n', ' ')}`),
  ...(missing.length > 50 ? [`> - … and ${missing.length - 50} more`] : []),
  '',
];

function figures(content: BundleContent): string[] {
  const items = content.databases.flatMap((database) => database.items);
  const count = (test: (item: (typeof items)[number]) => boolean): number =>
    items.filter(test).length;
  const translated = items.filter((entry) => entry.mql !== null);
  const mean = (values: readonly number[]): string =>
    values.length
      ? (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(2)
      : '–';
  const documents = content.databases.map((database) =>
    database.migration.collections.reduce((sum, collection) => sum + collection.documents, 0),
  );
  const caveats = new Map<string, number>();
  for (const entry of items)
    for (const caveat of entry.caveats) caveats.set(caveat, (caveats.get(caveat) ?? 0) + 1);
  return [
    `A text-to-SQL benchmark converted to MongoDB: ${content.databases.length} databases, ` +
      `${items.length} items, of which ${translated.length} have a gold pipeline whose result ` +
      'equals that of the source SQL.',
    '',
    '| | |',
    '|---|---:|',
    `| databases | ${content.databases.length} |`,
    '| collections a database | ' +
      `${mean(content.databases.map((database) => database.logical.length))} |`,
    `| root documents a database | ${mean(documents)} |`,
    `| items | ${items.length} |`,
    `| translated | ${translated.length} |`,
    `| untranslated | ${count((entry) => entry.status === 'untranslated')} |`,
    `| excluded | ${count((entry) => entry.status === 'excluded')} |`,
    `| optimised | ${count((entry) => entry.optimised)} |`,
    `| question length, characters | ${mean(items.map((entry) => entry.item.question.length))} |`,
    `| aggregation stages | ${mean(translated.map((entry) => entry.mql!.pipeline.length))} |`,
    `| nesting depth | ${mean(translated.map((entry) => depth(entry.mql!.pipeline)))} |`,
    ...[...caveats].sort().map(([caveat, n]) => `| caveat \`${caveat}\` | ${n} |`),
    '',
  ];
}

const USE: readonly string[] = [
  '## Layout',
  '',
  '`data/<split>.jsonl`: one item a line; `MQL` is present when `status` is `translated`. ' +
    '`results/`: expected rows with their BSON types; where the order counts, `tied_rows` ' +
    'lists the first and last position of each run of rows that may come in any order among ' +
    'themselves. Where a limit cuts through a tie, `open_rows` names the positions (`rows`) ' +
    'that may hold any of the documents `among`, each at most as often as it stands there. ' +
    '`databases/<db>/`: documents (`ejson/` keeps types; `dump/` is for mongorestore), ' +
    'design, indexes, migration script, validation. `provenance/`: decisions, effort, agent ' +
    'runs, source defects, and what of the source is left out.',
  '',
  'A retyped column states its transform in `columns`: the SQL side goes through it before it ' +
    'is compared. Nothing is coerced.',
  '',
  '## Rebuild',
  '',
  'With the source SQLite file of a database, `databases/<db>/migrate.mjs` builds the same ' +
    'MongoDB database, document by document. It needs `better-sqlite3` and `mongodb` and ' +
    'nothing else:',
  '',
  '```sh',
  'npm install better-sqlite3 mongodb',
  'node databases/<db>/migrate.mjs --source <db>.sqlite --uri mongodb://localhost:27017 ' +
    '--database <db>',
  '```',
  '',
  '## Verify',
  '',
  '`npm run aptmql -- verify <this folder>` checks every hash and the signature, restores the ' +
    'databases into an empty MongoDB, runs all gold and compares.',
  '',
];

/** Levels of objects and arrays below a stage, as the paper's Table 1 counts nesting. */
function depth(node: unknown): number {
  if (node === null || typeof node !== 'object') return 0;
  const isPlain = Array.isArray(node) || node.constructor === Object;
  const inner: unknown[] = isPlain ? Object.values(node) : [];
  return (
    inner.reduce<number>((deepest, value) => Math.max(deepest, depth(value)), 0) +
    (Array.isArray(node) ? 0 : 1)
  );
}

/** A virtual table is not in the documents: who uses the bundle has to know. */
function leftOutTables({ databases }: BundleContent): string[] {
  const tables = databases.flatMap(({ source, catalog }) =>
    (catalog.leftOut ?? []).map((table) => `\`${source.name}.${table}\``),
  );
  return tables.length === 0
    ? []
    : [`Virtual tables of the sources are not migrated: ${tables.join(', ')}.`, ''];
}

/** More are in provenance/left_out.jsonl. */
const MOST_LISTED = 50;

function leftOutItems(content: BundleContent): string[] {
  const all = leftOut(content);
  if (all.length === 0) return [];
  const lines = all.slice(0, MOST_LISTED).map(({ kind, subject, database, reason }) => {
    const where = database === null ? '' : ` (${database})`;
    return (
      `- ${kind.replaceAll('_', ' ')}: \`${subject}\`${where}: ` + `${reason.replaceAll('\n', ' ')}`
    );
  });
  const more = all.length - MOST_LISTED;
  const rest = more > 0 ? [`- … and ${more} more`] : [];
  return ['## Left out', '', 'All are in `provenance/left_out.jsonl`.', '', ...lines, ...rest, ''];
}
