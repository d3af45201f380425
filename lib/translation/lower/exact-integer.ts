import type { Lowered } from './environment';
import { bound, computed, isIntegerValue } from './computed-value';
import { and, cond, constant, type Mql } from '../mql/mql';
import { INTEGER, mayBe, onlyKinds, REAL, type ValueType } from './value-type';

/**
 * SQLite computes integers in 64 bits and goes over to REAL where they do not fit; so do `$add`,
 * `$subtract` and `$multiply`. A double has 53 bits: whatever goes through one is exact only below
 * that.
 */
const DOUBLE_INTEGERS = 2 ** 53;
/** Half of what a long holds: bounds are doubles, and may be rounded towards zero. */
const SAFE_LONGS = 2 ** 62;

/** No result has more rows: what bounds a count, and with it a sum. */
export const MOST_ROWS = 2 ** 40;

type Bounds = Pick<ValueType, 'min' | 'max'>;

const within = ({ min, max }: Bounds, limit: number): boolean =>
  min !== undefined && max !== undefined && min > -limit && max < limit;

/** Every integer among the values is exactly a double. */
export const fitsDouble = (type: Bounds): boolean => within(type, DOUBLE_INTEGERS);
export const fitsLong = (type: Bounds): boolean => within(type, SAFE_LONGS);

const bounds = (min: number | undefined, max: number | undefined): Bounds => ({
  ...(min !== undefined && !Number.isNaN(min) && { min }),
  ...(max !== undefined && !Number.isNaN(max) && { max }),
});

const plus = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a + b;
const minus = (a: number | undefined, b: number | undefined): number | undefined =>
  plus(a, b === undefined ? undefined : -b);

export const sumBounds = (a: Bounds, b: Bounds): Bounds =>
  bounds(plus(a.min, b.min), plus(a.max, b.max));
export const differenceBounds = (a: Bounds, b: Bounds): Bounds =>
  bounds(minus(a.min, b.max), minus(a.max, b.min));

export function productBounds(a: Bounds, b: Bounds): Bounds {
  const corners = [a.min, a.max].flatMap((x) =>
    [b.min, b.max].map((y) => (x === undefined || y === undefined ? undefined : x * y)),
  );
  if (corners.every((corner) => corner !== undefined))
    return bounds(Math.min(...corners), Math.max(...corners));
  // Without upper bounds at least the sign is known.
  return a.min !== undefined && b.min !== undefined && a.min >= 0 && b.min >= 0
    ? { min: a.min * b.min }
    : {};
}

/** Divided by an integer other than 0, a value comes no further from 0. */
export function quotientBounds({ min, max }: Bounds, divisor: ValueType): Bounds {
  if (min === undefined || max === undefined || !onlyKinds(divisor, INTEGER)) return {};
  const [least, most] = [Math.min(min, 0), Math.max(max, 0)];
  if (divisor.min !== undefined && divisor.min > 0) return bounds(least, most);
  const distance = Math.max(-least, most);
  return bounds(-distance, distance);
}

/** Of a sum of at most so many values. */
export const totalBounds = ({ min, max }: Bounds, rows: number): Bounds =>
  bounds(
    min === undefined ? undefined : Math.min(0, min) * rows,
    max === undefined ? undefined : Math.max(0, max) * rows,
  );

/**
 * What the sum, difference or product of two numbers can be: integers that do not fit become REAL.
 */
export function resultKinds(a: ValueType, b: ValueType, result: Bounds): number {
  if (a.kinds === REAL || b.kinds === REAL) return REAL;
  const kinds = a.kinds | b.kinds;
  return mayBe(a, INTEGER) && mayBe(b, INTEGER) && !fitsLong(result) ? kinds | REAL : kinds;
}

/**
 * The operands of arithmetic that SQLite does in floating point, where MongoDB might do it in
 * integers.
 */
export function asFloats(a: Lowered, b: Lowered, result: Bounds): readonly [Mql, Mql] {
  const isReal = a.type.kinds === REAL || b.type.kinds === REAL;
  const mayBeStoredWhole = [a, b].every(({ type }) => type.kinds !== REAL || type.whole === true);
  if (!isReal || !mayBeStoredWhole || fitsDouble(result)) return [a.mql, b.mql];
  return a.type.kinds === REAL ? [toDouble(a), b.mql] : [a.mql, toDouble(b)];
}

/**
 * Integers as REAL. Numbers of MongoDB compare by value: only those that are no doubles have to
 * change.
 */
export function integerAsReal(value: Lowered): Lowered {
  const { type } = value;
  const real = { ...type, kinds: REAL };
  if (!mayBe(type, INTEGER)) return value;
  if (!fitsDouble(type)) return computed(toDouble(value), real);
  const { path, presence } = value;
  return {
    ...computed(value.mql, { ...real, whole: true }),
    ...(path !== undefined && { path }),
    ...(presence !== undefined && { presence }),
  };
}

const toDouble = ({ mql, constant: known }: Pick<Lowered, 'mql' | 'constant'>): Mql =>
  typeof known?.value === 'bigint' ? constant(Number(known.value)) : { $toDouble: mql };

/**
 * `a / b` of two integers, `b` not being 0: through a double where that is exact, else through a
 * decimal.
 */
export function integerQuotient(a: Lowered, b: Lowered): Mql {
  if (fitsDouble(a.type)) return { $trunc: { $divide: [a.mql, b.mql] } };
  // 34 digits are enough for 19: the quotient is never rounded up to the next integer.
  const quotient: Mql = { $trunc: { $divide: [{ $toDecimal: a.mql }, b.mql] } };
  // The least integer divided by -1 is the only quotient that does not fit.
  const fits =
    (a.type.min !== undefined && a.type.min > -SAFE_LONGS) ||
    (b.type.min !== undefined && b.type.min >= 0);
  return fits
    ? { $toLong: quotient }
    : { $convert: { input: quotient, to: 'long', onError: constant(2 ** 63) } };
}

/** `a / b` where only the values show whether both are integers. */
export function mixedQuotient(a: Lowered, b: Lowered): Mql {
  const unsure = [a, b]
    .filter(({ type }) => mayBe(type, REAL))
    .map(({ mql }) => isIntegerValue(mql));
  const real: Mql = { $divide: [a.mql, b.mql] };
  const whole: Mql = fitsDouble(a.type) ? { $toLong: real } : integerQuotient(a, b);
  return cond(and(...unsure), whole, real);
}

/** CAST of numbers to INTEGER: what is too large becomes the largest integer. */
export function truncated({ mql, type }: Lowered): Mql {
  const { min, max } = type;
  const isKnownLarge =
    (min !== undefined && min <= -SAFE_LONGS) || (max !== undefined && max >= SAFE_LONGS);
  if (!isKnownLarge) return { $toLong: mql };
  return bound(mql, (number) => {
    const extreme = cond({ $lt: [number, 0] }, constant(-(2n ** 63n)), constant(2n ** 63n - 1n));
    return { $convert: { input: number, to: 'long', onError: extreme, onNull: null } };
  });
}

/** Integers of SQLite; what is larger is REAL. */
export const integerOrReal = (value: bigint): bigint | number =>
  value >= -(2n ** 63n) && value < 2n ** 63n ? value : Number(value);

export const clampedInteger = (value: bigint): bigint => {
  const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n];
  if (value < least) return least;
  return value > most ? most : value;
};
