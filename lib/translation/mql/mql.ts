import { Binary, Double, Long } from 'mongodb';

/**
 * An aggregation expression, a predicate or a stage: BSON values of the driver where the type
 * matters.
 */
export type Mql =
  | null
  | boolean
  | number
  | string
  | Date
  | RegExp
  | Long
  | Double
  | Binary
  | readonly Mql[]
  | MqlDocument;
export interface MqlDocument {
  readonly [key: string]: Mql;
}

export type Scalar = null | boolean | bigint | number | string | Uint8Array | Date;

/**
 * A constant as a query predicate takes it: integers that fit as numbers, integral reals as
 * doubles.
 */
export function bson(value: Scalar): Mql {
  if (typeof value === 'bigint') {
    return value >= -(2n ** 31n) && value < 2n ** 31n ? Number(value) : Long.fromBigInt(value);
  }
  if (typeof value === 'number') return Number.isInteger(value) ? new Double(value) : value;
  if (value instanceof Uint8Array) return new Binary(value);
  return value;
}

/** A constant as an expression takes it: a string that looks like a path is quoted. */
export function constant(value: Scalar): Mql {
  return typeof value === 'string' && value.startsWith('$') ? { $literal: value } : bson(value);
}

export const isDocument = (value: unknown): value is MqlDocument =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Date) &&
  !(value instanceof RegExp) &&
  !('_bsontype' in value);

/** `$and` without what is always true; `false` swallows the rest. */
export function and(...conditions: readonly Mql[]): Mql {
  const flat = conditions
    .flatMap((condition) => operands(condition, '$and'))
    .filter((condition) => condition !== true);
  if (flat.includes(false)) return false;
  const unique = distinct(flat);
  if (unique.length === 0) return true;
  return unique.length === 1 ? (unique[0] ?? true) : { $and: unique };
}

export function or(...conditions: readonly Mql[]): Mql {
  const flat = conditions
    .flatMap((condition) => operands(condition, '$or'))
    .filter((condition) => condition !== false);
  if (flat.includes(true)) return true;
  const unique = distinct(flat);
  if (unique.length === 0) return false;
  return unique.length === 1 ? (unique[0] ?? false) : { $or: unique };
}

export function not(condition: Mql): Mql {
  if (typeof condition === 'boolean') return !condition;
  return { $not: [condition] };
}

export function cond(test: Mql, then: Mql, otherwise: Mql): Mql {
  if (test === true) return then;
  if (test === false) return otherwise;
  return { $cond: [test, then, otherwise] };
}

function operands(condition: Mql, operator: '$and' | '$or'): readonly Mql[] {
  const inner = isDocument(condition) ? condition[operator] : undefined;
  return Array.isArray(inner) && Object.keys(condition as MqlDocument).length === 1
    ? (inner as readonly Mql[])
    : [condition];
}

function distinct(conditions: readonly Mql[]): readonly Mql[] {
  const seen = new Set<string>();
  return conditions.filter((condition) => {
    const key = fingerprint(condition);
    return !seen.has(key) && seen.add(key);
  });
}

/** Equal for equal values, key order included. */
export const fingerprint = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'bigint') return `${inner.toString()}n`;
    return inner instanceof RegExp ? `/${inner.source}/${inner.flags}` : inner;
  });

/** A path of the current document, as expressions write it. */
export const field = (path: string): string => `$${path}`;
