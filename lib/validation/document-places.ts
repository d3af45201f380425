import type { Db } from 'mongodb';
import { valueKey } from '../results/equality';
import { fromBson, isValueDocument, type Value } from '../results/value';

/**
 * Every place of a database where rows could be: the roots of a collection, and every embedded document or array entry,
 * each with its own leaves and those of its ancestors. Values are interned, so that a place is a table of small numbers.
 */
export interface Place {
  /** `collection`, or `collection.path` for embedded entries. */
  readonly name: string;
  rows: number;
  /** Leaf path (from the document root, with the collection) → one value id a row; absent rows count as null. */
  readonly columns: Map<string, number[]>;
}

export const NULL_ID = 0;

/** Value keys ↔ small numbers. */
export class ValueIds {
  readonly #ids = new Map<string, number>([[valueKey(null), NULL_ID]]);

  of(value: Value): number {
    const key = valueKey(value);
    let id = this.#ids.get(key);
    if (id === undefined) this.#ids.set(key, (id = this.#ids.size));
    return id;
  }
}

/** Reads all documents of all collections once. */
export async function readPlaces(db: Db, ids: ValueIds, signal: AbortSignal): Promise<Place[]> {
  const places = new Map<string, Place>();
  const collections = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name).sort();
  for (const collection of collections) {
    places.set(collection, { name: collection, rows: 0, columns: new Map() });
    const cursor = db.collection(collection).find({}, { promoteValues: false, promoteLongs: false });
    for await (const raw of cursor) {
      signal.throwIfAborted();
      const document = fromBson(raw);
      if (isValueDocument(document)) visit(document, collection, new Map(), places, ids);
    }
  }
  return [...places.values()];
}

type Leaves = ReadonlyMap<string, number>;

function visit(node: Value, place: string, inherited: Leaves, places: Map<string, Place>, ids: ValueIds): void {
  const own = new Map(inherited);
  const nested: [string, Value][] = [];
  const collect = (value: Value, path: string): void => {
    if (!isValueDocument(value)) {
      if (Array.isArray(value)) nested.push([path, value]);
      else own.set(path, ids.of(value));
      return;
    }
    if (path !== place) nested.push([path, value]);
    for (const [key, inner] of Object.entries(value)) collect(inner, `${path}.${key}`);
  };
  collect(node, place);
  record(place, own, places);
  for (const [path, value] of nested) {
    for (const entry of Array.isArray(value) ? value : [value]) visit(entry, path, own, places, ids);
  }
}

function record(name: string, leaves: Leaves, places: Map<string, Place>): void {
  let place = places.get(name);
  if (!place) places.set(name, (place = { name, rows: 0, columns: new Map() }));
  for (const [path, id] of leaves) {
    let column = place.columns.get(path);
    if (!column) place.columns.set(path, (column = []));
    while (column.length < place.rows) column.push(NULL_ID);
    column.push(id);
  }
  place.rows++;
}
