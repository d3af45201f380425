import type { Db } from 'mongodb';
import type { SubsetField } from '../design/document-design';
import type { Placement } from '../design/placement';
import { rowKey } from '../results/equality';
import { fromBson, type Value } from '../results/value';
import type { Relationship } from '../sqlite/profile';
import { claim, countsOf, distinctOf, filled, keyOf, keysOf, placeName, readCombinations, required, rowsOf, type ReferenceCheck } from './reference-check';

/** Every entry of a subset equals a child document of the parent that holds it: key and copied fields together. */
export async function checkSubsetEntries(relationship: Relationship, path: string, subset: SubsetField, holder: Placement, children: Placement, db: Db): Promise<ReferenceCheck> {
  const width = subset.join.length;
  const copied = [...subset.join.map((pair) => required(holder, pair.parent).path), ...subset.fields.map((field) => `${path}.${field.name}`)];
  const there = [...subset.join.map((pair) => required(children, pair.child).path), ...subset.fields.map((field) => required(children, field.column).path)];
  const fromPipeline = [...rowsOf(holder), { $unwind: `$${path}` }, distinctOf(copied)];
  const toPipeline = [...rowsOf(children), distinctOf(there)];
  const key = keyOf(relationship.sameStorage);
  const by = (values: readonly Value[]): string => `${key(values.slice(0, width))} ${rowKey(values.slice(width))}`;
  const originals = await keysOf(db, children.collection, toPipeline, there.length, by);
  let distinctValues = 0;
  const violating: Value[][] = [];
  for await (const values of readCombinations(db, holder.collection, fromPipeline, copied.length)) {
    distinctValues++;
    if (!originals.has(by(values))) violating.push(values);
  }
  return claim({ relationship: `${relationship.id}, first ${subset.limit} copied`, from: `${holder.collection}.${path}`, to: placeName(children), fromPipeline, toPipeline, distinctValues }, violating);
}

/** A subset has as many entries as there are children, up to its limit. */
export async function checkSubsetLength(relationship: Relationship, path: string, subset: SubsetField, holder: Placement, children: Placement, db: Db): Promise<ReferenceCheck> {
  const own = subset.join.map((pair) => required(holder, pair.parent).path);
  const there = subset.join.map((pair) => required(children, pair.child).path);
  const fromPipeline = [...rowsOf(holder), { $project: { _id: 0, key: own.map((at) => `$${at}`), entries: { $cond: [{ $isArray: `$${path}` }, { $size: `$${path}` }, -1] } } }];
  const toPipeline = [...rowsOf(children), filled(there), countsOf(there)];
  const by = keyOf(relationship.sameStorage);
  const counts = new Map<string, number>();
  // Keys that are stored in several ways in the children ('1' and '01') are one parent's.
  for await (const { _id, n } of db.collection(children.collection).aggregate(toPipeline, { allowDiskUse: true })) {
    const key = by(Object.values(_id as Record<string, unknown>).map(fromBson));
    counts.set(key, (counts.get(key) ?? 0) + Number(n));
  }
  let distinctValues = 0;
  const violating: Value[][] = [];
  for await (const document of db.collection(holder.collection).aggregate(fromPipeline, { promoteValues: false, promoteLongs: false })) {
    distinctValues++;
    const key = (document.key as unknown[]).map(fromBson);
    const entries = fromBson(document.entries) as bigint;
    const expected = BigInt(Math.min(subset.limit, counts.get(by(key)) ?? 0));
    if (entries !== expected) violating.push([...key, entries, expected]);
  }
  return claim({ relationship: `${relationship.id}, as many as there are up to ${subset.limit}`, from: `${holder.collection}.${path}`, to: placeName(children), fromPipeline, toPipeline, distinctValues }, violating);
}
