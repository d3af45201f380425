import { Doc } from '../bson/doc';
import { badValue } from '../errors';
import type { Collection } from '../storage/store';
import { double, isNumeric, toDouble, type Value } from '../bson/value';

/** What collections occupy, for `collStats`, `dbStats` and `$collStats`. */

/** A count or a size: int32 while it fits, as the server has it. */
export const wholeNumber = (n: number): Value => (n > 2147483647 ? BigInt(n) : n);

/** What sizes are divided by: a number of at least 1, cut to an integer. */
export function parseScale(v: Value): number {
  if (v === undefined || v === null) return 1;
  if (!isNumeric(v) || !(toDouble(v) >= 1)) throw badValue('scale has to be a number >= 1');
  return Math.trunc(toDouble(v));
}

export function collectionStatistics(
  collection: Collection | null,
  scale: number,
): Record<string, Value> {
  const count = collection?.count() ?? 0;
  const size = collection?.bytes() ?? 0;
  const scaled = (n: number): Value => wholeNumber(Math.trunc(n / scale));
  const indexSizes: Record<string, Value> = collection ? { _id_: 0 } : {};
  let total = 0;
  for (const index of collection?.indexes() ?? []) {
    const bytes = collection?.indexBytes(index) ?? 0;
    indexSizes[index.name] = scaled(bytes);
    total += bytes;
  }
  return {
    size: scaled(size),
    count: wholeNumber(count),
    ...(count > 0 ? { avgObjSize: Math.floor(size / count) } : {}),
    storageSize: scaled(size),
    freeStorageSize: 0,
    capped: false,
    nindexes: Object.keys(indexSizes).length,
    indexBuilds: [],
    totalIndexSize: scaled(total),
    totalSize: scaled(size + total),
    indexSizes: Doc.of(indexSizes),
    scaleFactor: scale,
  };
}

export function databaseStatistics(
  database: string,
  collections: readonly Collection[],
  scale: number,
): Record<string, Value> {
  const stored = collections.filter((c) => !c.isView);
  const sum = (of: (c: Collection) => number): number => stored.reduce((n, c) => n + of(c), 0);
  const size = sum((c) => c.bytes());
  const objects = sum((c) => c.count());
  const indexSize = sum((c) => c.indexes().reduce((n, index) => n + c.indexBytes(index), 0));
  return {
    db: database,
    collections: BigInt(stored.length),
    views: BigInt(collections.length - stored.length),
    objects: BigInt(objects),
    avgObjSize: double(objects > 0 ? size / objects : 0),
    dataSize: double(size / scale),
    storageSize: double(size / scale),
    indexes: BigInt(sum((c) => c.indexes().length + 1)),
    indexSize: double(indexSize / scale),
    totalSize: double((size + indexSize) / scale),
    scaleFactor: BigInt(scale),
  };
}
