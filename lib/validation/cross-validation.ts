import type { Db, Document } from 'mongodb';
import { rowKey } from '../results/equality';
import { fromBson, type SqliteValue, type Value } from '../results/value';
import { quoteName as q } from '../sqlite/catalog';
import type { Profile, Relationship } from '../sqlite/profile';
import type { DocumentDesign, ExtendedReferenceField } from '../design/document-design';
import { columnPath, copiesOf, placementOf, type ColumnPath, type Placement } from '../design/placement';
import { applyTransform } from '../design/transform';
import type { SqlRunner } from './mapping';

/** The content of a cross_validation artefact: the references that leave the documents of one collection. */
export interface CrossValidation {
  readonly collection: string;
  readonly references: readonly ReferenceCheck[];
}

/**
 * Containment of one reference. A source with orphans keeps them: the check holds when the documents violate
 * containment exactly where the source does.
 */
export interface ReferenceCheck {
  readonly relationship: string;
  readonly from: string;
  readonly to: string;
  readonly fromPipeline: readonly Document[];
  readonly toPipeline: readonly Document[];
  readonly distinctValues: number;
  readonly violations: number;
  readonly sourceViolations: number;
  /** Values that are violated on one side only, or, where the check holds, the source's own orphans; at most 50. */
  readonly samples: readonly { readonly value: readonly Value[]; readonly side: 'documents only' | 'source only' | 'both' }[];
  readonly holds: boolean;
}

const SAMPLES = 50;

export async function validateReferences(collection: string, design: DocumentDesign, profile: Profile, sql: SqlRunner, db: Db): Promise<CrossValidation> {
  const references: ReferenceCheck[] = [];
  for (const choice of design.conceptual.relationships) {
    const relationship = profile.relationships.find((candidate) => candidate.id === choice.relationship);
    const child = relationship && placementOf(design, relationship.childTable);
    const parent = relationship && placementOf(design, relationship.parentTable);
    const embedded = child?.steps.some((step) => step.relationship === choice.relationship);
    if (!relationship || !child || !parent || embedded || child.collection !== collection) continue;
    references.push(await checkReference(relationship, child, parent, sql, db));
    const copy = copiesOf(child).find(({ field }) => field.kind === 'extendedReference' && field.relationship === relationship.id);
    if (copy?.field.kind === 'extendedReference') references.push(await checkCopy(relationship, copy.path, copy.field, child, parent, db));
  }
  return { collection, references };
}

async function checkReference(relationship: Relationship, child: Placement, parent: Placement, sql: SqlRunner, db: Db): Promise<ReferenceCheck> {
  const childPaths = relationship.childColumns.map((column) => required(child, column));
  const parentPaths = relationship.parentColumns.map((column) => required(parent, column));
  const fromPipeline = distinctPipeline(child, childPaths);
  const toPipeline = distinctPipeline(parent, parentPaths);
  const from = await distinctValues(db, child.collection, fromPipeline, childPaths.length);
  const to = await distinctValues(db, parent.collection, toPipeline, parentPaths.length);
  const sourceFrom = sourceValues(sql, relationship.childTable, relationship.childColumns, childPaths);
  const sourceTo = sourceValues(sql, relationship.parentTable, relationship.parentColumns, parentPaths);
  const violating = missingFrom(from, to);
  const sourceViolating = missingFrom(sourceFrom, sourceTo);
  const samples = [...new Map([...violating, ...sourceViolating])].map(([key, value]) => ({
    value,
    side: !violating.has(key) ? ('source only' as const) : sourceViolating.has(key) ? ('both' as const) : ('documents only' as const),
  }));
  const holds = samples.every((sample) => sample.side === 'both');
  samples.sort((a, b) => Number(a.side === 'both') - Number(b.side === 'both'));
  return {
    relationship: relationship.id,
    from: childPaths.map(({ path }) => `${child.collection}.${path}`).join(', '),
    to: parentPaths.map(({ path }) => `${parent.collection}.${path}`).join(', '),
    fromPipeline,
    toPipeline,
    distinctValues: from.size,
    violations: violating.size,
    sourceViolations: sourceViolating.size,
    samples: samples.slice(0, SAMPLES),
    holds,
  };
}

/** Every copied document is that of a row in the other collection: key and copied fields together. */
async function checkCopy(relationship: Relationship, path: string, copy: ExtendedReferenceField, child: Placement, parent: Placement, db: Db): Promise<ReferenceCheck> {
  const identityPath = (at: string): ColumnPath => ({ path: at, transform: { kind: 'identity' }, inherited: false });
  const childPaths = [...copy.join.map((pair) => required(child, pair.child)), ...copy.fields.map((field) => identityPath(`${path}.${field.name}`))];
  const parentPaths = [...copy.join.map((pair) => required(parent, pair.parent)), ...copy.fields.map((field) => required(parent, field.column))];
  const fromPipeline = copiesPipeline(child, path, childPaths);
  const toPipeline = copiesPipeline(parent, undefined, parentPaths);
  const from = await distinctValues(db, child.collection, fromPipeline, childPaths.length);
  const to = await distinctValues(db, parent.collection, toPipeline, parentPaths.length);
  const violating = missingFrom(from, to);
  return {
    relationship: `${relationship.id}, copied`,
    from: `${child.collection}.${path}`,
    to: parent.steps.length === 0 ? parent.collection : `${parent.collection}.${parent.steps.at(-1)!.path}`,
    fromPipeline,
    toPipeline,
    distinctValues: from.size,
    violations: violating.size,
    sourceViolations: 0,
    samples: [...violating.values()].slice(0, SAMPLES).map((value) => ({ value, side: 'documents only' as const })),
    holds: violating.size === 0,
  };
}

/** Distinct combinations of these fields, nulls included, where the copy is there. */
function copiesPipeline(placement: Placement, present: string | undefined, paths: readonly ColumnPath[]): Document[] {
  const unwinds = placement.steps.filter((step) => step.kind === 'embedMany').map((step) => ({ $unwind: `$${step.path}` }));
  const match = present === undefined ? [] : [{ $match: { [present]: { $exists: true } } }];
  return [...unwinds, ...match, { $group: { _id: Object.fromEntries(paths.map(({ path }, at) => [`k${at}`, { $ifNull: [`$${path}`, null] }])) } }];
}

function required(placement: Placement, column: string): ColumnPath {
  const found = columnPath(placement, column);
  if (!found) throw new Error(`the design has no field for ${placement.table}.${column}`);
  return found;
}

/** Distinct non-null keys; a reference that is null refers to nothing. */
function distinctPipeline(placement: Placement, paths: readonly ColumnPath[]): Document[] {
  const unwinds = placement.steps.filter((step) => step.kind === 'embedMany').map((step) => ({ $unwind: `$${step.path}` }));
  const present = Object.fromEntries(paths.map(({ path }) => [path, { $ne: null }]));
  return [...unwinds, { $match: present }, { $group: { _id: Object.fromEntries(paths.map(({ path }, at) => [`k${at}`, `$${path}`])) } }];
}

async function distinctValues(db: Db, collection: string, pipeline: readonly Document[], width: number): Promise<Map<string, Value[]>> {
  const out = new Map<string, Value[]>();
  const cursor = db.collection(collection).aggregate([...pipeline], { promoteValues: false, promoteLongs: false, allowDiskUse: true, batchSize: 2000 });
  for await (const { _id } of cursor) {
    const key = _id as Record<string, unknown>;
    const values = Array.from({ length: width }, (_, at) => fromBson(key[`k${at}`]));
    out.set(rowKey(values), values);
  }
  return out;
}

function sourceValues(sql: SqlRunner, table: string, columns: readonly string[], paths: readonly ColumnPath[]): Map<string, Value[]> {
  const names = columns.map(q);
  const { rows } = sql(`SELECT DISTINCT ${names.join(', ')} FROM ${q(table)} WHERE ${names.map((name) => `${name} IS NOT NULL`).join(' AND ')}`);
  const found = new Map<string, Value[]>();
  for (const row of rows) {
    const values = row.map((value, at) => applyTransform(paths[at]!.transform, value as SqliteValue));
    found.set(rowKey(values), values);
  }
  return found;
}

const missingFrom = (from: ReadonlyMap<string, Value[]>, to: ReadonlyMap<string, Value[]>): Map<string, Value[]> => new Map([...from].filter(([key]) => !to.has(key)));
