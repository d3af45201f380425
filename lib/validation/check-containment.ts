import type { Db, Document } from 'mongodb';
import type { ColumnPath, Placement } from '../design/model/placement';
import { applyTransform } from '../design/model/transform';
import { rowKey } from '../results/equality';
import type { SqliteValue, Value } from '../results/value';
import { quoteName as q } from '../sqlite/catalog';
import type { Relationship } from '../sqlite/profile/profile';
import type { SqlRunner } from './mapping';
import {
  claim,
  distinctOf,
  filled,
  keyOf,
  keysOf,
  readCombinations,
  required,
  rowsOf,
  SAMPLES,
  type ReferenceCheck,
} from './reference-check';

interface Side {
  readonly placement: Placement;
  readonly paths: readonly ColumnPath[];
  readonly pipeline: readonly Document[];
  readonly name: string;
}

/** A reference that is null refers to nothing. */
function side(placement: Placement, columns: readonly string[]): Side {
  const paths = columns.map((column) => required(placement, column));
  const at = paths.map(({ path }) => path);
  return {
    placement,
    paths,
    pipeline: [...rowsOf(placement), filled(at), distinctOf(at)],
    name: at.map((path) => `${placement.collection}.${path}`).join(', '),
  };
}

/** Every reference of the child documents has a target, except where the source has none either. */
export async function checkContainment(
  relationship: Relationship,
  childPlacement: Placement,
  parentPlacement: Placement,
  sql: SqlRunner,
  db: Db,
): Promise<ReferenceCheck> {
  const child = side(childPlacement, relationship.childColumns);
  const parent = side(parentPlacement, relationship.parentColumns);
  const width = child.paths.length;
  const targets = await keysOf(db, parentPlacement.collection, parent.pipeline, width, rowKey);
  let distinctValues = 0;
  const violating = new Map<string, readonly Value[]>();
  for await (const values of readCombinations(
    db,
    childPlacement.collection,
    child.pipeline,
    width,
  )) {
    distinctValues++;
    const key = rowKey(values);
    if (!targets.has(key)) violating.set(key, values);
  }
  targets.clear();
  for (const values of sourceKeys(
    sql,
    relationship.parentTable,
    relationship.parentColumns,
    parent.paths,
  ))
    targets.add(rowKey(values));
  const sourceViolating = new Map<string, readonly Value[]>();
  for (const values of sourceKeys(
    sql,
    relationship.childTable,
    relationship.childColumns,
    child.paths,
  )) {
    const key = rowKey(values);
    if (!targets.has(key)) sourceViolating.set(key, values);
  }
  const sides = [...new Map([...violating, ...sourceViolating])].map(([key, value]) => ({
    value,
    side: sideOf(violating.has(key), sourceViolating.has(key)),
  }));
  sides.sort((a, b) => Number(a.side === 'both') - Number(b.side === 'both'));
  return {
    relationship: relationship.id,
    from: child.name,
    to: parent.name,
    fromPipeline: child.pipeline,
    toPipeline: parent.pipeline,
    distinctValues,
    violations: violating.size,
    sourceViolations: sourceViolating.size,
    samples: sides.slice(0, SAMPLES),
    holds: sides.every((sample) => sample.side === 'both'),
  };
}

/** Where every parent of the source has children, every parent document has some too. */
export async function checkEveryParent(
  relationship: Relationship,
  childPlacement: Placement,
  parentPlacement: Placement,
  db: Db,
): Promise<ReferenceCheck> {
  const child = side(childPlacement, relationship.childColumns);
  const parent = side(parentPlacement, relationship.parentColumns);
  const by = keyOf(relationship.sameStorage);
  const children = await keysOf(
    db,
    childPlacement.collection,
    child.pipeline,
    child.paths.length,
    by,
  );
  let distinctValues = 0;
  const childless: Value[][] = [];
  for await (const values of readCombinations(
    db,
    parentPlacement.collection,
    parent.pipeline,
    parent.paths.length,
  )) {
    distinctValues++;
    if (!children.has(by(values))) childless.push(values);
  }
  return claim(
    {
      relationship: `${relationship.id}, every parent has children`,
      from: parent.name,
      to: child.name,
      fromPipeline: parent.pipeline,
      toPipeline: child.pipeline,
      distinctValues,
    },
    childless,
  );
}

function* sourceKeys(
  sql: SqlRunner,
  table: string,
  columns: readonly string[],
  paths: readonly ColumnPath[],
): Generator<Value[]> {
  const names = columns.map(q);
  // By their bytes: a collation would take several spellings for one, which documents tell apart.
  const { rows } = sql(
    `SELECT DISTINCT ${names.map((name) => `${name} COLLATE BINARY AS ${name}`).join(', ')} FROM ` +
      `${q(table)} WHERE ${names.map((name) => `${name} IS NOT NULL`).join(' AND ')}`,
  );
  for (const row of rows)
    yield row.map((value, index) => applyTransform(paths[index]!.transform, value as SqliteValue));
}

function sideOf(
  inDocuments: boolean,
  inSource: boolean,
): 'both' | 'source only' | 'documents only' {
  if (!inDocuments) return 'source only';
  return inSource ? 'both' : 'documents only';
}
