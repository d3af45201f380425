import type { ColumnProfile, ValueFormat } from '../../sqlite/profile/profile';

/** Storage classes as bits, so that the possible classes of an expression are one number. */
export const INTEGER = 1;
export const REAL = 2;
export const TEXT = 4;
export const BLOB = 8;
export const NUMBER = INTEGER | REAL;

/** What is known of an expression's values without running it. */
export interface ValueType {
  /** Bits of the storage classes that non-null values may have. */
  readonly kinds: number;
  /** May be null or missing. */
  readonly nullable: boolean;
  /** May be missing instead of null: the row has no partner in an outer join. */
  readonly missing: boolean;
  /** For numbers: bounds, where known. */
  readonly min?: number;
  readonly max?: number;
  /** For REAL: a whole number may be an int or a long. */
  readonly whole?: boolean;
  /** For text: formats that every value has. */
  readonly formats?: readonly ValueFormat[];
  /** For text that is all numbers: their bounds. */
  readonly numbers?: { readonly min: number; readonly max: number };
}

export const typeOf = (kinds: number, nullable = false): ValueType => ({
  kinds,
  nullable,
  missing: false,
});

export const nullable = (type: ValueType): ValueType => ({ ...type, nullable: true });
export const optional = (type: ValueType): ValueType => ({
  ...type,
  nullable: true,
  missing: true,
});

/** Only these classes can occur (nulls aside). */
export const onlyKinds = (type: ValueType, kinds: number): boolean => (type.kinds & ~kinds) === 0;
export const mayBe = (type: ValueType, kinds: number): boolean => (type.kinds & kinds) !== 0;

export const isNeverZero = (type: ValueType): boolean =>
  (type.min !== undefined && type.min > 0) || (type.max !== undefined && type.max < 0);
export const isNeverNegative = (type: ValueType): boolean =>
  type.min !== undefined && type.min >= 0;

/** A value that is one of two. */
export function unionType(a: ValueType, b: ValueType): ValueType {
  const both = {
    kinds: a.kinds | b.kinds,
    nullable: a.nullable || b.nullable,
    missing: a.missing || b.missing,
  };
  const whole = a.whole === true || b.whole === true ? { whole: true } : {};
  const bounds = [a, b].filter(({ kinds }) => kinds !== 0);
  const [mins, maxs] = [bounds.map(({ min }) => min), bounds.map(({ max }) => max)];
  return {
    ...both,
    ...whole,
    ...(mins.length > 0 && mins.every((min) => min !== undefined) && { min: Math.min(...mins) }),
    ...(maxs.length > 0 && maxs.every((max) => max !== undefined) && { max: Math.max(...maxs) }),
  };
}

export function columnType(profile: ColumnProfile | undefined): ValueType {
  if (!profile) return { kinds: NUMBER | TEXT | BLOB, nullable: true, missing: false };
  const { stored, min, max, formats, numbers } = profile;
  const kinds =
    (stored.integer > 0 ? INTEGER : 0) |
    (stored.real > 0 ? REAL : 0) |
    (stored.text > 0 ? TEXT : 0) |
    (stored.blob > 0 ? BLOB : 0);
  const number = (value: unknown): number | undefined =>
    typeof value === 'bigint' || typeof value === 'number' ? Number(value) : undefined;
  const low = number(min);
  // Text sorts above numbers, so that the maximum of a mixed column says nothing about its numbers.
  const high = (kinds & ~NUMBER) === 0 ? number(max) : undefined;
  return {
    kinds,
    nullable: stored.null > 0,
    missing: false,
    ...(low !== undefined && { min: low }),
    ...(high !== undefined && { max: high }),
    ...(kinds === TEXT && { formats }),
    ...(numbers && { numbers: { min: numbers.min, max: numbers.max } }),
  };
}
