import type { Db, Document } from 'mongodb';
import { BagDigest } from '../results/bag-digest';
import { compareResults, documentsToResultSet, type Verdict } from '../results/compare';
import { fromBson, type ResultSet, type SqliteValue, type Value } from '../results/value';
import { applyTransform } from '../design/model/transform';
import { type Transform } from '../design/model/transform-kind';

/**
 * One SQL query over the source and one pipeline over the documents that must return equal results
 * (Appendix E).
 */
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

/**
 * Reads the source, rows exact (`bigint` integers) and one at a time: a table can be larger than
 * memory.
 */
export type SqlRunner = (sql: string) => {
  readonly columns: readonly string[];
  readonly rows: Iterable<readonly Value[]>;
};

/** All rows of a query that is known to be small. */
export const collectRows = ({ columns, rows }: ReturnType<SqlRunner>): ResultSet => ({
  columns,
  rows: [...rows],
});

// Rows read at once: a default batch of 16 MB would be a few hundred thousand small documents.
const BATCH = 2000;

/**
 * Compares both sides of a mapping as bags of rows. Equal sides are found by a digest while their
 * rows stream by; only where digests differ are the rows held and compared one by one, to say
 * which.
 */
export async function runMapping(
  mapping: ValidationMapping,
  sql: SqlRunner,
  db: Db,
): Promise<MappingResult> {
  const rules = { columns: 'named', extraColumns: 'refuse', order: 'bag' } as const;
  const source = sql(mapping.sql);
  const transforms = source.columns.map((name) => transformOf(mapping.transforms, name));
  const expected = new BagDigest();
  for (const row of source.rows)
    expected.add(row.map((value, index) => carry(transforms[index], value)));
  const run = () =>
    db.collection(mapping.collection).aggregate([...mapping.pipeline], {
      promoteValues: false,
      promoteLongs: false,
      allowDiskUse: true,
      batchSize: BATCH,
    });
  const actual = new BagDigest();
  let flat = true;
  for await (const document of run()) {
    const names = Object.keys(document);
    flat &&=
      names.length <= source.columns.length && names.every((name) => source.columns.includes(name));
    if (!flat) break;
    actual.add(
      source.columns.map((name) =>
        Object.hasOwn(document, name) ? fromBson(document[name]) : null,
      ),
    );
  }
  if (flat && expected.equals(actual)) {
    const { rows } = expected;
    const detail = rows === 1 ? 'the row is equal' : `${rows} rows are equal`;
    return {
      ...mapping,
      verdict: {
        kind: 'equal',
        detail,
        mapping: source.columns,
        expectedRows: rows,
        actualRows: rows,
        onlyExpected: [],
        onlyActual: [],
      },
    };
  }
  const documents = await run().toArray();
  return {
    ...mapping,
    verdict: compareResults(
      transformed(collectRows(sql(mapping.sql)), mapping.transforms),
      documentsToResultSet(documents.map(fromBson)),
      rules,
    ),
  };
}

/** A result of the source as its documents show it: every retyped column through its transform. */
export function transformed(
  result: ResultSet,
  transforms: Readonly<Record<string, Transform>>,
): ResultSet {
  const by = result.columns.map((name) => transformOf(transforms, name));
  if (by.every((transform) => !transform || transform.kind === 'identity')) return result;
  return {
    columns: result.columns,
    rows: result.rows.map((row) => row.map((value, index) => carry(by[index], value))),
  };
}

// A column can be called `toString`, which every object has.
const transformOf = (
  transforms: Readonly<Record<string, Transform>>,
  name: string,
): Transform | undefined => (Object.hasOwn(transforms, name) ? transforms[name] : undefined);

const carry = (transform: Transform | undefined, value: Value): Value =>
  transform ? applyTransform(transform, value as SqliteValue) : value;
