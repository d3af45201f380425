import type { Db, Document } from 'mongodb';
import { columnPath, type ColumnPath, type Placement } from '../design/model/placement';
import { rowKey } from '../results/equality';
import { fromBson, type Value } from '../results/value';

/**
 * One claim about documents of two places. A source with orphans keeps them: containment holds when
 * the documents violate it exactly where the source does. All other claims hold without exception.
 */
export interface ReferenceCheck {
  /** The relationship, and what of it is claimed; unique in a collection. */
  readonly relationship: string;
  readonly from: string;
  readonly to: string;
  readonly fromPipeline: readonly Document[];
  readonly toPipeline: readonly Document[];
  readonly distinctValues: number;
  readonly violations: number;
  readonly sourceViolations: number;
  /**
   * Values that are violated on one side only, or, where the check holds, the source's own orphans;
   * at most 50.
   */
  readonly samples: readonly {
    readonly value: readonly Value[];
    readonly side: 'documents only' | 'source only' | 'both';
  }[];
  readonly holds: boolean;
}

export const SAMPLES = 50;

/** Rows read at once. */
const BATCH = 2000;

/** A claim of which every violation is the documents' own. */
export function claim(
  check: Pick<
    ReferenceCheck,
    'relationship' | 'from' | 'to' | 'fromPipeline' | 'toPipeline' | 'distinctValues'
  >,
  violating: Iterable<readonly Value[]>,
): ReferenceCheck {
  const samples: ReferenceCheck['samples'][number][] = [];
  let violations = 0;
  for (const value of violating) {
    violations++;
    if (samples.length < SAMPLES) samples.push({ value, side: 'documents only' });
  }
  return { ...check, violations, sourceViolations: 0, samples, holds: violations === 0 };
}

export const placeName = ({ collection, steps }: Placement): string =>
  steps.length === 0 ? collection : `${collection}.${steps.at(-1)!.path}`;

export function required(placement: Placement, column: string): ColumnPath {
  const found = columnPath(placement, column);
  if (!found) throw new Error(`the design has no field for ${placement.table}.${column}`);
  return found;
}

/** Stages after which every document is one row of the placement. */
export const rowsOf = (placement: Placement): Document[] =>
  placement.steps.map((step) =>
    step.kind === 'embedMany'
      ? { $unwind: `$${step.path}` }
      : { $match: { [step.path]: { $exists: true } } },
  );

/** Distinct combinations of what lies at these paths, missing as null. */
export const distinctOf = (paths: readonly string[]): Document => ({
  $group: { _id: combinationOf(paths) },
});

/** The same, with how often each combination occurs. */
export const countsOf = (paths: readonly string[]): Document => ({
  $group: { _id: combinationOf(paths), n: { $sum: 1 } },
});

const combinationOf = (paths: readonly string[]): Document =>
  Object.fromEntries(paths.map((path, index) => [`k${index}`, { $ifNull: [`$${path}`, null] }]));

/** Rows where none of these is null or missing. */
export const filled = (paths: readonly string[]): Document => ({
  $match: Object.fromEntries(paths.map((path) => [path, { $ne: null }])),
});

/** The combinations that a pipeline ending in `distinctOf` returns, one at a time. */
export async function* readCombinations(
  db: Db,
  collection: string,
  pipeline: readonly Document[],
  width: number,
): AsyncGenerator<Value[]> {
  const cursor = db.collection(collection).aggregate([...pipeline], {
    promoteValues: false,
    promoteLongs: false,
    allowDiskUse: true,
    batchSize: BATCH,
  });
  for await (const { _id } of cursor) {
    const key = _id as Record<string, unknown>;
    yield Array.from({ length: width }, (_, index) => fromBson(key[`k${index}`]));
  }
}

/**
 * What makes two keys the same; SQLite's `=` where they are stored differently on both sides of a
 * relationship.
 */
export type KeyOf = (key: readonly Value[]) => string;

export const keyOf = (sameStorage: boolean): KeyOf =>
  sameStorage ? rowKey : (key) => rowKey(key.map(asSqliteCompares));

// Affinity makes '1' equal to 1, collations ignore case or blanks at the end: what either may do is
// done here.
function asSqliteCompares(value: Value): Value {
  if (typeof value !== 'string') return value;
  const text = value.trimEnd().toLowerCase();
  const number = text.trimStart(); // a number as text may have blanks on either side
  if (/^[-+]?\d{1,18}$/.test(number)) return BigInt(number);
  return /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/.test(number) ? fromBson(Number(number)) : text;
}

/** The keys of all combinations that a pipeline returns. */
export async function keysOf(
  db: Db,
  collection: string,
  pipeline: readonly Document[],
  width: number,
  by: KeyOf,
): Promise<Set<string>> {
  const keys = new Set<string>();
  for await (const values of readCombinations(db, collection, pipeline, width))
    keys.add(by(values));
  return keys;
}
