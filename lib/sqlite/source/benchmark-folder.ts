import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import type {
  ColumnDescriptions,
  ImportProblem,
  Item,
  QuestionFile,
  SourceBenchmark,
  SourceDatabase,
} from '../benchmark';
import { catalogOf } from '../schema/introspect';
import { withIdentities } from './item-identity';
import { assertIntact, lacksResource, openSource, SourceError } from '../open';
import { copySource } from './source-copy';

/**
 * The folder is no benchmark, or one that cannot be used; the message says what was looked for and
 * where.
 */
export class BenchmarkFolderError extends Error {}

// Both layouts in one: BIRD names the query `SQL`, Spider `query`; other keys are theirs.
const rawItem = z.looseObject({
  question_id: z.union([z.number(), z.string()]).optional(),
  db_id: z.string().min(1),
  question: z.string(),
  evidence: z.string().nullish(),
  SQL: z.string().optional(),
  query: z.string().optional(),
  difficulty: z.string().nullish(),
});

const LAYOUT =
  'A BIRD folder has dev.json and dev_databases/<name>/<name>.sqlite, a Spider folder dev.json ' +
  'or train_spider.json and database/<name>/<name>.sqlite.';
const QUESTION_FILE = /^(dev|train.*|test.*|mini_dev.*)\.json$/;
const DATABASE_FILE = /\.(sqlite|sqlite3|db)$/i;
const SAFE_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_ .()-]{0,99}$/u;
const MAX_DEPTH = 6;

export interface ReadOptions {
  /**
   * A folder of ours, into which the files are copied; the benchmark is usable as long as it is
   * there.
   */
  readonly copies: string;
  /** Only these databases are copied and read. */
  readonly databases?: readonly string[] | undefined;
  readonly onProgress?: (done: number, total: number, what: string) => void;
}

/**
 * Reads a BIRD or Spider folder: question files at its top, SQLite files at any depth, and BIRD's
 * `database_description` folders beside them. Everything is hashed; every database is checked to be
 * a whole SQLite file. Nothing is written into the folder.
 */
export async function readBenchmarkFolder(
  folder: string,
  options: ReadOptions,
): Promise<SourceBenchmark> {
  if (!fs.existsSync(folder)) throw new BenchmarkFolderError(`there is no folder ${folder}`);
  if (!fs.statSync(folder).isDirectory())
    throw new BenchmarkFolderError(
      `${folder} is a file; a BIRD or Spider folder was expected (for an archive, use a .zip)`,
    );
  const root = descendToQuestions(folder);
  const problems: ImportProblem[] = [];
  const read = readQuestions(root, options.copies, problems);
  const found = findDatabases(root);
  if (found.length === 0)
    throw new BenchmarkFolderError(
      `there is no SQLite file (.sqlite, .sqlite3, .db) in the folder. ${LAYOUT}`,
    );
  const { databases, names } = await readDatabases(found, root, problems, options);
  const { items, refused } = withIdentities(read.flatMap((file) => file.items));
  const readable = new Set(databases.map((database) => database.name));
  problems.push(...refused, ...unmatched(items, names, readable, options.databases));
  return {
    kind: read.some((file) => file.bird) ? 'bird' : 'spider',
    questionFiles: read.map((file) => file.file),
    databases: databases.sort((a, b) => (a.name < b.name ? -1 : 1)),
    items: items.filter((item) => readable.has(item.database)),
    problems,
  };
}

/** The question files at the top of the folder; others that look like some are problems. */
function readQuestions(root: string, copies: string, problems: ImportProblem[]): Questions[] {
  const questionPaths = fs
    .readdirSync(root)
    .filter((name) => QUESTION_FILE.test(name) && !name.endsWith('_tables.json'))
    .sort();
  if (questionPaths.length === 0) {
    throw new BenchmarkFolderError(
      'there is no question file (dev.json, train.json, train_spider.json, mini_dev….json) at ' +
        `the top of the folder. ${LAYOUT}`,
    );
  }
  for (const name of unreadQuestionFiles(root, questionPaths)) {
    problems.push({
      kind: 'file_left_out',
      subject: name,
      detail:
        'it is not read: question files are named dev.json, train….json, test….json or ' +
        'mini_dev….json',
    });
  }
  fs.mkdirSync(copies, { recursive: true });
  return questionPaths.map((name) =>
    readQuestionFile(path.join(root, name), path.join(copies, name), problems),
  );
}

/** Reads the databases that are wanted; `names` are those of all that are there. */
async function readDatabases(
  files: readonly string[],
  root: string,
  problems: ImportProblem[],
  { copies, databases: wanted, onProgress }: ReadOptions,
): Promise<{ databases: SourceDatabase[]; names: ReadonlySet<string> }> {
  const databases: SourceDatabase[] = [];
  const names = new Set<string>();
  for (const [index, file] of files.entries()) {
    const name = path.basename(file).replace(DATABASE_FILE, '');
    onProgress?.(index, files.length, name);
    if (!SAFE_NAME.test(name)) {
      problems.push({
        kind: 'database_left_out',
        subject: name,
        detail:
          'the name may hold letters, digits, spaces and _ - . ( ) only, since files and ' +
          'databases are named after it',
      });
      continue;
    }
    names.add(name);
    if (wanted && !wanted.includes(name)) continue;
    if (databases.some((database) => database.name.toLowerCase() === name.toLowerCase())) {
      problems.push({
        kind: 'database_left_out',
        subject: name,
        detail:
          'another file of that name is used; this one is left out: ' +
          `${path.relative(root, file)}`,
      });
      continue;
    }
    const database = await readDatabase(file, path.join(copies, `${name}.sqlite`), name, problems);
    if (database) databases.push(database);
  }
  onProgress?.(files.length, files.length, 'done');

  const missing = wanted?.find((name) => !names.has(name));
  if (missing !== undefined)
    throw new BenchmarkFolderError(
      `there is no database "${missing}" in the folder; these are: ${[...names].sort().join(', ')}`,
    );
  if (databases.length === 0) {
    const reasons = problems
      .filter(({ kind }) => kind === 'database_unreadable' || kind === 'database_left_out')
      .slice(0, 5)
      .map((problem) => `${problem.subject}: ${problem.detail}`);
    throw new BenchmarkFolderError(
      `none of the ${files.length} databases can be read. ${reasons.join('; ')}`,
    );
  }
  return { databases, names };
}

/** Items whose database cannot be read, and databases without items. */
function unmatched(
  items: readonly Item[],
  names: ReadonlySet<string>,
  readable: ReadonlySet<string>,
  wanted?: readonly string[],
): ImportProblem[] {
  const orphans = new Map<string, number>();
  for (const { database } of items) {
    const isLeftOut = wanted !== undefined && names.has(database) && !wanted.includes(database);
    if (!readable.has(database) && !isLeftOut)
      orphans.set(database, (orphans.get(database) ?? 0) + 1);
  }
  const used = new Set(items.map((item) => item.database));
  return [
    ...[...orphans].map(([database, count]): ImportProblem => ({
      kind: 'item_without_database',
      subject: database,
      detail:
        `${count} items ask for the database "${database}", which ` +
        `${names.has(database) ? 'cannot be read' : 'is not in the folder'}`,
    })),
    ...[...readable]
      .filter((name) => !used.has(name))
      .map((name): ImportProblem => ({
        kind: 'database_without_items',
        subject: name,
        detail: `no item asks for the database "${name}"`,
      })),
  ];
}

/** Archives often hold one folder that holds the benchmark. */
function descendToQuestions(folder: string, depth = 0): string {
  const entries = fs.readdirSync(folder, { withFileTypes: true });
  if (
    entries.some(
      (entry) => isFile(path.join(folder, entry.name), entry) && QUESTION_FILE.test(entry.name),
    )
  )
    return folder;
  const folders = entries.filter(
    (entry) => entry.isDirectory() && !/^(\.|__MACOSX)/.test(entry.name),
  );
  return depth < 3 && folders.length === 1
    ? descendToQuestions(path.join(folder, folders[0]!.name), depth + 1)
    : folder;
}

interface Questions {
  readonly file: QuestionFile;
  readonly items: Item[];
  readonly bird: boolean;
}

function readQuestionFile(file: string, copy: string, problems: ImportProblem[]): Questions {
  const bytes = fs.readFileSync(file);
  fs.writeFileSync(copy, bytes);
  const split = path.basename(file, '.json');
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''));
  } catch (error) {
    throw new BenchmarkFolderError(
      `${path.basename(file)} is not JSON: ` +
        `${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (!Array.isArray(parsed))
    throw new BenchmarkFolderError(`${path.basename(file)} holds no list of items`);
  const items: Item[] = [];
  let bird = false;
  for (const [position, raw] of parsed.entries()) {
    const item = rawItem.safeParse(raw);
    const sql = item.data?.SQL ?? item.data?.query;
    if (!item.success || sql === undefined) {
      const reason = item.success
        ? 'neither SQL nor query'
        : item.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
      problems.push({ kind: 'item_malformed', subject: `${split}:${position}`, detail: reason });
      continue;
    }
    bird ||= item.data.SQL !== undefined;
    items.push({
      questionId: String(item.data.question_id ?? `${split}:${position}`),
      split,
      database: item.data.db_id,
      question: item.data.question,
      evidence: item.data.evidence ?? '',
      sql,
      difficulty: item.data.difficulty ?? null,
    });
  }
  return {
    file: {
      split,
      path: copy,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      items: items.length,
    },
    items,
    bird,
  };
}

/** A file, or a link to one: caches of datasets consist of links. */
const isFile = (file: string, entry: fs.Dirent): boolean =>
  entry.isFile() ||
  (entry.isSymbolicLink() && fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true);

/** JSON files at the top that may hold questions; descriptions of tables do not. */
const unreadQuestionFiles = (root: string, read: readonly string[]): string[] =>
  fs
    .readdirSync(root)
    .filter((name) => /\.json$/i.test(name) && !/tables\.json$/i.test(name) && !read.includes(name))
    .sort();

function findDatabases(root: string): string[] {
  const out: string[] = [];
  const walk = (folder: string, depth: number): void => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const full = path.join(folder, entry.name);
      if (entry.isDirectory() && depth < MAX_DEPTH && !/^(\.|__MACOSX)/.test(entry.name))
        walk(full, depth + 1);
      else if (isFile(full, entry) && DATABASE_FILE.test(entry.name) && !entry.name.startsWith('.'))
        out.push(full);
    }
  };
  walk(root, 0);
  // The database in the benchmark's place is used before a copy further down.
  const depth = (file: string): number => file.split(path.sep).length;
  return out.sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
}

async function readDatabase(
  file: string,
  copy: string,
  name: string,
  problems: ImportProblem[],
): Promise<SourceDatabase | undefined> {
  try {
    const { path: copied, sha256, bytes } = await copySource(file, copy);
    const sqlite = openSource(copied);
    try {
      assertIntact(sqlite, file);
      const { tables, leftOut = [] } = catalogOf(sqlite, { name, sha256, descriptions: {} });
      if (tables.length === 0) throw new SourceError('unreadable', 'the database holds no table');
      problems.push(...leftOut.map((table) => virtualTable(name, table)));
    } finally {
      sqlite.close();
    }
    return {
      name,
      path: copied,
      sha256,
      bytes,
      descriptions: readDescriptions(file, name, problems),
    };
  } catch (error) {
    if (lacksResource(error)) throw error;
    problems.push({
      kind: 'database_unreadable',
      subject: name,
      detail: error instanceof Error ? error.message : String(error),
    });
    return undefined;
  }
}

const virtualTable = (database: string, table: string): ImportProblem => ({
  kind: 'table_left_out',
  subject: `${database}.${table}`,
  detail:
    'left out: a virtual table, whose rows are known only to its module; items on it are not ' +
    'translated',
});

function readDescriptions(
  databaseFile: string,
  database: string,
  problems: ImportProblem[],
): ColumnDescriptions {
  const folder = path.join(path.dirname(databaseFile), 'database_description');
  if (!fs.existsSync(folder)) return {};
  const out: Record<string, Record<string, string>> = Object.create(null) as Record<
    string,
    Record<string, string>
  >;
  for (const name of fs
    .readdirSync(folder)
    .filter((file) => /\.csv$/i.test(file))
    .sort()) {
    try {
      out[name.replace(/\.csv$/i, '')] = readDescriptionFile(path.join(folder, name));
    } catch (error) {
      problems.push({
        kind: 'description_unreadable',
        subject: `${database}/${name}`,
        detail: error instanceof Error ? error.message : String(error),
      });
    }
  }
  return { ...out };
}

/**
 * BIRD's CSV: original_column_name, column_name, column_description, data_format,
 * value_description.
 */
function readDescriptionFile(file: string): Record<string, string> {
  const bytes = fs.readFileSync(file);
  if (bytes.includes(0)) throw new Error('it is no text: it holds NUL');
  let header: readonly string[] = [];
  const rows = parse(decodeText(bytes), {
    columns: (names: string[]) => (header = names.map((name) => name.trim().toLowerCase())),
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  }) as Record<string, string | undefined>[];
  if (!header.includes('original_column_name'))
    throw new Error('its first line does not name the column original_column_name');
  const out: Record<string, string> = {};
  for (const row of rows) {
    const column = (row.original_column_name ?? '').trim();
    const parts = [row.column_description, row.value_description]
      .map((part) => (part ?? '').trim())
      .filter((part) => part !== '');
    if (column && column !== '__proto__')
      out[column] = parts.join('\n') || (row.column_name ?? '').trim();
  }
  return out;
}

/**
 * UTF-8 with or without a BOM; what is not valid UTF-8 is cp1252, the other encoding in which
 * BIRD's files come.
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return Buffer.from(bytes)
      .toString('latin1')
      .replace(/[\x80-\x9f]/g, (control) => CP1252[control.charCodeAt(0) - 0x80]!);
  }
}

// Node's own decoder for cp1252 leaves these 32 as control characters. Bytes that cp1252 does not
// define stay.
const CP1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
