import os from 'node:os';
import { Doc } from '../bson/doc';
import { isNumeric, toDouble } from '../bson/value';
import { ID_INDEX, type Collection } from '../storage/store';
import { defaultCollation } from './views';

/** Whether two index keys have the same fields and directions in the same order. */
export const sameKey = (a: Doc, b: Doc): boolean =>
  a.size === b.size &&
  a.keys.every(
    (k, i) =>
      k === b.keys[i] &&
      isNumeric(b.values[i]) &&
      toDouble(a.values[i] as number) === toDouble(b.values[i]),
  );

/** The index of `_id`, which every collection has. */
export const idIndexOf = (collection: Collection): Doc => {
  const collation = defaultCollation(collection);
  return Doc.of({
    v: 2,
    key: Doc.of({ _id: 1 }),
    name: ID_INDEX,
    ...(collation ? { collation } : {}),
  });
};

/** The indexes of a collection with how often they were used. */
export function indexUses(collection: Collection | null): Doc[] {
  if (!collection) return [];
  return [ID_INDEX, ...collection.indexes()].map((index) => {
    const spec = typeof index === 'string' ? idIndexOf(collection) : index.spec;
    return Doc.of({
      name: spec.get('name'),
      key: spec.get('key'),
      host: os.hostname(),
      accesses: Doc.of(collection.uses(index)),
      spec,
    });
  });
}
