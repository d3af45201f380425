import { Doc } from '../bson/doc';
import { eitherPast } from '../bson/past';
import { ServerError } from '../errors';
import { parseExpression, RANDOM, redactMarkers, type Evaluate } from '../expressions/expression';
import { parseFilter } from '../query/match';
import { parseAddFields, parseProjection, parseUnset } from '../query/projection';
import { parseSortPattern, TopItems, type SortPattern } from '../values/sort';
import { compareValues } from '../values/compare';
import { fieldName, splitPath } from '../values/path';
import { isNumeric, toDouble, typeName, type Value } from '../bson/value';
import {
  blocking,
  drain,
  fromArray,
  mapping,
  type Next,
  type Stage,
  type StageBuilder,
} from './stage';

const match: StageBuilder = (operand, { scope }, name) => {
  const filter = parseFilter(operand, scope);
  const { checkpoint } = scope.environment;
  const { test } = filter;
  let n = 0;
  return {
    name,
    filter,
    open: (input) => () => {
      for (;;) {
        const doc = input();
        if (doc === null || test(doc)) return doc;
        if ((++n & 1023) === 0) checkpoint();
      }
    },
  };
};

const project: StageBuilder = (operand, { scope }, name) =>
  mapping(name, parseProjection(operand, scope));
const addFields: StageBuilder = (operand, { scope }, name) =>
  mapping(name, parseAddFields(operand, scope, name));

const unset: StageBuilder = (operand, _context, name) => {
  const paths = Array.isArray(operand) ? operand : [operand];
  if (paths.length === 0)
    throw new ServerError(
      31119,
      '$unset specification must be a string or an array with at least one field',
    );
  if (!paths.every((p) => typeof p === 'string'))
    throw new ServerError(
      31120,
      '$unset specification must be a string or an array containing only string values',
    );
  return mapping(name, parseUnset(paths));
};

const sort: StageBuilder = (operand, { scope }, name) => {
  const pattern = parseSortPattern(operand, scope.environment.collation);
  const { checkpoint } = scope.environment;
  const all = blocking(name, (input) => {
    const docs: Doc[] = [];
    const columns: Value[][] = pattern.parts.map(() => []);
    for (let doc = input(); doc !== null; doc = input()) {
      docs.push(doc);
      const key = pattern.keyOf(doc);
      for (let i = 0; i < key.length; i++) (columns[i] as Value[]).push(key[i]);
      if ((docs.length & 1023) === 0) checkpoint();
    }
    const order = sortedOrder(docs.length, columns, pattern);
    let i = 0;
    return () => (i < order.length ? (docs[order[i++] as number] as Doc) : null);
  });
  const openBounded = (input: Next, n: number): Next =>
    blocking(name, (source) => {
      const top = new TopItems<Doc>(n, pattern);
      let seen = 0;
      for (let doc = source(); doc !== null; doc = source()) {
        if (!top.beyond(pattern.leadOf(doc))) top.add(doc, pattern.keyOf(doc));
        if ((++seen & 1023) === 0) checkpoint();
      }
      return fromArray(top.items());
    }).open(input);
  return { ...all, sort: pattern, openBounded } as Stage;
};

/**
 * The positions of rows in sort order. Columns that hold only numbers, the usual ones, are compared
 * as such.
 */
function sortedOrder(n: number, columns: readonly Value[][], pattern: SortPattern): Uint32Array {
  const order = new Uint32Array(n);
  for (let i = 0; i < n; i++) order[i] = i;
  const numbers = columns.map((column, i) =>
    ascendingNumbers(column, (pattern.parts[i] as Part).direction),
  );
  const [x, y] = numbers;
  // The position decides last: equal rows keep their order. (The difference of equal infinities is
  // NaN, which is falsy as 0 is.)
  if (x && columns.length === 1)
    return order.sort((a, b) => (x[a] as number) - (x[b] as number) || a - b);
  if (x && y && columns.length === 2)
    return order.sort(
      (a, b) => (x[a] as number) - (x[b] as number) || (y[a] as number) - (y[b] as number) || a - b,
    );
  const compare = columns.map(
    (column, i) => numbers[i] ?? { column, direction: (pattern.parts[i] as Part).direction },
  );
  return order.sort((a, b) => {
    for (const part of compare) {
      const c =
        part instanceof Float64Array
          ? (part[a] as number) - (part[b] as number)
          : part.direction * compareValues(part.column[a], part.column[b], pattern.order);
      if (c) return c;
    }
    return a - b;
  });
}
type Part = SortPattern['parts'][number];

/**
 * A column of nothing but numbers, turned around if it is to descend; null when there is something
 * else, or NaN.
 */
function ascendingNumbers(column: readonly Value[], direction: 1 | -1): Float64Array | null {
  const numbers = new Float64Array(column.length);
  for (let i = 0; i < column.length; i++) {
    const v = column[i];
    if (typeof v !== 'number' || v !== v) return null;
    numbers[i] = direction * v;
  }
  return numbers;
}

function wholeNumber(v: Value, name: string, least: number): number {
  if (!isNumeric(v))
    throw new ServerError(
      name === '$limit' ? 5107201 : 5107200,
      `invalid argument to ${name} stage: Expected a number in: ${name}: ${typeName(v)}`,
    );
  const n = toDouble(v);
  if (!Number.isInteger(n))
    throw new ServerError(
      name === '$limit' ? 5107201 : 5107200,
      `invalid argument to ${name} stage: Expected an integer: ${name}: ${n}`,
    );
  if (n < least)
    throw new ServerError(
      name === '$limit' ? 15958 : 5107200,
      name === '$limit'
        ? 'the limit must be positive'
        : `invalid argument to $skip stage: Expected a non-negative number in: $skip: ${n}`,
    );
  return n;
}

const limit: StageBuilder = (operand, _context, name) => {
  const n = wholeNumber(operand, name, 1);
  return {
    name,
    limit: n,
    open: (input) => {
      let left = n;
      return () => (left-- > 0 ? input() : null);
    },
  };
};

const skip: StageBuilder = (operand, _context, name) => {
  const n = wholeNumber(operand, name, 0);
  return {
    name,
    skip: n,
    open: (input) => {
      let left = n;
      return () => {
        for (; left > 0; left--) if (input() === null) return null;
        return input();
      };
    },
  };
};

interface Unwind {
  readonly parts: readonly string[];
  readonly preserve: boolean;
  readonly indexParts: readonly string[] | undefined;
}

function parseUnwind(operand: Value): Unwind {
  let path: Value = operand;
  let preserve = false;
  let indexName: string | undefined;
  if (operand instanceof Doc) {
    for (const [i, key] of operand.keys.entries()) {
      const value = operand.values[i];
      if (key === 'path') path = value;
      else if (key === 'preserveNullAndEmptyArrays') {
        if (typeof value !== 'boolean')
          throw new ServerError(
            28809,
            'expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage',
          );
        preserve = value;
      } else if (key === 'includeArrayIndex') {
        if (typeof value !== 'string' || value === '')
          throw new ServerError(
            28810,
            'expected a non-empty string for the includeArrayIndex option to $unwind stage',
          );
        if (value.startsWith('$'))
          throw new ServerError(
            28822,
            `includeArrayIndex option to $unwind stage should not be prefixed with a '$': ${value}`,
          );
        indexName = value;
      } else throw new ServerError(28811, `unrecognized option to $unwind stage: ${key}`);
    }
    if (!operand.has('path')) throw new ServerError(28812, 'no path specified to $unwind stage');
  }
  if (typeof path !== 'string')
    throw new ServerError(
      operand instanceof Doc ? 28808 : 15981,
      `expected a string as the path for $unwind stage, got ${typeName(path)}`,
    );
  if (!path.startsWith('$'))
    throw new ServerError(
      28818,
      `path option to $unwind stage should be prefixed with a '$': ${path}`,
    );
  const indexParts = indexName === undefined ? undefined : splitPath(indexName);
  return { parts: splitPath(path.slice(1)), preserve, indexParts };
}

/**
 * `$unwind`: one document for each element; null, missing and empty give none unless they are
 * preserved.
 */
const unwind: StageBuilder = (operand, _context, name) => {
  const { parts, preserve, indexParts } = parseUnwind(operand);
  const emit = (doc: Doc, value: Value, index: bigint | null): Doc => {
    const unwound = setPath(doc, parts, value);
    const out = indexParts ? setPath(unwound, indexParts, index) : unwound;
    // Together with the $lookup before it, it may be run by either engine.
    return doc.past?.bson === 'maybe' ? out.from(eitherPast) : out;
  };
  return {
    name,
    open: (input) => {
      let doc: Doc | null = null;
      let items: Value[] = [];
      let i = 0;
      return () => {
        for (;;) {
          if (doc !== null && i < items.length) {
            const item = items[i];
            return emit(doc, item, BigInt(i++));
          }
          doc = input();
          if (doc === null) return null;
          const value = nested(doc, parts);
          if (Array.isArray(value)) {
            items = value;
            i = 0;
            if (items.length > 0 || !preserve) continue;
            const bare = emit(doc, undefined, null);
            doc = null;
            return bare;
          }
          const whole = doc;
          doc = null;
          if (value === null || value === undefined) {
            if (preserve) return indexParts ? setPath(whole, indexParts, null) : whole;
          } else return indexParts ? setPath(whole, indexParts, null) : whole;
        }
      };
    },
  };
};

/** The value at a path of documents only: no array is traversed. */
export function nested(doc: Doc, parts: readonly string[]): Value {
  let value: Value = doc;
  for (const part of parts) {
    if (!(value instanceof Doc)) return undefined;
    value = value.read(fieldName(part));
  }
  return value;
}

/** A copy with the value at a path replaced; documents on the way are made where there are none. */
export function setPath(doc: Doc, [name, ...rest]: readonly string[], value: Value): Doc {
  if (rest.length === 0) return Doc.over(doc, [name as string], [value]);
  const inner = doc.get(name as string);
  if (value === undefined && !(inner instanceof Doc)) return doc;
  return Doc.over(
    doc,
    [name as string],
    [setPath(inner instanceof Doc ? inner : Doc.empty(), rest, value)],
  );
}

function replacing(evaluate: Evaluate, name: string): Stage {
  return mapping(name, (doc) => {
    const root = evaluate(doc);
    if (!(root instanceof Doc)) {
      throw new ServerError(
        40228,
        `'newRoot' expression must evaluate to an object, but resulting value was of type: ` +
          `${typeName(root)}`,
      );
    }
    return root;
  });
}

const count: StageBuilder = (operand, { scope }, name) => {
  if (typeof operand !== 'string')
    throw new ServerError(40156, 'the count field must be a non-empty string');
  if (operand === '') throw new ServerError(40157, 'the count field must be a non-empty string');
  if (operand.startsWith('$'))
    throw new ServerError(40158, 'the count field cannot be a $-prefixed path');
  if (operand.includes('.')) throw new ServerError(40160, "the count field cannot contain '.'");
  return blocking(name, (input) => {
    let n = 0;
    while (input() !== null) if ((++n & 1023) === 0) scope.environment.checkpoint();
    return fromArray(n === 0 ? [] : [new Doc([operand], [n])]);
  });
};

const sample: StageBuilder = (operand, { scope }, name) => {
  if (!(operand instanceof Doc))
    throw new ServerError(28745, 'the $sample stage specification must be an object');
  for (const key of operand.keys)
    if (key !== 'size') throw new ServerError(28748, `unrecognized option to $sample: ${key}`);
  const size = operand.get('size');
  if (!isNumeric(size)) throw new ServerError(28746, 'size argument to $sample must be a number');
  const n = Math.trunc(toDouble(size));
  if (n <= 0) throw new ServerError(28747, 'size argument to $sample must be a positive integer');
  scope.environment.touch(RANDOM);
  return blocking(name, (input) => {
    const docs = drain(input, scope.environment.checkpoint);
    for (let i = 0; i < Math.min(n, docs.length); i++) {
      const j = i + Math.floor(Math.random() * (docs.length - i));
      [docs[i], docs[j]] = [docs[j] as Doc, docs[i] as Doc];
    }
    return fromArray(docs.slice(0, n));
  });
};

const redact: StageBuilder = (operand, { scope }, name) => {
  const slot = scope.environment.newSlot();
  const { evaluate } = parseExpression(operand, scope.withRoot(slot));
  const { frame } = scope.environment;
  const visit = (doc: Doc): Doc | null => {
    const decision = evaluate(doc);
    if (decision === redactMarkers.KEEP) return doc;
    if (decision === redactMarkers.PRUNE) return null;
    if (decision !== redactMarkers.DESCEND)
      throw new ServerError(17053, '$redact must be one of $$DESCEND, $$PRUNE, or $$KEEP');
    const out = Doc.empty().copy();
    doc.keys.forEach((key, i) => out.append(key, inside(doc.values[i])));
    return out;
  };
  const inside = (value: Value): Value => {
    if (value instanceof Doc) return visit(value) ?? undefined;
    if (Array.isArray(value)) return value.map(inside).filter((v) => v !== undefined);
    return value;
  };
  return mapping(name, (doc) => {
    frame[slot] = doc;
    return visit(doc);
  });
};

/** The documents of `$documents`: an expression that needs no input. */
const documents: StageBuilder = (operand, { scope }, name) => {
  const { evaluate } = parseExpression(operand, scope);
  return {
    name,
    generates: 'alone',
    open: () => {
      let output: Next | undefined;
      return () => (output ??= fromArray(documentList(evaluate(Doc.empty()))))();
    },
  };
};
function documentList(v: Value): Doc[] {
  if (!Array.isArray(v))
    throw new ServerError(5858203, 'an array is expected as the argument of $documents');
  return v.map((item) => {
    if (!(item instanceof Doc))
      throw new ServerError(
        40228,
        `'newRoot' expression must evaluate to an object, but resulting value was of type: ` +
          `${typeName(item)}`,
      );
    return item;
  });
}

export const basicStages: Record<string, StageBuilder> = {
  $match: match,
  $project: project,
  $addFields: addFields,
  $set: addFields,
  $unset: unset,
  $sort: sort,
  $limit: limit,
  $skip: skip,
  $unwind: unwind,
  $replaceRoot: (operand, { scope }, name) => {
    if (!(operand instanceof Doc))
      throw new ServerError(
        40229,
        `expected an object as specification for ${name} stage, got ${typeName(operand)}`,
      );
    for (const key of operand.keys)
      if (key !== 'newRoot')
        throw new ServerError(40415, `BSON field '${name}.${key}' is an unknown field.`);
    if (!operand.has('newRoot'))
      throw new ServerError(40414, `BSON field '${name}.newRoot' is missing but a required field`);
    return replacing(parseExpression(operand.get('newRoot'), scope).evaluate, name);
  },
  $replaceWith: (operand, { scope }, name) =>
    replacing(parseExpression(operand, scope).evaluate, name),
  $count: count,
  $sample: sample,
  $redact: redact,
  $documents: documents,
};
