import { Doc } from '../bson/doc';
import { simpleCollation, type Collation } from '../values/collation';
import type { Comparison, Filter } from '../query/match';
import type { SortPattern } from '../values/sort';
import { rankOf } from '../values/compare';
import { probesOf, type IndexSpec } from '../storage/index-spec';
import type { Collection, Row } from '../storage/store';
import { encodeKey } from '../storage/keys';
import { constantEquality, implies } from './implication';
import {
  bsonUndefined,
  isNullish,
  isNumeric,
  maxKey,
  minKey,
  Regex,
  toDouble,
  type Value,
} from '../bson/value';

/**
 * How candidates for a filter are found. They are a superset: the filter is always tested on them.
 */
export type Plan =
  | { readonly kind: 'scan' }
  | {
      readonly kind: 'index';
      readonly index: IndexSpec | '_id_';
      readonly ranges: readonly (readonly [Buffer, Buffer])[];
      readonly described: string;
    };

interface Bounds {
  equal?: Value[];
  low?: Value;
  high?: Value;
}

const AFTER = Buffer.from([0xff]);
const after = (key: Buffer): Buffer => Buffer.concat([key, AFTER]);

/** Values that compare in ways of their own: an index does not help with them. */
function odd(value: Value): boolean {
  return (
    value === minKey ||
    value === maxKey ||
    value === bsonUndefined ||
    value instanceof Regex ||
    (isNumeric(value) && Number.isNaN(toDouble(value)))
  );
}

/** Ranks of types that no collation touches: null, numbers, ObjectIds, booleans, dates. */
const untouched = new Set([10, 15, 40, 45, 50]);
const STRING = 20;

/**
 * Whether an index says the same about a value as the query does: their collations must agree where
 * strings are concerned.
 */
function indexable(value: Value, index: Collation, query: Collation): boolean {
  if (odd(value)) return false;
  if (untouched.has(rankOf(value))) return true;
  // An index with a collation has no keys for what holds strings inside.
  return index.name === query.name && (index.simple || rankOf(value) === STRING);
}
const allIndexable = (b: Bounds, index: Collation, query: Collation): boolean => {
  const values = b.equal ?? [b.low, b.high].filter((v) => v !== undefined);
  // Keys of strings in an index with a collation are in no order.
  return values.every(
    (v) =>
      indexable(v, index, query) && (b.equal !== undefined || index.simple || rankOf(v) !== STRING),
  );
};

/** What a conjunction says about each path. */
function boundsByPath(filter: Filter, into = new Map<string, Bounds>()): Map<string, Bounds> {
  if (filter.kind === 'and') for (const part of filter.parts) boundsByPath(part, into);
  else if (filter.kind === 'compare' && !odd(filter.value)) {
    const bounds = into.get(filter.path) ?? {};
    narrow(bounds, filter.operator, filter.value);
    into.set(filter.path, bounds);
  } else if (filter.kind === 'in' && filter.values.length > 0 && !filter.values.some(odd)) {
    const bounds = into.get(filter.path) ?? {};
    if (!bounds.equal) bounds.equal = [...filter.values];
    into.set(filter.path, bounds);
  } else if (filter.kind === 'expression') {
    const equality = constantEquality(filter.operand);
    if (equality && !odd(equality.value)) {
      const bounds = into.get(equality.path) ?? {};
      narrow(bounds, '$eq', equality.value);
      into.set(equality.path, bounds);
    }
  }
  return into;
}

/** What one `$elemMatch` says of the fields of one element, by their full paths. */
interface ElementBounds {
  readonly path: string;
  readonly bounds: ReadonlyMap<string, Bounds>;
}

/**
 * Not what null would be equal to: elements that are arrays have no fields, which counts as null
 * there and has no key.
 */
function elementBounds(filter: Filter): ElementBounds[] {
  if (filter.kind === 'and') return filter.parts.flatMap(elementBounds);
  if (filter.kind !== 'elemMatch' || !filter.inner) return [];
  const { path } = filter;
  const inner = [...boundsByPath(filter.inner)].map(
    ([own, bounds]) => [`${path}.${own}`, bounds] as const,
  );
  const bounds = new Map(
    inner.filter(([own, { equal }]) => !equal?.some(isNullish) && !/(^|\.)\d+(\.|$)/.test(own)),
  );
  return bounds.size > 0 ? [{ path, bounds }] : [];
}

function narrow(bounds: Bounds, operator: Comparison, value: Value): void {
  if (operator === '$eq') {
    if (!bounds.equal || bounds.equal.length > 1) bounds.equal = [value];
  } else if (value !== null) {
    // Only the first bound of each side is used; the filter checks the rest.
    if (operator === '$gt' || operator === '$gte') bounds.low ??= value;
    else bounds.high ??= value;
  }
}

export function choosePlan(
  collection: Collection,
  filter: Filter | null,
  collation: Collation,
): Plan {
  if (!filter) return { kind: 'scan' };
  const bounds = boundsByPath(filter);
  const elements = elementBounds(filter);
  if (bounds.size + elements.length === 0) return { kind: 'scan' };
  let best: { score: number; plan: Plan } | undefined;
  const consider = (
    score: number,
    index: IndexSpec | '_id_',
    ranges: [Buffer, Buffer][],
    described: string,
  ): void => {
    if (ranges.length > 0 && (!best || score > best.score))
      best = { score, plan: { kind: 'index', index, ranges, described } };
  };
  const id = bounds.get('_id');
  if (id && usable(id, false) && allIndexable(id, simpleCollation, collation))
    consider(id.equal ? 1000 : 15, '_id_', rangesOf(Buffer.alloc(0), id, false), '_id_');
  for (const index of collection.indexes()) {
    if (
      index.hidden ||
      (index.partial && !implies(filter, index.partial, index.collation, collation))
    )
      continue;
    for (const element of [undefined, ...elements])
      planIndex(collection, index, bounds, element, collation, consider);
  }
  return best?.plan ?? { kind: 'scan' };
}

const usable = (b: Bounds, sparse: boolean): boolean => {
  if (b.equal) return !sparse || b.equal.every((v) => !isNullish(v));
  return b.low !== undefined || b.high !== undefined;
};

/**
 * Of an index over arrays: whether the elements that meet two bounds are the same, or no elements
 * of one array.
 */
function together(a: string, b: string, element: ElementBounds | undefined): boolean {
  const [first, second] = [a.split('.'), b.split('.')];
  if (first[0] !== second[0]) return true;
  if (!element?.bounds.has(a) || !element.bounds.has(b)) return false;
  const depth = element.path.split('.').length;
  return first[depth] !== second[depth];
}

/** With `element`, the bounds of one `$elemMatch` take part. */
function planIndex(
  collection: Collection,
  index: IndexSpec,
  bounds: Map<string, Bounds>,
  element: ElementBounds | undefined,
  collation: Collation,
  consider: (
    score: number,
    index: IndexSpec,
    ranges: [Buffer, Buffer][],
    described: string,
  ) => void,
): void {
  let prefixes: Buffer[] = [Buffer.alloc(0)];
  let score = 0;
  const used: string[] = [];
  for (const { path } of index.fields) {
    const b = element?.bounds.get(path) ?? bounds.get(path);
    if (!b || !usable(b, index.sparse) || !allIndexable(b, index.collation, collation)) break;
    if (
      index.shared.length > 0 &&
      used.some((other) => !together(other, path, element)) &&
      collection.isMultikey(index)
    )
      break;
    used.push(path);
    if (b.equal) {
      if (prefixes.length * b.equal.length > 1000) break;
      const probes = b.equal.map((v) => probesOf(index, v));
      if (!probes.every((p) => p !== null)) break;
      const keys = probes.flat();
      prefixes = prefixes.flatMap((p) => keys.map((k) => Buffer.concat([p, k])));
      score += index.unique ? 40 : 20;
      continue;
    }
    const multikey = collection.isMultikey(index);
    consider(
      score + 10 + (b.low !== undefined && b.high !== undefined ? 2 : 0),
      index,
      prefixes.flatMap((p) => rangesOf(p, b, multikey)),
      index.name,
    );
    return;
  }
  if (score > 0)
    consider(
      score,
      index,
      distinct(prefixes).map((p): [Buffer, Buffer] => [p, after(p)]),
      index.name,
    );
}

function distinct(keys: Buffer[]): Buffer[] {
  return [...new Map(keys.map((k) => [k.toString('latin1'), k])).values()];
}

/** Of a multikey index only one side of a range holds: the two may be met by different elements. */
function rangesOf(prefix: Buffer, b: Bounds, multikey: boolean): [Buffer, Buffer][] {
  if (b.equal)
    return distinct(b.equal.map((v) => Buffer.concat([prefix, encodeKey(v)]))).map((k) => [
      k,
      after(k),
    ]);
  const sample = b.low ?? b.high;
  const rank = rankOf(sample);
  const low = b.low !== undefined ? encodeKey(b.low) : Buffer.from([rank]);
  const sameRank = b.high !== undefined && rankOf(b.high) === rank;
  const high =
    sameRank && (b.low === undefined || !multikey)
      ? after(encodeKey(b.high))
      : Buffer.from([rank + 1]);
  return [[Buffer.concat([prefix, low]), Buffer.concat([prefix, high])]];
}

const MAX_ORDERED = 1000;

/**
 * Rows in sort order through an index whose fields are the sort's, when few of them will be asked
 * for.
 */
export function inSortOrder(
  collection: Collection,
  filter: Filter | null,
  sort: SortPattern,
  bound: number,
  examined?: Examined,
): (() => Row | null) | null {
  const backwards = sort.parts[0]?.direction === -1;
  if (bound > MAX_ORDERED || !sort.parts.every((p) => (p.direction === -1) === backwards))
    return null;
  if (filter && choosePlan(collection, filter, simpleCollation).kind === 'index') return null;
  // More fields than the sort's would order what the sort calls equal.
  const index = collection
    .indexes()
    .find(
      (i) =>
        !i.partial &&
        !i.sparse &&
        !i.hidden &&
        i.collation.simple &&
        i.fields.length === sort.parts.length &&
        i.fields.every((f, j) => f.path === sort.parts[j]?.path),
    );
  if (!index || collection.isMultikey(index)) return null;
  collection.use(index);
  const rows = collection.inKeyOrder(index, backwards);
  if (!examined) return rows;
  examined.index = index.name;
  return () => {
    const row = rows();
    if (row) {
      examined.keys++;
      examined.docs++;
    }
    return row;
  };
}

/** What running a plan touched, for `explain`. */
export interface Examined {
  keys: number;
  docs: number;
  index: string | null;
}

/** Candidate rows, each once, in order of insertion. */
export function candidates(
  collection: Collection,
  plan: Plan,
  examined?: Examined,
): () => Row | null {
  if (plan.kind === 'scan') {
    const rows = collection.rows();
    if (!examined) return rows;
    return () => {
      const row = rows();
      if (row) examined.docs++;
      return row;
    };
  }
  collection.use(plan.index);
  const found = new Map<number, Row>();
  for (const [low, high] of plan.ranges) {
    const rows =
      plan.index === '_id_'
        ? collection.byIdRange(low, high)
        : collection.byKeyRange(plan.index, low, high);
    for (const row of rows) found.set(row.rid, row);
  }
  const rows =
    plan.ranges.length > 1
      ? [...found.values()].sort((a, b) => a.rid - b.rid)
      : [...found.values()];
  if (examined) {
    examined.keys += rows.length;
    examined.docs += rows.length;
    examined.index = plan.described;
  }
  let i = 0;
  return () => rows[i++] ?? null;
}

export const rowDoc = (row: Row): Doc => Doc.fromRaw(row.d);

/**
 * Rows whose first key in an index equals any of the values; null when a value cannot be found by
 * its key.
 */
export function probeIndex(
  collection: Collection,
  index: IndexSpec | '_id_',
  values: readonly Value[],
  collation: Collation,
  examined?: Examined,
): Row[] | null {
  const found = new Map<number, Row>();
  let rows: Row[] = [];
  for (const value of values) {
    if (!indexable(value, simpleCollation, collation)) return null;
    const key = encodeKey(value);
    const single = index === '_id_' ? collection.byKey(key) : null;
    if (index === '_id_') rows = single ? [single] : [];
    else
      rows =
        index.fields.length === 1
          ? collection.byIndexKey(index, key)
          : collection.byKeyRange(index, key, after(key));
    if (examined) {
      examined.keys += rows.length;
      examined.docs += rows.length;
      examined.index = index === '_id_' ? '_id_' : index.name;
    }
    if (values.length > 1) for (const row of rows) found.set(row.rid, row);
  }
  return values.length > 1 ? [...found.values()].sort((a, b) => a.rid - b.rid) : rows;
}
