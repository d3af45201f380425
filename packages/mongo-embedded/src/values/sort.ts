import { Doc, type FieldName } from '../bson/doc';
import { badValue, failedToParse, ServerError, unsupported } from '../errors';
import { compareValues, type StringOrder } from './compare';
import { simpleCollation, type Collation } from './collation';
import { fieldName, splitPath } from './path';
import { bsonUndefined, Double, isNumeric, toDouble, type Value } from '../bson/value';

/** `{a: 1, "b.c": -1}`: how documents are ordered. */
export interface SortPattern {
  readonly parts: readonly { readonly path: string; readonly direction: 1 | -1 }[];
  readonly order: StringOrder;
  /**
   * The values by which a document is ordered. `self` stands in for it when it is not a document
   * ($sortArray).
   */
  keyOf(doc: Doc, self?: Value): Value[];
  compareKeys(a: readonly Value[], b: readonly Value[]): number;
  /**
   * The first value of the key, where the key as a whole cannot be an error (of parallel arrays);
   * else missing.
   */
  leadOf(doc: Doc): Value;
}

export function parseSortPattern(spec: Value, collation: Collation = simpleCollation): SortPattern {
  if (!(spec instanceof Doc))
    throw new ServerError(15973, 'the $sort key specification must be an object');
  if (spec.size === 0) throw new ServerError(15976, '$sort stage must have at least one sort key');
  if (spec.size > 32) throw badValue('too many compound keys');
  const parts = spec.keys.map((path, i) => {
    const direction = spec.values[i];
    if (direction instanceof Doc) {
      if (direction.has('$meta')) throw unsupported('$sort by {$meta: …}');
      throw new ServerError(15974, 'Illegal key in $sort specification');
    }
    if (!isNumeric(direction))
      throw new ServerError(15974, `Illegal key in $sort specification: ${path}`);
    const n = toDouble(direction);
    if (n !== 1 && n !== -1)
      throw new ServerError(
        15975,
        '$sort key ordering must be 1 (for ascending) or -1 (for descending)',
      );
    return { path, direction: n as 1 | -1 };
  });
  return makeSortPattern(parts, collation);
}

type Part = { readonly path: string; readonly direction: 1 | -1 };

function makeSortPattern(parts: readonly Part[], collation: Collation): SortPattern {
  const { order } = collation;
  const readers = parts.map((part) => new KeyReader(part.path, part.direction, collation));
  const directions = parts.map((p) => p.direction);
  const compareKeys = (a: readonly Value[], b: readonly Value[]): number => {
    for (let i = 0; i < directions.length; i++) {
      const x = a[i];
      const y = b[i];
      const c = compareValues(x, y, order);
      if (c !== 0) return c * (directions[i] as number);
    }
    return 0;
  };
  // Copied rather than made by length, because the JavaScript engine then leaves the values where
  // they are put.
  const blank: readonly Value[] = readers.map(() => undefined);
  const keyOf = (doc: Doc): Value[] => {
    const key = blank.slice();
    let arrayAt: string | undefined;
    for (let i = 0; i < readers.length; i++) {
      const reader = readers[i] as KeyReader;
      key[i] = reader.read(doc);
      if (reader.sawArray !== undefined && readers.length > 1) {
        if (arrayAt !== undefined) return parallelKey(doc, readers, compareKeys);
        arrayAt = reader.sawArray;
      }
    }
    return key;
  };
  const lead = readers[0] as KeyReader;
  const leadOf = (doc: Doc): Value => {
    if (readers.length > 2) return undefined;
    const value = lead.read(doc);
    return lead.sawArray === undefined ? value : undefined;
  };
  return { parts, order, keyOf, compareKeys, leadOf };
}

/** Two keys under one array go together element by element; under two arrays they cannot. */
function parallelKey(
  doc: Doc,
  readers: readonly KeyReader[],
  compareKeys: (a: Value[], b: Value[]) => number,
): Value[] {
  const at = new Set<string>();
  for (const reader of readers) {
    reader.read(doc);
    if (reader.sawArray !== undefined) at.add(reader.sawArray);
  }
  if (at.size > 1) throw badValue('cannot sort with keys that are parallel arrays');
  const [prefix] = at as Set<string> & Iterable<string>;
  const depth = (prefix as string).split('.').length;
  let items: Value = doc;
  for (const part of (prefix as string).split('.'))
    items = items instanceof Doc ? items.get(part) : undefined;
  if (!Array.isArray(items)) throw failedToParse('no array to sort by');
  let best: Value[] | undefined;
  for (const item of items) {
    const key = readers.map((reader) => {
      if (!`${reader.path}.`.startsWith(`${prefix}.`)) return reader.read(doc);
      const rest = reader.path.split('.').slice(depth).join('.');
      if (rest === '') return item;
      return item instanceof Doc
        ? new KeyReader(rest, reader.direction, reader.collation).read(item)
        : null;
    });
    if (!best || compareKeys(key, best) < 0) best = key;
  }
  return best ?? readers.map(() => bsonUndefined);
}

/**
 * Reads the value by which a document sorts: of an array the least element, or the greatest when
 * descending.
 */
class KeyReader {
  private readonly fields;
  /** The field of a path that is just one. */
  private readonly only: FieldName | undefined;
  /** The path at which the last read met an array. */
  sawArray: string | undefined;
  constructor(
    readonly path: string,
    readonly direction: 1 | -1,
    readonly collation: Collation,
  ) {
    this.fields = splitPath(path).map(fieldName);
    this.only = this.fields.length === 1 ? this.fields[0] : undefined;
  }
  read(doc: Doc): Value {
    this.sawArray = undefined;
    const value = this.only ? this.whole(doc.read(this.only)) : this.step(doc, 0);
    // A key is only ever compared, so a double may lose its wrapping.
    if (value === undefined) return null;
    return value instanceof Double ? value.value : value;
  }
  private step(value: Value, i: number): Value {
    for (; i < this.fields.length; i++) {
      if (value instanceof Doc) value = value.read(this.fields[i] as (typeof this.fields)[number]);
      else if (Array.isArray(value)) return this.within(value, i);
      else return undefined;
    }
    return this.whole(value);
  }
  private whole(value: Value): Value {
    return Array.isArray(value) ? this.extreme(value, this.path) : value;
  }
  private within(items: Value[], i: number): Value {
    const name = (this.fields[i] as (typeof this.fields)[number]).name;
    const prefix = this.fields
      .slice(0, i)
      .map((f) => f.name)
      .join('.');
    if (/^\d+$/.test(name) && !items.some((v) => v instanceof Doc))
      return this.step(items[Number(name)], i + 1);
    const values = items.map((item) => (item instanceof Doc ? (this.step(item, i) ?? null) : null));
    return this.extreme(values, prefix);
  }
  private extreme(values: Value[], at: string): Value {
    this.sawArray = at;
    if (values.length === 0) return bsonUndefined;
    let best = values[0];
    for (let i = 1; i < values.length; i++) {
      if (compareValues(values[i], best, this.collation.order) * this.direction < 0)
        best = values[i];
    }
    return best;
  }
}

/** Keeps the first `limit` of what it is given, in order, without keeping the rest. */
export class TopItems<T> {
  // A max-heap: the last item in sort order is on top and is replaced first.
  private readonly heap: { item: T; key: readonly Value[]; n: number }[] = [];
  private n = 0;
  /** The first key value of the worst, when it is a number and no more are kept. */
  private bar: number | undefined;
  private readonly direction: 1 | -1;
  constructor(
    private readonly limit: number,
    private readonly pattern: SortPattern,
  ) {
    this.direction = pattern.parts[0]?.direction ?? 1;
  }
  private worse(
    a: { key: readonly Value[]; n: number },
    b: { key: readonly Value[]; n: number },
  ): boolean {
    const c = this.pattern.compareKeys(a.key, b.key);
    return c > 0 || (c === 0 && a.n > b.n);
  }
  /**
   * Whether something with this first key value is sure to come after all that is kept: of a long
   * input nearly everything does, and needs no whole key.
   */
  beyond(lead: Value): boolean {
    const { bar } = this;
    if (bar === undefined || typeof lead !== 'number') return false;
    return this.direction === 1 ? lead > bar : lead < bar;
  }
  private raiseBar(): void {
    const worst = this.heap.length < this.limit ? undefined : this.heap[0]?.key[0];
    this.bar = typeof worst === 'number' ? worst : undefined;
  }
  add(item: T, key: readonly Value[]): void {
    if (this.limit <= 0) return;
    const entry = { item, key, n: this.n++ };
    const { heap } = this;
    if (heap.length < this.limit) {
      heap.push(entry);
      let i = heap.length - 1;
      while (i > 0) {
        const parent = (i - 1) >> 1;
        if (!this.worse(heap[i] as typeof entry, heap[parent] as typeof entry)) break;
        [heap[i], heap[parent]] = [heap[parent] as typeof entry, heap[i] as typeof entry];
        i = parent;
      }
      this.raiseBar();
    } else if (this.pattern.compareKeys(key, (heap[0] as typeof entry).key) < 0) {
      heap[0] = entry;
      this.sink();
      this.raiseBar();
    }
  }
  private sink(): void {
    const { heap } = this;
    let i = 0;
    for (;;) {
      let worst = i;
      for (const child of [2 * i + 1, 2 * i + 2]) {
        const c = heap[child];
        if (c && this.worse(c, heap[worst] as typeof c)) worst = child;
      }
      if (worst === i) return;
      const moved = heap[i] as (typeof heap)[number];
      heap[i] = heap[worst] as typeof moved;
      heap[worst] = moved;
      i = worst;
    }
  }
  /** In order. */
  items(): T[] {
    return [...this.heap].sort((a, b) => (this.worse(a, b) ? 1 : -1)).map((e) => e.item);
  }
}
