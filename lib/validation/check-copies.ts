import type { Db } from 'mongodb';
import type { ExtendedReferenceField, SubsetField } from '../design/document-design';
import type { Placement } from '../design/placement';
import { rowKey } from '../results/equality';
import { fromBson, type Value } from '../results/value';
import type { Relationship } from '../sqlite/profile';
import { claim, countsOf, distinctOf, filled, keyOf, keysOf, placeName, readCombinations, required, rowsOf, type ReferenceCheck } from './reference-check';

/** Every copy equals the row that it was taken from: key and copied fields together. */
export async function checkCopiedFields(relationship: Relationship, path: string, copy: ExtendedReferenceField | SubsetField, holder: Placement, original: Placement, db: Db): Promise<ReferenceCheck> {
  // A reference points from the row that holds the copy, a subset's rows point to it.
  const [own, other] = copy.kind === 'subset' ? (['parent', 'child'] as const) : (['child', 'parent'] as const);
  const copied = [...copy.join.map((pair) => required(holder, pair[own]).path), ...copy.fields.map((field) => `${path}.${field.name}`)];
  const there = [...copy.join.map((pair) => required(original, pair[other]).path), ...copy.fields.map((field) => required(original, field.column).path)];
  const fromPipeline = [...rowsOf(holder), copy.kind === 'subset' ? { $unwind: `$${path}` } : { $match: { [path]: { $exists: true } } }, distinctOf(copied)];
  const toPipeline = [...rowsOf(original), distinctOf(there)];
  const width = copy.join.length;
  const key = keyOf(relationship.sameStorage);
  const by = (values: readonly Value[]): string => `${key(values.slice(0, width))} ${rowKey(values.slice(width))}`;
  const originals = await keysOf(db, original.collection, toPipeline, there.length, by);
  let distinctValues = 0;
  const violating: Value[][] = [];
  for await (const values of readCombinations(db, holder.collection, fromPipeline, copied.length)) {
    distinctValues++;
    if (!originals.has(by(values))) violating.push(values);
  }
  const what = copy.kind === 'subset' ? `first ${copy.limit} copied` : 'copied';
  return claim({ relationship: `${relationship.id}, ${what}`, from: `${holder.collection}.${path}`, to: placeName(original), fromPipeline, toPipeline, distinctValues }, violating);
}

/** Where a reference has a target, the copy is there. */
export async function checkCopyPresence(relationship: Relationship, path: string, copy: ExtendedReferenceField, holder: Placement, original: Placement, db: Db): Promise<ReferenceCheck> {
  const own = copy.join.map((pair) => required(holder, pair.child).path);
  const there = copy.join.map((pair) => required(original, pair.parent).path);
  const fromPipeline = [...rowsOf(holder), { $match: { [path]: { $exists: false } } }, filled(own), distinctOf(own)];
  const toPipeline = [...rowsOf(original), filled(there), distinctOf(there)];
  const by = keyOf(relationship.sameStorage);
  const targets = await keysOf(db, original.collection, toPipeline, there.length, by);
  let distinctValues = 0;
  const violating: Value[][] = [];
  for await (const values of readCombinations(db, holder.collection, fromPipeline, own.length)) {
    distinctValues++;
    if (targets.has(by(values))) violating.push(values);
  }
  return claim({ relationship: `${relationship.id}, copied wherever there is a row to copy`, from: `${holder.collection}.${path}`, to: placeName(original), fromPipeline, toPipeline, distinctValues }, violating);
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
