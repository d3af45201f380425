import fs from 'node:fs';
import path from 'node:path';
import { storedTypes } from '../design/model/bson-types';
import { LogicalCsvError, logicalCsv, readLogicalCsv } from '../design/logical/logical-csv';
import type { TiedRows } from '../results/compare';
import { isIdentical } from '../results/equality';
import { contentHash } from '../results/hash';
import type { OpenChoice } from '../results/open-choice';
import { fromBson, type Value } from '../results/value';
import { sourceIdOf } from '../sqlite/benchmark';
import {
  itemKey,
  readItems,
  readResults,
  type BundledItem,
  type BundledResult,
} from './bundled-items';
import { fileProblems, signatureProblems } from './check-files';
import type { BundleDatabase, BundleItem } from './content';
import { documentProblems } from './check-documents';
import type { FileRecord } from './files';
import { pipelineKey, shippedKey, textKey } from './pipeline-json';

/** An item as it was meant to be written, with the rows that its source query gives. */
export interface WrittenItem {
  readonly entry: BundleItem;
  readonly expected?: {
    readonly rowCount: number;
    readonly rows: readonly (readonly Value[])[];
    readonly tied: readonly TiedRows[] | undefined;
    readonly choices?: readonly OpenChoice[];
  };
}

export interface WrittenBundle {
  readonly databases: readonly BundleDatabase[];
  readonly items: readonly WrittenItem[];
  readonly files: ReadonlyMap<string, FileRecord>;
  readonly publicKey: string;
}

/**
 * Reads every file of a bundle that was just written and says where it is not what was meant: bytes
 * on disk, documents in both forms, designs, gold in both notations, and every expected value with
 * its type. Empty when all is as meant.
 */
export async function readBack(folder: string, written: WrittenBundle): Promise<string[]> {
  const { SHA256SUMS: _, ...summed } = Object.fromEntries(written.files);
  const problems = await fileProblems(folder, summed);
  const manifest = fs.readFileSync(path.join(folder, 'MANIFEST.json'));
  problems.push(...signatureProblems(folder, manifest, written.publicKey));
  for (const name of written.files.keys()) problems.push(...syntaxProblems(folder, name));
  for (const database of written.databases) {
    problems.push(...designProblems(folder, database));
    for (const { collection } of database.logical) {
      const written = database.migration.collections.find(({ name }) => name === collection);
      const home = `databases/${database.source.name}`;
      problems.push(...(await documentProblems(folder, home, collection, written?.documents)));
    }
  }
  problems.push(...(await itemProblems(folder, written.items)));
  return problems;
}

/** JSON files are JSON, and so is every line of a list. */
function syntaxProblems(folder: string, name: string): string[] {
  const isList = name.endsWith('.jsonl');
  if (!isList && !name.endsWith('.json')) return [];
  const text = fs.readFileSync(path.join(folder, name), 'utf8');
  const parts = isList ? text.split('\n').filter((line) => line !== '') : [text];
  return parts.flatMap((part, index) => {
    try {
      JSON.parse(part);
      return [];
    } catch (error) {
      const place = isList ? `, line ${index + 1}` : '';
      return [
        `${name}${place}: no JSON (${error instanceof Error ? error.message : String(error)})`,
      ];
    }
  });
}

function designProblems(
  folder: string,
  { source, conceptual, logical, profile }: BundleDatabase,
): string[] {
  const types = storedTypes(profile);
  const home = `databases/${source.name}`;
  const read = (name: string): string => fs.readFileSync(path.join(folder, home, name), 'utf8');
  const problems: string[] = [];
  if (contentHash(JSON.parse(read('design.json'))) !== contentHash({ conceptual, logical })) {
    problems.push(`${home}/design.json: reads as another design`);
  }
  for (const { collection } of logical) {
    const name = `logical/${collection}.csv`;
    const text = read(name);
    try {
      if (logicalCsv(readLogicalCsv(text, types).design, types) !== text)
        problems.push(`${home}/${name}: reads as another design`);
    } catch (error) {
      if (!(error instanceof LogicalCsvError)) throw error;
      problems.push(`${home}/${name}, line ${error.line}: ${error.detail}`);
    }
  }
  return problems;
}

async function itemProblems(folder: string, written: readonly WrittenItem[]): Promise<string[]> {
  const problems: string[] = [];
  const results = await readResults(folder, problems);
  const items = new Map<string, BundledItem>();
  for (const item of readItems(folder, problems)) {
    const key = itemKey(item.split, item.db_id, item.question_id);
    if (items.has(key)) problems.push(`data/${item.split}.jsonl: repeats item ${item.question_id}`);
    items.set(key, item);
  }
  for (const { entry, expected } of written) {
    const { split, database, questionId } = entry.item;
    const key = itemKey(split, database, sourceIdOf(entry.item));
    const name = `${database}/${questionId}`;
    const item = items.get(key);
    if (!item) problems.push(`data/${split}.jsonl: does not hold item ${name}`);
    else
      problems.push(
        ...goldProblems(entry, item).map((problem) => `data/${split}.jsonl, ${name}: ${problem}`),
      );
    const result = results.get(key);
    problems.push(
      ...resultProblems(entry, expected, result).map(
        (problem) => `results/${split}.jsonl.gz, ${name}: ${problem}`,
      ),
    );
    items.delete(key);
    results.delete(key);
  }
  for (const key of [...items.keys(), ...results.keys()])
    problems.push(`holds an item that was not exported: ${key}`);
  return problems;
}

function goldProblems({ item: source, mql, evidenceMql }: BundleItem, item: BundledItem): string[] {
  const texts: [string, string, string | undefined][] = [
    ['SQL', source.sql, item.SQL],
    ['question', source.question, item.question],
    ['evidence', source.evidence, item.evidence],
    ['evidence_mql', evidenceMql, item.evidence_mql],
  ];
  const problems = texts
    .filter(([, meant, read]) => meant !== read)
    .map(([name]) => `${name} reads as another text`);
  if (!mql || !item.MQL) return mql === item.MQL ? problems : [...problems, 'MQL is missing'];
  const meant = pipelineKey(mql);
  if (meant !== shippedKey(item.MQL)) problems.push('MQL reads as another pipeline');
  if (meant !== textKey(item.MQL_text ?? '')) problems.push('MQL_text reads as another pipeline');
  return problems;
}

function resultProblems(
  { columns }: BundleItem,
  expected: WrittenItem['expected'],
  result: BundledResult | undefined,
): string[] {
  if (!expected || !result) return expected ? ['expected rows are missing'] : [];
  if (result.rowCount !== expected.rowCount)
    return [`row_count is ${result.rowCount} instead of ${expected.rowCount}`];
  if (JSON.stringify(result.tied) !== JSON.stringify(expected.tied))
    return ['tied_rows are others'];
  const asRow = (document: Record<string, unknown>): Value[] =>
    columns.map((column) => fromBson(document[column.path]));
  if (!isSameChoices(expected.choices, result.choices, asRow)) return ['open_rows are others'];
  const rows = result.rows.map(asRow);
  if (rows.length !== expected.rows.length) {
    return [`${rows.length} rows ship instead of ${expected.rows.length}`];
  }
  const differing = expected.rows.findIndex((row, index) => !isIdentical([...row], rows[index]!));
  return differing < 0 ? [] : [`row ${differing + 1} is not what SQLite returned`];
}

function isSameChoices(
  expected: readonly OpenChoice[] = [],
  read: BundledResult['choices'] = [],
  asRow: (document: Record<string, unknown>) => Value[],
): boolean {
  const isSame = ({ rows, among }: OpenChoice, at: number): boolean => {
    const other = read[at]!;
    return (
      JSON.stringify(rows) === JSON.stringify(other.rows) &&
      among.length === other.among.length &&
      among.every((row, index) => isIdentical([...row], asRow(other.among[index]!)))
    );
  };
  return expected.length === read.length && expected.every(isSame);
}
