import { Doc } from '../bson/doc';
import { Environment, Scope } from '../expressions/expression';
import { parseFilter, valuesAt, type Filter } from '../query/match';
import { parseCollation, type Collation } from '../values/collation';
import { compareValues, rankOf } from '../values/compare';
import type { Value } from '../bson/value';
import { encodeKey } from './keys';

export interface IndexSpec {
  readonly id: number;
  readonly name: string;
  /** As given: `{key, name, unique, …}`. */
  readonly spec: Doc;
  readonly fields: readonly { readonly path: string; readonly values: (doc: Doc) => Value[] }[];
  /** Fields that may be inside the elements of one array: they are read element by element. */
  readonly shared: readonly SharedArray[];
  readonly unique: boolean;
  readonly sparse: boolean;
  /** The planner is not to use it. */
  readonly hidden: boolean;
  /**
   * Of all fields. It is kept only as a description: no query needs it, and it can make no value
   * unique.
   */
  readonly wildcard: boolean;
  readonly partial: Filter | null;
  readonly collation: Collation;
  readonly table: string;
}

export interface SharedArray {
  readonly path: readonly string[];
  /** Positions in `fields`, with the value of each within an entry. */
  readonly fields: readonly { readonly at: number; readonly values: (entry: Doc) => Value[] }[];
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
    shared: wildcard ? [] : sharedArrays(key.keys),
    unique: spec.get('unique') === true,
    sparse: spec.get('sparse') === true,
    hidden: wildcard || spec.get('hidden') === true,
    wildcard,
    partial:
      partial instanceof Doc ? parseFilter(partial, Scope.root(new Environment(collation))) : null,
    collation,
    table: `i${id}`,
  };
}

/** Paths with the same beginning; not where one of them ends there, or counts entries. */
function sharedArrays(paths: readonly string[]): SharedArray[] {
  const split = paths.map((path) => path.split('.'));
  return [...new Set(split.map(([first]) => first))].flatMap((first): SharedArray[] => {
    const members = split.flatMap((parts, at) => (parts[0] === first ? [{ parts, at }] : []));
    if (members.length < 2 || members.some(({ parts }) => parts.some((part) => /^\d+$/.test(part))))
      return [];
    let length = 1;
    while (
      members.every(
        ({ parts }) => parts.length > length && parts[length] === members[0]!.parts[length],
      )
    )
      length++;
    if (members.some(({ parts }) => parts.length <= length)) return [];
    return [
      {
        path: members[0]!.parts.slice(0, length),
        fields: members.map(({ parts, at }) => ({
          at,
          values: valuesAt(parts.slice(length).join('.')),
        })),
      },
    ];
  });
}

/** The entries of the array; undefined where there is none, or it holds anything but documents. */
function entriesOf({ path }: SharedArray, doc: Doc): readonly Doc[] | undefined {
  let value: Value = doc;
  for (const name of path) {
    if (!(value instanceof Doc)) return undefined;
    value = value.get(name);
  }
  return Array.isArray(value) && value.length > 0 && value.every((entry) => entry instanceof Doc)
    ? value
    : undefined;
}

const ARRAY = 30;
const OBJECT = 25;
const STRING = 20;

/**
 * The key of a value in an index. Intl has no sort keys, so an index with a collation keeps of a
 * string what all strings equal to it share; which of them are equal is found out by comparing.
 */
function keyOf(index: IndexSpec, value: Value): Buffer {
  if (index.collation.simple) return encodeKey(value);
  if (rankOf(value) === STRING) return encodeKey(index.collation.fold(String(value)));
  // Whatever holds strings inside is only known to be an array or an object.
  if (rankOf(value) === ARRAY) return encodeKey([]);
  return encodeKey(rankOf(value) === OBJECT ? Doc.empty() : value);
}

/**
 * The keys under which everything equal to a value is, among other things; null when it could be
 * under any.
 */
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
  if (index.wildcard || (index.partial && !index.partial.test(doc)))
    return { keys: [], values: [], arrays: false };
  let arrays = false;
  let tuples: Value[][] = [[]];
  let present = false;
  const taken = (found: readonly Value[]): Value[] => {
    if (found.some((v) => v !== undefined)) present = true;
    if (found.length !== 1 || Array.isArray(found[0])) arrays = true;
    return found.length === 0 ? [null] : found.map((v) => (v === undefined ? null : v));
  };
  const entries = index.shared.map((shared) => entriesOf(shared, doc));
  index.fields.forEach((field, at) => {
    const group = index.shared.findIndex(
      (shared, n) => entries[n] !== undefined && shared.fields.some((member) => member.at === at),
    );
    if (group < 0) {
      const values = taken(field.values(doc));
      tuples = tuples.flatMap((tuple) => values.map((v) => withValues(tuple, [{ at }], [v])));
      return;
    }
    // All fields of the array at once, where the first of them stands.
    const { fields } = index.shared[group]!;
    if (fields[0]!.at !== at) return;
    if (entries[group]!.length !== 1) arrays = true;
    const alternatives = entries[group]!.flatMap((entry) =>
      fields.reduce<Value[][]>(
        (found, { values }) => {
          const own = taken(values(entry));
          return found.flatMap((tuple) => own.map((v) => [...tuple, v]));
        },
        [[]],
      ),
    );
    tuples = tuples.flatMap((tuple) =>
      alternatives.map((values) => withValues(tuple, fields, values)),
    );
  });
  if (index.sparse && !present) return { keys: [], values: [], arrays };
  const keys = new Map<string, { key: Buffer; tuple: Value[] }>();
  for (const tuple of tuples) {
    const key =
      tuple.length === 1
        ? keyOf(index, tuple[0])
        : Buffer.concat(tuple.map((v) => keyOf(index, v)));
    // With a collation one key may stand for several values, all of which a unique index must look
    // at.
    const name = key.toString('latin1');
    keys.set(index.collation.simple ? name : `${name} ${keys.size}`, { key, tuple });
  }
  return {
    keys: [...keys.values()].map((k) => k.key),
    values: [...keys.values()].map((k) => k.tuple),
    arrays,
  };
}

function withValues(
  tuple: readonly Value[],
  fields: readonly { readonly at: number }[],
  values: readonly Value[],
): Value[] {
  const next = [...tuple];
  fields.forEach(({ at }, n) => (next[at] = values[n]));
  return next;
}

/** Whether two documents have a value of the index in common, by its collation. */
export function shareValue(index: IndexSpec, tuple: readonly Value[], other: Doc): boolean {
  const { order } = index.collation;
  return keysOf(index, other).values.some((t) =>
    t.every((v, i) => compareValues(v, tuple[i], order) === 0),
  );
}
