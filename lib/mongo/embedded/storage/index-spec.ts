import { Doc } from '../bson/doc';
import { Environment, Scope } from '../expressions/expression';
import { parseFilter, valuesAt, type Filter } from '../query/match';
import { parseCollation, type Collation } from '../values/collation';
import { compareValues, rankOf } from '../values/compare';
import type { Value } from '../values/value';
import { encodeKey } from './keys';

export interface IndexSpec {
  readonly id: number;
  readonly name: string;
  /** As given: `{key, name, unique, …}`. */
  readonly spec: Doc;
  readonly fields: readonly { readonly path: string; readonly values: (doc: Doc) => Value[] }[];
  readonly unique: boolean;
  readonly sparse: boolean;
  /** The planner is not to use it. */
  readonly hidden: boolean;
  /** Of all fields. It is kept only as a description: no query needs it, and it can make no value unique. */
  readonly wildcard: boolean;
  readonly partial: Filter | null;
  readonly collation: Collation;
  readonly table: string;
}

export const isWildcard = (path: string): boolean => path === '$**' || path.endsWith('.$**');

export function describeIndex(id: number, name: string, spec: Doc): IndexSpec {
  const key = spec.get('key') as Doc;
  const partial = spec.get('partialFilterExpression');
  const given = spec.get('collation');
  const collation = parseCollation(given instanceof Doc ? given : undefined);
  const wildcard = key.keys.some(isWildcard);
  return {
    id,
    name,
    spec,
    fields: wildcard ? [] : key.keys.map((path) => ({ path, values: valuesAt(path) })),
    unique: spec.get('unique') === true,
    sparse: spec.get('sparse') === true,
    hidden: wildcard || spec.get('hidden') === true,
    wildcard,
    partial: partial instanceof Doc ? parseFilter(partial, Scope.root(new Environment(collation))) : null,
    collation,
    table: `i${id}`,
  };
}

const ARRAY = 30;
const OBJECT = 25;
const STRING = 20;

/**
 * The key of a value in an index. Intl has no sort keys, so an index with a collation keeps of a string what all strings
 * equal to it share; which of them are equal is found out by comparing.
 */
function keyOf(index: IndexSpec, value: Value): Buffer {
  if (index.collation.simple) return encodeKey(value);
  if (rankOf(value) === STRING) return encodeKey(index.collation.fold(String(value)));
  // Whatever holds strings inside is only known to be an array or an object.
  return rankOf(value) === ARRAY ? encodeKey([]) : rankOf(value) === OBJECT ? encodeKey(Doc.empty()) : encodeKey(value);
}

/** The keys under which everything equal to a value is, among other things; null when it could be under any. */
export function probesOf(index: IndexSpec, value: Value): Buffer[] | null {
  if (index.collation.simple || rankOf(value) !== STRING) return [keyOf(index, value)];
  const folds = index.collation.folds(String(value));
  return folds && folds.map((f) => encodeKey(f));
}

export interface Keys {
  readonly keys: readonly Buffer[];
  /** What each key was made of. */
  readonly values: readonly (readonly Value[])[];
  /** When the order of the keys is not simply that of the document. */
  readonly arrays: boolean;
}

/** An index's keys of a document. */
export function keysOf(index: IndexSpec, doc: Doc): Keys {
  if (index.wildcard || (index.partial && !index.partial.test(doc))) return { keys: [], values: [], arrays: false };
  let arrays = false;
  let tuples: Value[][] = [[]];
  let present = false;
  for (const field of index.fields) {
    const found = field.values(doc);
    if (found.some((v) => v !== undefined)) present = true;
    if (found.length !== 1 || Array.isArray(found[0])) arrays = true;
    const values = found.length === 0 ? [null] : found.map((v) => (v === undefined ? null : v));
    tuples = tuples.flatMap((tuple) => values.map((v) => [...tuple, v]));
  }
  if (index.sparse && !present) return { keys: [], values: [], arrays };
  const keys = new Map<string, { key: Buffer; tuple: Value[] }>();
  for (const tuple of tuples) {
    const key = tuple.length === 1 ? keyOf(index, tuple[0]) : Buffer.concat(tuple.map((v) => keyOf(index, v)));
    // With a collation one key may stand for several values, all of which a unique index must look at.
    const name = key.toString('latin1');
    keys.set(index.collation.simple ? name : `${name} ${keys.size}`, { key, tuple });
  }
  return { keys: [...keys.values()].map((k) => k.key), values: [...keys.values()].map((k) => k.tuple), arrays };
}

/** Whether two documents have a value of the index in common, by its collation. */
export function shareValue(index: IndexSpec, tuple: readonly Value[], other: Doc): boolean {
  const { order } = index.collation;
  return keysOf(index, other).values.some((t) => t.every((v, i) => compareValues(v, tuple[i], order) === 0));
}
