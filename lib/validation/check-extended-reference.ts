import type { Db } from 'mongodb';
import type { ExtendedReferenceField } from '../design/document-design';
import type { Placement } from '../design/placement';
import { rowKey } from '../results/equality';
import type { Value } from '../results/value';
import type { Relationship } from '../sqlite/profile';
import { claim, distinctOf, filled, keyOf, keysOf, placeName, readCombinations, required, rowsOf, type ReferenceCheck } from './reference-check';

/** Every copy equals the row that it was taken from: key and copied fields together. */
export async function checkCopiedFields(relationship: Relationship, path: string, copy: ExtendedReferenceField, holder: Placement, original: Placement, db: Db): Promise<ReferenceCheck> {
  const width = copy.join.length;
  const copied = [...copy.join.map((pair) => required(holder, pair.child).path), ...copy.fields.map((field) => `${path}.${field.name}`)];
  const there = [...copy.join.map((pair) => required(original, pair.parent).path), ...copy.fields.map((field) => required(original, field.column).path)];
  const fromPipeline = [...rowsOf(holder), { $match: { [path]: { $exists: true } } }, distinctOf(copied)];
  const toPipeline = [...rowsOf(original), distinctOf(there)];
  const key = keyOf(relationship.sameStorage);
  const by = (values: readonly Value[]): string => `${key(values.slice(0, width))} ${rowKey(values.slice(width))}`;
  const originals = await keysOf(db, original.collection, toPipeline, there.length, by);
  let distinctValues = 0;
  const violating: Value[][] = [];
  for await (const values of readCombinations(db, holder.collection, fromPipeline, copied.length)) {
    distinctValues++;
    if (!originals.has(by(values))) violating.push(values);
  }
  return claim({ relationship: `${relationship.id}, copied`, from: `${holder.collection}.${path}`, to: placeName(original), fromPipeline, toPipeline, distinctValues }, violating);
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
