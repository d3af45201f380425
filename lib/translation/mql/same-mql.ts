import { BSON } from 'mongodb';
import { isDocument } from './mql';

/** Equal values of equal types, documents with their keys in the same order. */
export function sameMql(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a))
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((value, index) => sameMql(value, b[index]))
    );
  if (isDocument(a)) return isDocument(b) && sameDocuments(a, b);
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  if (a instanceof RegExp)
    return b instanceof RegExp && a.source === b.source && a.flags === b.flags;
  return isBson(a) && isBson(b) && a._bsontype === b._bsontype && sameBson(a, b);
}

function sameDocuments(a: object, b: object): boolean {
  const [ours, theirs] = [Object.entries(a), Object.entries(b)];
  return (
    ours.length === theirs.length &&
    ours.every(
      ([key, value], index) => key === theirs[index]![0] && sameMql(value, theirs[index]![1]),
    )
  );
}

interface Bson {
  readonly _bsontype: string;
}

const isBson = (value: unknown): value is Bson =>
  typeof value === 'object' && value !== null && '_bsontype' in value;

/** The driver's classes print themselves whole as Extended JSON. */
const sameBson = (a: Bson, b: Bson): boolean =>
  BSON.EJSON.stringify(a, { relaxed: false }) === BSON.EJSON.stringify(b, { relaxed: false });
