import type { Db, Document } from 'mongodb';
import { compareResults, documentsToResultSet, type Verdict } from '../results/compare';
import { fromBson, type ResultSet, type SqliteValue, type Value } from '../results/value';
import { applyTransform, type Transform } from '../design/transform';

/** One SQL query over the source and one pipeline over the documents that must return equal results (Appendix E). */
export interface ValidationMapping {
  readonly name: string;
  readonly description: string;
  readonly sql: string;
  /** Result column → the transform that the SQL side goes through before it is compared. */
  readonly transforms: Readonly<Record<string, Transform>>;
  readonly collection: string;
  readonly pipeline: readonly Document[];
  /** The field paths that this mapping reads. */
  readonly covers: readonly string[];
}

export interface MappingResult extends ValidationMapping {
  readonly verdict: Verdict;
}

/** Reads the source; rows exact (`bigint` integers). */
export type SqlRunner = (sql: string) => ResultSet;

export async function runMapping(mapping: ValidationMapping, sql: SqlRunner, db: Db): Promise<MappingResult> {
  const expected = transformed(sql(mapping.sql), mapping.transforms);
  const documents = await db.collection(mapping.collection).aggregate([...mapping.pipeline], { promoteValues: false, promoteLongs: false, allowDiskUse: true }).toArray();
  const actual = documentsToResultSet(documents.map(fromBson));
  return { ...mapping, verdict: compareResults(expected, actual, { columns: 'named', extraColumns: 'refuse', order: 'bag' }) };
}

/** A result of the source as its documents show it: every retyped column through its transform. */
export function transformed(result: ResultSet, transforms: Readonly<Record<string, Transform>>): ResultSet {
  const by = result.columns.map((name) => transforms[name]);
  if (by.every((transform) => !transform || transform.kind === 'identity')) return result;
  return { columns: result.columns, rows: result.rows.map((row) => row.map((value, at) => carry(by[at], value))) };
}

const carry = (transform: Transform | undefined, value: Value): Value => (transform ? applyTransform(transform, value as SqliteValue) : value);
