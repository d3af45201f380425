import type { Db, Document } from 'mongodb';
import {
  isKeptRows,
  type ExtendedReferenceField,
  type OutlierField,
  type SubsetField,
} from '../design/model/document-design';
import { flagPath, type Placement } from '../design/model/placement';
import { rowKey } from '../results/equality';
import { fromBson, type Value } from '../results/value';
import type { Relationship } from '../sqlite/profile/profile';
import {
  claim,
  countsOf,
  distinctOf,
  filled,
  keyOf,
  keysOf,
  placeName,
  readCombinations,
  required,
  rowsOf,
  type KeyOf,
  type ReferenceCheck,
} from './reference-check';

/** Every copy equals the row that it was taken from: key and copied fields together. */
export async function checkCopiedFields(
  relationship: Relationship,
  path: string,
  copy: ExtendedReferenceField | SubsetField | OutlierField,
  holder: Placement,
  original: Placement,
  db: Db,
): Promise<ReferenceCheck> {
  // A reference points from the row that holds the copy, child rows that are kept point to it.
  const [own, other] = isKeptRows(copy)
    ? (['parent', 'child'] as const)
    : (['child', 'parent'] as const);
  const copied = [
    ...copy.join.map((pair) => required(holder, pair[own]).path),
    ...copy.fields.map((field) => `${path}.${field.name}`),
  ];
  const there = [
    ...copy.join.map((pair) => required(original, pair[other]).path),
    ...copy.fields.map((field) => required(original, field.column).path),
  ];
  const fromPipeline = [
    ...rowsOf(holder),
    isKeptRows(copy) ? { $unwind: `$${path}` } : { $match: { [path]: { $exists: true } } },
    distinctOf(copied),
  ];
  const toPipeline = [...rowsOf(original), distinctOf(there)];
  const width = copy.join.length;
  const key = keyOf(relationship.sameStorage);
  const by = (values: readonly Value[]): string =>
    `${key(values.slice(0, width))} ${rowKey(values.slice(width))}`;
  const originals = await keysOf(db, original.collection, toPipeline, there.length, by);
  let distinctValues = 0;
  const violating: Value[][] = [];
  for await (const values of readCombinations(db, holder.collection, fromPipeline, copied.length)) {
    distinctValues++;
    if (!originals.has(by(values))) violating.push(values);
  }
  const what = copiedRows(copy);
  return claim(
    {
      relationship: `${relationship.id}, ${what}`,
      from: `${holder.collection}.${path}`,
      to: placeName(original),
      fromPipeline,
      toPipeline,
      distinctValues,
    },
    violating,
  );
}

/** Where a reference has a target, the copy is there. */
export async function checkCopyPresence(
  relationship: Relationship,
  path: string,
  copy: ExtendedReferenceField,
  holder: Placement,
  original: Placement,
  db: Db,
): Promise<ReferenceCheck> {
  const own = copy.join.map((pair) => required(holder, pair.child).path);
  const there = copy.join.map((pair) => required(original, pair.parent).path);
  const fromPipeline = [
    ...rowsOf(holder),
    { $match: { [path]: { $exists: false } } },
    filled(own),
    distinctOf(own),
  ];
  const toPipeline = [...rowsOf(original), filled(there), distinctOf(there)];
  const by = keyOf(relationship.sameStorage);
  const targets = await keysOf(db, original.collection, toPipeline, there.length, by);
  let distinctValues = 0;
  const violating: Value[][] = [];
  for await (const values of readCombinations(db, holder.collection, fromPipeline, own.length)) {
    distinctValues++;
    if (targets.has(by(values))) violating.push(values);
  }
  return claim(
    {
      relationship: `${relationship.id}, copied wherever there is a row to copy`,
      from: `${holder.collection}.${path}`,
      to: placeName(original),
      fromPipeline,
      toPipeline,
      distinctValues,
    },
    violating,
  );
}

/**
 * Parents keep as many entries as there are children, up to the limit; all or none, where those
 * with more are outliers.
 */
export async function checkKeptLength(
  relationship: Relationship,
  path: string,
  kept: SubsetField | OutlierField,
  holder: Placement,
  children: Placement,
  db: Db,
): Promise<ReferenceCheck> {
  const { own, by, toPipeline, counts } = await countChildren(
    relationship,
    kept,
    holder,
    children,
    db,
  );
  const fromPipeline = [
    ...rowsOf(holder),
    {
      $project: {
        _id: 0,
        key: own.map((at) => `$${at}`),
        entries: { $cond: [{ $isArray: `$${path}` }, { $size: `$${path}` }, -1] },
      },
    },
  ];
  let distinctValues = 0;
  const violating: Value[][] = [];
  for await (const document of db
    .collection(holder.collection)
    .aggregate(fromPipeline, { promoteValues: false, promoteLongs: false })) {
    distinctValues++;
    const key = (document.key as unknown[]).map(fromBson);
    const entries = fromBson(document.entries) as bigint;
    const count = counts.get(by(key)) ?? 0;
    const beyond = kept.kind === 'subset' ? kept.limit : 0;
    const expected = BigInt(count <= kept.limit ? count : beyond);
    if (entries !== expected) violating.push([...key, entries, expected]);
  }
  const what =
    kept.kind === 'subset'
      ? `as many as there are up to ${kept.limit}`
      : `all of them up to ${kept.limit}, of more none`;
  return claim(
    {
      relationship: `${relationship.id}, ${what}`,
      from: `${holder.collection}.${path}`,
      to: placeName(children),
      fromPipeline,
      toPipeline,
      distinctValues,
    },
    violating,
  );
}

/** The flag is there where a parent has more children than the limit, and holds its key. */
export async function checkOutlierFlags(
  relationship: Relationship,
  path: string,
  kept: OutlierField,
  holder: Placement,
  children: Placement,
  db: Db,
): Promise<ReferenceCheck> {
  const { own, by, toPipeline, counts } = await countChildren(
    relationship,
    kept,
    holder,
    children,
    db,
  );
  const flag = flagPath(path, kept);
  const fromPipeline = [
    ...rowsOf(holder),
    { $project: { _id: 0, key: own.map((at) => `$${at}`), flag: `$${flag}` } },
  ];
  let distinctValues = 0;
  const violating: Value[][] = [];
  for await (const document of db
    .collection(holder.collection)
    .aggregate(fromPipeline, { promoteValues: false, promoteLongs: false })) {
    distinctValues++;
    const key = (document.key as unknown[]).map(fromBson);
    const isOutlier = (counts.get(by(key)) ?? 0) > kept.limit;
    const found = Object.hasOwn(document, 'flag') ? [fromBson(document.flag)] : [];
    if (isOutlier ? found.length === 0 || rowKey(found) !== rowKey(key) : found.length > 0)
      violating.push([...key, ...found]);
  }
  return claim(
    {
      relationship: `${relationship.id}, flagged where there are more than ${kept.limit}`,
      from: `${holder.collection}.${flag}`,
      to: placeName(children),
      fromPipeline,
      toPipeline,
      distinctValues,
    },
    violating,
  );
}

/** How many child documents each key has. */
async function countChildren(
  relationship: Relationship,
  kept: SubsetField | OutlierField,
  holder: Placement,
  children: Placement,
  db: Db,
): Promise<{ own: string[]; by: KeyOf; toPipeline: Document[]; counts: Map<string, number> }> {
  const own = kept.join.map((pair) => required(holder, pair.parent).path);
  const there = kept.join.map((pair) => required(children, pair.child).path);
  const toPipeline = [...rowsOf(children), filled(there), countsOf(there)];
  const by = keyOf(relationship.sameStorage);
  const counts = new Map<string, number>();
  // Keys that are stored in several ways in the children ('1' and '01') are one parent's.
  for await (const { _id, n } of db
    .collection(children.collection)
    .aggregate(toPipeline, { allowDiskUse: true })) {
    const key = by(Object.values(_id as Record<string, unknown>).map(fromBson));
    counts.set(key, (counts.get(key) ?? 0) + Number(n));
  }
  return { own, by, toPipeline, counts };
}

/** Which rows a copy holds, in words. */
function copiedRows(copy: ExtendedReferenceField | SubsetField | OutlierField): string {
  if (copy.kind === 'subset') return `first ${copy.limit} copied`;
  return copy.kind === 'outlier' ? `all copied up to ${copy.limit}` : 'copied';
}
