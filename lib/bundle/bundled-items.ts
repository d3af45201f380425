import fs from 'node:fs';
import path from 'node:path';
import { BSON } from 'mongodb';
import { z } from 'zod';
import type { TiedRows } from '../results/compare';
import { gunzippedLines } from './files';

/** What `verify` and the export's read-back use of an item's line in `data/<split>.jsonl`. */
const itemSchema = z.object({
  question_id: z.string(),
  db_id: z.string(),
  question: z.string().optional(),
  evidence: z.string().optional(),
  evidence_mql: z.string().optional(),
  SQL: z.string().optional(),
  status: z.string(),
  MQL: z.object({ collection: z.string(), pipeline: z.array(z.unknown()) }).nullable(),
  MQL_text: z.string().nullish(),
  columns: z.array(
    z.object({ name: z.string(), path: z.string(), transform: z.string().optional() }),
  ),
  caveats: z.array(z.string()),
  order_sensitive: z.boolean(),
  row_count: z.number().nullable(),
  result_digest: z.string().nullish(),
  clock: z.string().optional(),
});
export type BundledItem = z.infer<typeof itemSchema> & { readonly split: string };

const tiedSchema = z.tuple([z.coerce.number(), z.coerce.number()]);
const resultSchema = z.object({
  question_id: z.string(),
  db_id: z.string(),
  row_count: z.coerce.number(),
  rows: z.array(z.record(z.string(), z.unknown())),
  tied_rows: z.array(tiedSchema).optional(),
  open_rows: z
    .array(z.object({ rows: tiedSchema, among: z.array(z.record(z.string(), z.unknown())) }))
    .optional(),
});

/** An item's line in `results/<split>.jsonl.gz`. */
export interface BundledResult {
  readonly rowCount: number;
  /** The first rows, with BSON types. */
  readonly rows: readonly Record<string, unknown>[];
  /**
   * Runs of rows that may come in any order among themselves; absent where the order does not
   * count.
   */
  readonly tied?: readonly TiedRows[];
  /** See `OpenChoice`; absent where what is open is not known exactly, and in older bundles. */
  readonly choices?: readonly {
    readonly rows: TiedRows;
    readonly among: readonly Record<string, unknown>[];
  }[];
}

/**
 * An item is identified by question file and id; the database is part of it where a file repeats an
 * id.
 */
export const itemKey = (split: string, database: string, questionId: string): string =>
  JSON.stringify([split, database, questionId]);

/** Items of all question files; lines that are none are named in `problems`. */
export function readItems(folder: string, problems: string[]): BundledItem[] {
  const home = path.join(folder, 'data');
  if (!fs.existsSync(home)) return [];
  const names = fs
    .readdirSync(home)
    .filter((name) => name.endsWith('.jsonl'))
    .sort();
  return names.flatMap((name) => readItemFile(path.join(home, name), name, problems));
}

function readItemFile(file: string, name: string, problems: string[]): BundledItem[] {
  const items: BundledItem[] = [];
  for (const [index, line] of fs.readFileSync(file, 'utf8').split('\n').entries()) {
    if (line === '') continue;
    const item = parseJson(`data/${name}, line ${index + 1}`, line, itemSchema);
    if (typeof item === 'string') problems.push(item);
    else items.push({ ...item, split: name.replace(/\.jsonl$/, '') });
  }
  return items;
}

/** Expected rows by `itemKey`; files and lines that cannot be read are named in `problems`. */
export async function readResults(
  folder: string,
  problems: string[],
): Promise<Map<string, BundledResult>> {
  const results = new Map<string, BundledResult>();
  const home = path.join(folder, 'results');
  if (!fs.existsSync(home)) return results;
  for (const name of fs.readdirSync(home).sort()) {
    const split = name.replace(/\.jsonl\.gz$/, '');
    let lineNumber = 0;
    try {
      for await (const line of gunzippedLines(path.join(home, name))) {
        lineNumber++;
        if (line === '') continue;
        const { question_id, db_id, row_count, rows, tied_rows, open_rows } = resultSchema.parse(
          BSON.EJSON.parse(line, { relaxed: false }),
        );
        const key = itemKey(split, db_id, question_id);
        if (results.has(key))
          problems.push(`results/${name}, line ${lineNumber}: repeats ${question_id}`);
        results.set(key, {
          rowCount: row_count,
          rows,
          ...(tied_rows && { tied: tied_rows }),
          ...(open_rows && { choices: open_rows }),
        });
      }
    } catch (error) {
      const place = lineNumber > 0 ? `, line ${lineNumber}` : '';
      problems.push(`results/${name}${place}: cannot be read: ${reasonOf(error)}`);
    }
  }
  return results;
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return error.issues[0]!.message;
  return error instanceof Error ? error.message : String(error);
}

/** A text as JSON of this shape, or a sentence that says where it is not. */
export function parseJson<T>(where: string, text: string, schema: z.ZodType<T>): T | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `${where}: no JSON (${reasonOf(error)})`;
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue!.path.length > 0 ? `${issue!.path.join('.')}: ` : '';
  return `${where}: ${field}${issue!.message}`;
}
