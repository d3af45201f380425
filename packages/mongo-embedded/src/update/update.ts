import { Doc } from '../bson/doc';
import { badValue, failedToParse, ServerError, typeMismatch, unsupported } from '../errors';
import type { Scope } from '../expressions/expression';
import { parseFilter, refuseWholeDocument, type Filter } from '../query/match';
import { matchedPosition } from '../query/position';
import { parseSortPattern } from '../values/sort';
import { addNumbers, multiplyNumbers } from '../values/arithmetic';
import { compareUtf8, compareValues, equalValues } from '../values/compare';
import {
  isIntegral,
  DateTime,
  isNumeric,
  Regex,
  Timestamp,
  toDouble,
  typeName,
  type Value,
} from '../bson/value';

/** Applies an update to a document; `position` is where a positional `$` points, per array path. */
export type Update = (doc: Doc, inserting: boolean) => Doc;

type Change = (old: Value) => Value;
interface Operation {
  readonly path: readonly string[];
  readonly change: Change;
  readonly onlyInsert: boolean;
  /** Does not create the field or the path to it. */
  readonly existingOnly: boolean;
  /** Of `$rename`: where the value comes from. */
  readonly from?: readonly string[];
}

type OperatorBuilder = (operand: Value, scope: Scope, path: string) => Change;

const arrayOf = (old: Value, path: string, operator: string): Value[] => {
  if (old === undefined) return [];
  if (!Array.isArray(old))
    throw badValue(
      `The field '${path}' must be an array but is of type ${typeName(old)} (in ${operator})`,
    );
  return old;
};

const isWhole = (v: Value): boolean =>
  typeof v === 'bigint' || (typeof v === 'number' && (v | 0) === v);

const arithmetic =
  (
    operator: string,
    combine: (a: Value & object, b: Value & object) => Value,
    missing: (operand: Value) => Value,
  ): OperatorBuilder =>
  (operand, _scope, path) => {
    if (!isNumeric(operand))
      throw typeMismatch(
        `Cannot ${operator} with non-numeric argument: {${path}: ${typeName(operand)}}`,
      );
    return (old) => {
      if (old === undefined) return missing(operand);
      if (!isNumeric(old))
        throw typeMismatch(
          `Cannot apply ${operator} to a value of non-numeric type. The field '${path}' is of ` +
            `type ${typeName(old)}`,
        );
      const result = combine(old as never, operand as never);
      // Integers never become doubles here: what does not fit a long is an error.
      if (isWhole(old) && isWhole(operand) && !isWhole(result))
        throw badValue(
          `Failed to apply ${operator} operations to current value (${String(old)}) of '${path}'`,
        );
      return result;
    };
  };

const operators: Record<string, { build: OperatorBuilder; existingOnly?: boolean }> = {
  $set: { build: (operand) => () => operand },
  $setOnInsert: { build: (operand) => () => operand },
  $unset: { build: () => () => undefined, existingOnly: true },
  $inc: {
    build: arithmetic(
      '$inc',
      (a, b) => addNumbers(a as never, b as never),
      (v) => v,
    ),
  },
  $mul: {
    build: arithmetic(
      '$mul',
      (a, b) => multiplyNumbers(a as never, b as never),
      (v) => multiplyNumbers(0, v as never),
    ),
  },
  $min: {
    build: (operand) => (old) =>
      old === undefined || compareValues(operand, old) < 0 ? operand : old,
  },
  $max: {
    build: (operand) => (old) =>
      old === undefined || compareValues(operand, old) > 0 ? operand : old,
  },
  $currentDate: {
    build: (operand) => {
      const named = operand instanceof Doc ? operand.get('$type') : undefined;
      const type = typeof operand === 'boolean' ? 'date' : named;
      if (type === 'date') return () => new DateTime(Date.now());
      if (type === 'timestamp') return () => new Timestamp(Math.floor(Date.now() / 1000), 1);
      throw badValue("The '$type' string field is required to be 'date' or 'timestamp'");
    },
  },
  $push: { build: buildPush },
  $addToSet: {
    build: (operand, _scope, path) => {
      const each =
        operand instanceof Doc && operand.has('$each') ? operand.get('$each') : [operand];
      if (!Array.isArray(each))
        throw typeMismatch('The argument to $each in $addToSet must be an array');
      return (old) => {
        const out = [...arrayOf(old, path, '$addToSet')];
        for (const v of each) if (!out.some((o) => equalValues(o, v))) out.push(v);
        return out;
      };
    },
  },
  $pop: {
    existingOnly: true,
    build: (operand, _scope, path) => {
      if (!isNumeric(operand) || Math.abs(toDouble(operand)) !== 1)
        throw failedToParse(`$pop expects 1 or -1, found: ${String(operand)}`);
      return (old) => {
        if (old === undefined) return old;
        if (!Array.isArray(old))
          throw typeMismatch(
            `Path '${path}' contains an element of non-array type '${typeName(old)}'`,
          );
        return toDouble(operand) === 1 ? old.slice(0, -1) : old.slice(1);
      };
    },
  },
  $pull: {
    existingOnly: true,
    build: (operand, scope, path) => {
      const matches = pullCondition(operand, scope);
      return (old) =>
        old === undefined ? old : arrayOf(old, path, '$pull').filter((v) => !matches(v));
    },
  },
  $pullAll: {
    existingOnly: true,
    build: (operand, _scope, path) => {
      if (!Array.isArray(operand)) throw badValue('$pullAll requires an array argument');
      return (old) =>
        old === undefined
          ? old
          : arrayOf(old, path, '$pullAll').filter((v) => !operand.some((o) => equalValues(o, v)));
    },
  },
  $bit: {
    build: (operand, _scope, path) => {
      if (!(operand instanceof Doc))
        throw badValue('The $bit modifier is not compatible with this argument');
      return (old) =>
        operand.keys.reduce<Value>(
          (v, name, i) => bitwise(name, v ?? 0, operand.values[i], path),
          old,
        );
    },
  },
};

function bitwise(name: string, old: Value, operand: Value, path: string): Value {
  const whole = (v: Value): bigint => {
    if (typeof v === 'bigint') return v;
    if (typeof v === 'number' && (v | 0) === v) return BigInt(v);
    throw badValue(`Cannot apply $bit to a value of non-integral type at '${path}'`);
  };
  const [a, b] = [whole(old), whole(operand)];
  let result: bigint;
  if (name === 'and') result = a & b;
  else if (name === 'or') result = a | b;
  else if (name === 'xor') result = a ^ b;
  else throw badValue(`The $bit modifier only supports 'and', 'or', and 'xor', not '${name}'`);
  return typeof old === 'bigint' || typeof operand === 'bigint'
    ? BigInt.asIntN(64, result)
    : Number(BigInt.asIntN(32, result));
}

function buildPush(operand: Value, scope: Scope, path: string): Change {
  const modified = operand instanceof Doc && operand.has('$each');
  if (!modified) return (old) => [...arrayOf(old, path, '$push'), operand];
  for (const key of operand.keys)
    if (!['$each', '$slice', '$sort', '$position'].includes(key))
      throw badValue(`Unrecognized clause in $push: ${key}`);
  const each = operand.get('$each');
  if (!Array.isArray(each)) throw badValue('The argument to $each in $push must be an array');
  const position = operand.get('$position');
  const slice = operand.get('$slice');
  if (position !== undefined && !isIntegral(position))
    throw badValue('The value for $position must be an integer value');
  if (slice !== undefined && !isIntegral(slice))
    throw badValue('The value for $slice must be an integer value');
  const sort = pushSort(operand.get('$sort'), scope);
  return (old) => {
    const out = [...arrayOf(old, path, '$push')];
    const offset = position === undefined ? out.length : Number(position);
    out.splice(offset < 0 ? Math.max(0, out.length + offset) : offset, 0, ...each);
    const sorted = sort(out);
    if (slice === undefined) return sorted;
    const n = Number(slice);
    return n < 0 ? sorted.slice(n) : sorted.slice(0, n);
  };
}
function pushSort(spec: Value, scope: Scope): (items: Value[]) => Value[] {
  if (spec === undefined) return (items) => items;
  if (isNumeric(spec)) {
    const sign = toDouble(spec);
    if (Math.abs(sign) !== 1) throw badValue('The $sort element value must be either 1 or -1');
    return (items) => [...items].sort((a, b) => sign * compareValues(a, b));
  }
  const pattern = parseSortPattern(spec, scope.environment.collation);
  return (items) => {
    const keyed = items.map((item) => ({
      item,
      key: pattern.keyOf(item instanceof Doc ? item : Doc.empty()),
    }));
    return keyed.sort((a, b) => pattern.compareKeys(a.key, b.key)).map((k) => k.item);
  };
}

/** What a filter of a part of an update may not use. */
const notHere = (operator: string): ServerError =>
  new ServerError(224, `${operator} is not allowed in this context`);

function pullCondition(operand: Value, scope: Scope): (v: Value) => boolean {
  if (operand instanceof Doc) {
    refuseWholeDocument(operand, notHere);
    if (operand.keys[0]?.startsWith('$')) {
      const filter = parseFilter(Doc.of({ v: operand }), scope);
      return (v) => filter.test(Doc.of({ v }));
    }
    const filter = parseFilter(operand, scope);
    return (v) => v instanceof Doc && filter.test(v);
  }
  if (operand instanceof Regex) {
    const filter = parseFilter(Doc.of({ v: operand }), scope);
    return (v) => filter.test(Doc.of({ v }));
  }
  return (v) => equalValues(v, operand);
}

export const updateOperatorNames = [...Object.keys(operators), '$rename'];

/** Parses an update document that consists of operators. */
export function parseUpdate(
  spec: Doc,
  scope: Scope,
  arrayFilters: Value,
  query: Filter | null,
): Update {
  const operations: Operation[] = [];
  const filters = parseArrayFilters(arrayFilters, scope);
  const touched: string[] = [];
  const claim = (path: string): void => {
    for (const other of touched) {
      if (other === path || other.startsWith(`${path}.`) || path.startsWith(`${other}.`)) {
        throw new ServerError(
          40,
          `Updating the path '${path}' would create a conflict at ` +
            `'${other.length < path.length ? other : path}'`,
        );
      }
    }
    touched.push(path);
  };
  spec.keys.forEach((name, i) => {
    const operand = spec.values[i];
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    if (!operator && name !== '$rename')
      throw name.startsWith('$')
        ? unsupported(`Unknown modifier: ${name}. It`, 9)
        : failedToParse(
            `Unknown modifier: ${name}. Expected a valid update modifier or pipeline-style ` +
              'update specified as an array',
          );
    if (!(operand instanceof Doc))
      throw failedToParse(
        `Modifiers operate on fields but we found type ${typeName(operand)} instead. For ` +
          `example: {$mod: {<field>: ...}} not {${name}: …}`,
      );
    operand.keys.forEach((path, j) => {
      const parts = checkPath(path);
      const value = operand.values[j];
      claim(path);
      if (operator) {
        operations.push({
          path: parts,
          change: operator.build(value, scope, path),
          onlyInsert: name === '$setOnInsert',
          existingOnly: operator.existingOnly ?? false,
        });
      } else {
        if (typeof value !== 'string')
          throw badValue(`The 'to' field for $rename must be a string: ${path}`);
        if (value === path)
          throw badValue(`The source and target field for $rename must differ: ${path}`);
        claim(value);
        operations.push({
          path: checkPath(value),
          change: (old) => old,
          onlyInsert: false,
          existingOnly: false,
          from: parts,
        });
      }
    });
  });
  checkFiltersUsed(filters, operations);
  // New fields appear in the order of their names, whatever the order in the update.
  operations.sort((a, b) => comparePaths(a.path, b.path));
  return (doc, inserting) => {
    let out = doc;
    for (const op of operations) {
      if (op.onlyInsert && !inserting) continue;
      if (op.from) out = rename(doc, out, op.from, op.path);
      else {
        const path = op.path.includes('$') ? positioned(op.path, doc, query) : op.path;
        out = change(out, path, 0, op.change, op.existingOnly, resolver(filters)) as Doc;
      }
    }
    return out;
  };
}

/** Lexicographic, but numbers as numbers. */
function comparePaths(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [x, y] = [a[i] as string, b[i] as string];
    if (x === y) continue;
    if (/^\d+$/.test(x) && /^\d+$/.test(y) && Number(x) !== Number(y)) return Number(x) - Number(y);
    return compareUtf8(x, y);
  }
  return a.length - b.length;
}

function checkFiltersUsed(
  filters: ReadonlyMap<string, Filter>,
  operations: readonly Operation[],
): void {
  for (const name of filters.keys()) {
    if (!operations.some((op) => op.path.includes(`$[${name}]`)))
      throw failedToParse(`The array filter for identifier '${name}' was not used in the update`);
  }
}

/** Moves a field; arrays on the way are an error, because their elements have no names. */
function rename(original: Doc, out: Doc, from: readonly string[], to: readonly string[]): Doc {
  refuseArrays(original, from, 'source');
  const value = readPath(original, from);
  if (value === undefined) return out;
  refuseArrays(original, to, 'destination');
  const resolve = resolver(new Map());
  const without = change(out, from, 0, () => undefined, true, resolve) as Doc;
  return change(without, to, 0, () => value, false, resolve) as Doc;
}
function refuseArrays(doc: Doc, path: readonly string[], which: string): void {
  for (let i = 1; i < path.length; i++) {
    if (Array.isArray(readPath(doc, path.slice(0, i))))
      throw badValue(
        `The ${which} field cannot be an array element, '${path.join('.')}' has an array field ` +
          `called '${path[i - 1] as string}'`,
      );
  }
}

function checkPath(path: string): string[] {
  const parts = path.split('.');
  if (parts[0] === '$')
    throw badValue(
      `Cannot have positional (i.e. '$') element in the first position in path '${path}'`,
    );
  if (parts[0]?.startsWith('$['))
    throw badValue(
      `Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in ` +
        `path '${path}'`,
    );
  if (parts.filter((p) => p === '$').length > 1)
    throw badValue(`Too many positional (i.e. '$') elements found in path '${path}'`);
  if (parts.some((p) => p === ''))
    throw new ServerError(
      56,
      `The update path '${path}' contains an empty field name, which is not allowed.`,
    );
  for (const part of parts) {
    if (
      part.startsWith('$') &&
      part !== '$' &&
      !/^\$\[\w*\]$/.test(part) &&
      !['$ref', '$id', '$db'].includes(part)
    ) {
      throw new ServerError(
        52,
        `The dollar ($) prefixed field '${part}' in '${path}' is not allowed in the context of ` +
          `an update's replacement document.`,
      );
    }
  }
  return parts;
}

function parseArrayFilters(spec: Value, scope: Scope): Map<string, Filter> {
  const out = new Map<string, Filter>();
  if (spec === undefined) return out;
  if (!Array.isArray(spec)) throw typeMismatch('arrayFilters must be an array');
  for (const item of spec) {
    if (!(item instanceof Doc)) throw typeMismatch('each array filter must be an object');
    refuseWholeDocument(item, notHere);
    const names = identifiers(item);
    if (names.size !== 1)
      throw failedToParse('Error parsing array filter: expected a single top-level field name');
    const name = [...names][0] as string;
    if (out.has(name))
      throw failedToParse(
        `Found multiple array filters with the same top-level field name ${name}`,
      );
    if (!/^[a-z][A-Za-z0-9]*$/.test(name))
      throw badValue(
        'Error parsing array filter :: caused by :: The top-level field name must be an ' +
          `alphanumeric string beginning with a lowercase letter, found '${name}'`,
      );
    out.set(name, parseFilter(item, scope));
  }
  return out;
}
function identifiers(filter: Doc): Set<string> {
  const out = new Set<string>();
  filter.keys.forEach((key, i) => {
    const value = filter.values[i];
    if (key.startsWith('$') && Array.isArray(value))
      for (const v of value)
        for (const name of v instanceof Doc ? identifiers(v) : []) out.add(name);
    else out.add(key.split('.')[0] as string);
  });
  return out;
}

/** Which elements of an array a positional part of a path means. */
type Resolve = (part: string, items: Value[]) => number[];
function resolver(filters: ReadonlyMap<string, Filter>): Resolve {
  return (part, items) => {
    if (part === '$[]') return items.map((_, i) => i);
    const name = part.slice(2, -1);
    const filter = filters.get(name);
    if (!filter) throw badValue(`No array filter found for identifier '${name}'`);
    return items.flatMap((item, i) => (filter.test(Doc.of({ [name]: item })) ? [i] : []));
  };
}

/** The path with the position in place of `$`. */
function positioned(path: readonly string[], doc: Doc, query: Filter | null): string[] {
  const position = query && matchedPosition(doc, query);
  if (position === null)
    throw badValue('The positional operator did not find the match needed from the query.');
  return path.map((part) => (part === '$' ? String(position) : part));
}

function readPath(doc: Doc, parts: readonly string[]): Value {
  let value: Value = doc;
  for (const part of parts) {
    if (value instanceof Doc) value = value.get(part);
    else if (Array.isArray(value) && /^\d+$/.test(part)) value = value[Number(part)];
    else return undefined;
  }
  return value;
}

const isPositional = (part: string): boolean => part.startsWith('$[');

function change(
  value: Value,
  path: readonly string[],
  i: number,
  apply: (old: Value) => Value,
  existingOnly: boolean,
  resolve: Resolve,
): Value {
  if (i === path.length) return apply(value);
  const part = path[i] as string;
  if (isPositional(part)) {
    if (!Array.isArray(value))
      throw badValue(
        `The path '${path.slice(0, i).join('.')}' must exist in the document in order to apply ` +
          'array updates.',
      );
    const out = [...value];
    for (const at of resolve(part, value))
      out[at] = change(out[at], path, i + 1, apply, existingOnly, resolve) ?? null;
    return out;
  }
  if (Array.isArray(value)) return changeElement(value, path, i, apply, existingOnly, resolve);
  if (!(value instanceof Doc)) {
    if (existingOnly) return value;
    throw new ServerError(
      28,
      `Cannot create field '${part}' in element {${path[i - 1] ?? ''}: ${typeName(value)}}`,
    );
  }
  const old = value.get(part);
  if (old === undefined && existingOnly) return value;
  const inner =
    old === undefined && i + 1 < path.length ? emptyFor(path[i + 1] as string, path, i) : old;
  const changed = change(inner, path, i + 1, apply, existingOnly, resolve);
  if (changed === old) return value;
  return value.copy().set(part, changed);
}
function emptyFor(next: string, path: readonly string[], i: number): Value {
  if (isPositional(next))
    throw badValue(
      `The path '${path.slice(0, i + 1).join('.')}' must exist in the document in order to apply ` +
        'array updates.',
    );
  return Doc.empty();
}

function changeElement(
  items: Value[],
  path: readonly string[],
  i: number,
  apply: (old: Value) => Value,
  existingOnly: boolean,
  resolve: Resolve,
): Value {
  const part = path[i] as string;
  if (!/^\d+$/.test(part)) {
    if (existingOnly) return items;
    throw new ServerError(
      28,
      `Cannot create field '${part}' in element {${path[i - 1] ?? ''}: array}`,
    );
  }
  const at = Number(part);
  if (at >= items.length) {
    if (existingOnly) return items;
    if (at > items.length + 1_500_000)
      throw new ServerError(34, `can't backfill array to larger than 1500000 elements`);
  }
  const out = [...items];
  while (out.length < at) out.push(null);
  const inner = at >= items.length && i + 1 < path.length ? Doc.empty() : out[at];
  // Unsetting an element leaves null in its place.
  out[at] = change(inner, path, i + 1, apply, existingOnly, resolve) ?? null;
  return out;
}

/**
 * The fields that an upsert takes from the query's equalities; a replacement takes nothing but
 * `_id`.
 */
export function upsertSeed(query: Doc, onlyId: boolean): Doc {
  const taken = new Map<string, Value>();
  const put = (path: string, value: Value): void => {
    if (onlyId && path !== '_id') return;
    if (taken.has(path)) {
      if (equalValues(taken.get(path), value)) return;
      throw new ServerError(
        54,
        `cannot infer query fields to set, path '${path}' is matched twice`,
      );
    }
    for (const other of taken.keys()) {
      if (other.startsWith(`${path}.`) || path.startsWith(`${other}.`))
        throw new ServerError(
          54,
          `cannot infer query fields to set, both paths '${other}' and '${path}' are matched`,
        );
    }
    taken.set(path, value);
  };
  const visit = (q: Doc): void =>
    q.keys.forEach((key, i) => {
      const value = q.values[i];
      if (key === '$and' && Array.isArray(value))
        for (const v of value) if (v instanceof Doc) visit(v);
      if (key === '$or' && Array.isArray(value) && value.length === 1 && value[0] instanceof Doc)
        visit(value[0]);
      if (key.startsWith('$')) return;
      if (value instanceof Doc && value.keys[0]?.startsWith('$')) {
        if (value.has('$eq')) put(key, value.get('$eq'));
        const all = value.get('$all');
        for (const v of Array.isArray(all) ? all : [])
          if (!(v instanceof Regex) && !(v instanceof Doc && v.keys[0] === '$elemMatch'))
            put(key, v);
        if (
          value.has('$in') &&
          Array.isArray(value.get('$in')) &&
          (value.get('$in') as Value[]).length === 1
        )
          put(key, (value.get('$in') as Value[])[0]);
      } else if (!(value instanceof Regex)) put(key, value);
    });
  visit(query);
  // The server keeps them in a sorted map, which shows in the order of the new document's fields.
  const sorted = [...taken].sort(([a], [b]) => compareUtf8(a, b));
  return sorted.reduce(
    (doc, [path, value]) =>
      change(
        doc,
        path.split('.'),
        0,
        () => value,
        false,
        () => [],
      ) as Doc,
    Doc.empty(),
  );
}
