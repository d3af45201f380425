import type { Db } from 'mongodb';
import { valueKey } from '../results/equality';
import { fromBson, type Value } from '../results/value';
import { IdColumn } from './id-column';

/**
 * Every place of a database where rows could be: the roots of a collection, and every embedded
 * document or array entry, each with its own leaves and those of its ancestors. Values are
 * interned, so that a place is a table of small numbers.
 */
export interface Place {
  /** `collection`, or `collection.path` for embedded entries. */
  readonly name: string;
  rows: number;
  /**
   * Leaf path (from the document root, with the collection) → one value id a row; absent rows count
   * as null.
   */
  readonly columns: Map<string, IdColumn>;
}

export const NULL_ID = 0;

/** Values ↔ small numbers: equal for values that are equal exactly, 1 and 1.0 among them. */
export class ValueIds {
  readonly #numbers = new Map<number, number>();
  readonly #texts = new Map<string, number>();
  readonly #others = new Map<string, number>([[valueKey(null), NULL_ID]]);
  #next = NULL_ID + 1;

  /** As many as there are ids. */
  get size(): number {
    return this.#next;
  }

  of(value: Value): number {
    switch (typeof value) {
      case 'bigint': {
        const number = Number(value);
        return Number.isSafeInteger(number)
          ? this.#id(this.#numbers, number)
          : this.#id(this.#others, valueKey(value));
      }
      case 'number':
        // Integral doubles of that size are integers too; all others are told apart to the last
        // digit.
        return Number.isInteger(value) && !Number.isSafeInteger(value)
          ? this.#id(this.#others, valueKey(value))
          : this.#id(this.#numbers, value);
      case 'string':
        return this.#id(this.#texts, value);
      default:
        return this.#id(this.#others, valueKey(value));
    }
  }

  #id<K>(ids: Map<K, number>, key: K): number {
    let id = ids.get(key);
    if (id === undefined) ids.set(key, (id = this.#next++));
    return id;
  }
}

/** Documents read at once: enough to keep the connection busy, few enough to stay small. */
const BATCH = 2000;

/** Reads all documents of all collections once. */
export async function readPlaces(db: Db, ids: ValueIds, signal: AbortSignal): Promise<Place[]> {
  const places: Place[] = [];
  const collections = (await db.listCollections({}, { nameOnly: true }).toArray())
    .map(({ name }) => name)
    .sort();
  for (const collection of collections) {
    const reader = new PlaceReader(collection, ids);
    // Long, binary and decimal values keep their BSON class; of the other numbers only the value
    // matters here.
    const cursor = db
      .collection(collection)
      .find({}, { promoteLongs: false, promoteBuffers: false, batchSize: BATCH });
    for await (const document of cursor) {
      signal.throwIfAborted();
      reader.add(document);
    }
    places.push(...reader.places);
  }
  return places;
}

/** A path at which documents have something, and what was found there. */
interface PathNode {
  readonly path: string;
  readonly children: Map<string, PathNode>;
  /** Set where documents or array entries were found: they are rows of a place. */
  place: Place | undefined;
}

interface Leaf {
  readonly path: string;
  readonly id: number;
}

class PlaceReader {
  readonly places: Place[] = [];
  readonly #root: PathNode;

  constructor(
    collection: string,
    private readonly ids: ValueIds,
  ) {
    this.#root = { path: collection, children: new Map(), place: undefined };
    this.#placeAt(this.#root);
  }

  add(document: Record<string, unknown>): void {
    this.#visit(document, this.#root, []);
  }

  /**
   * A node is a row of the place at its path; what is nested below makes rows of its own, which
   * repeat this one's leaves.
   */
  #visit(node: unknown, at: PathNode, inherited: readonly Leaf[]): void {
    const leaves = [...inherited];
    const nested: { value: unknown; at: PathNode }[] = [];
    this.#collect(node, at, at, leaves, nested);
    const place = this.#placeAt(at);
    for (const { path, id } of leaves) {
      let column = place.columns.get(path);
      if (!column) place.columns.set(path, (column = new IdColumn()));
      column.set(place.rows, id);
    }
    place.rows++;
    for (const { value, at: below } of nested) {
      if (!Array.isArray(value)) this.#visit(value, below, leaves);
      else for (const entry of value) this.#visit(entry, below, leaves);
    }
  }

  /**
   * Leaves at any depth outside arrays; of what is nested only what is next below, which finds the
   * rest by itself.
   */
  #collect(
    value: unknown,
    at: PathNode,
    top: PathNode,
    leaves: Leaf[],
    nested: { value: unknown; at: PathNode }[] | undefined,
  ): void {
    if (Array.isArray(value)) nested?.push({ value, at });
    else if (isDocument(value)) {
      if (at !== top) nested?.push({ value, at });
      const below = at === top ? nested : undefined;
      for (const [key, inner] of Object.entries(value))
        this.#collect(inner, childOf(at, key), top, leaves, below);
    } else
      leaves.push({
        path: at.path,
        id:
          typeof value === 'string' || typeof value === 'number'
            ? this.ids.of(value)
            : this.ids.of(fromBson(value)),
      });
  }

  #placeAt(node: PathNode): Place {
    if (!node.place)
      this.places.push((node.place = { name: node.path, rows: 0, columns: new Map() }));
    return node.place;
  }
}

function childOf(node: PathNode, key: string): PathNode {
  let child = node.children.get(key);
  if (!child)
    node.children.set(
      key,
      (child = { path: `${node.path}.${key}`, children: new Map(), place: undefined }),
    );
  return child;
}

const isDocument = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Date) &&
  !(value instanceof Uint8Array) &&
  !('_bsontype' in value);
