import { isValueDocument, type Value } from './value';

/** Two floating-point numbers are equal within this relative distance (DESIGN §7). */
export const RELATIVE_TOLERANCE = 1e-9;

/**
 * Typed equality: text never equals a number; two floating-point numbers are equal within the
 * tolerance, an integer and any other number only where they are exactly the same number; documents
 * compare in key order.
 */
export function equalWithin(a: Value, b: Value): boolean {
  if (isNumber(a) && isNumber(b)) return equalNumbers(a, b);
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((value, index) => equalWithin(value, b[index]!));
  if (isValueDocument(a) && isValueDocument(b)) {
    const [left, right] = [Object.entries(a), Object.entries(b)];
    return (
      left.length === right.length &&
      left.every(
        ([key, value], index) => right[index]![0] === key && equalWithin(value, right[index]![1]),
      )
    );
  }
  return valueKey(a) === valueKey(b);
}

const isNumber = (value: Value): value is bigint | number =>
  typeof value === 'bigint' || typeof value === 'number';

function equalNumbers(a: bigint | number, b: bigint | number): boolean {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? a === b : isExactly(b, a);
  if (typeof b === 'bigint') return isExactly(a, b);
  if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return true;
  if (!Number.isFinite(a) || !Number.isFinite(b)) return false;
  return Math.abs(a - b) <= RELATIVE_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

const isExactly = (double: number, integer: bigint): boolean =>
  Number.isInteger(double) && BigInt(double) === integer;

/** The same value of the same type: 5 and 5.0 differ, and so do floats whose bits do. */
export function isIdentical(a: Value, b: Value): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value, index) => isIdentical(value, b[index]!));
  }
  if (isValueDocument(a) && isValueDocument(b)) {
    const [left, right] = [Object.entries(a), Object.entries(b)];
    return (
      isIdentical(
        left.map(([key]) => key),
        right.map(([key]) => key),
      ) &&
      isIdentical(
        left.map(([, value]) => value),
        right.map(([, value]) => value),
      )
    );
  }
  if (typeof a === 'object' && typeof b === 'object') return valueKey(a) === valueKey(b);
  return Object.is(a, b);
}

/**
 * A string that is the same for values that are equal at 9 significant digits. Two floats on either
 * side of a rounding boundary get different keys: callers pair what is left with `equalWithin`.
 */
export function valueKey(value: Value): string {
  if (value === null) return '∅';
  switch (typeof value) {
    case 'boolean':
      return value ? 'b1' : 'b0';
    case 'bigint':
      return `n${value}`;
    case 'number':
      if (Number.isInteger(value) && Math.abs(value) < 1e21) return `n${BigInt(value)}`;
      return Number.isFinite(value) ? `f${value.toPrecision(9)}` : `f${value}`;
    case 'string':
      return `s${value}`;
    default:
  }
  if (value instanceof Date) return `d${value.getTime()}`;
  if (value instanceof Uint8Array) return `x${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) return `[${value.map((inner) => lengthed(valueKey(inner))).join('')}]`;
  return `{${Object.entries(value)
    .map(([key, inner]) => lengthed(key) + lengthed(valueKey(inner)))
    .join('')}}`;
}

const lengthed = (text: string): string => `${text.length}:${text}`;

/** Cells are length-prefixed, so that no value can imitate a boundary between cells. */
export const rowKey = (row: readonly Value[]): string =>
  row.map((value) => lengthed(valueKey(value))).join('');

/**
 * An order for pairing rows: columns without floating-point numbers first, the others by value, so
 * that rows that are equal within the tolerance end up side by side. `rows` are all that take part,
 * of both sides.
 */
export function pairingOrder(rows: readonly (readonly Value[])[]): RowOrder {
  const width = rows[0]?.length ?? 0;
  const columns = Array.from({ length: width }, (_, column) => column);
  const hasFloats = (column: number): boolean =>
    rows.some((row) => typeof row[column] === 'number');
  const floats = columns.filter(hasFloats);
  const exact = columns.filter((column) => !hasFloats(column));
  return (a, b) => {
    for (const column of exact) {
      const [left, right] = [valueKey(a[column] ?? null), valueKey(b[column] ?? null)];
      if (left !== right) return left < right ? -1 : 1;
    }
    for (const column of floats) {
      const order = compareFloats(a[column] ?? null, b[column] ?? null);
      if (order !== 0) return order;
    }
    return 0;
  };
}

export type RowOrder = (a: readonly Value[], b: readonly Value[]) => number;

/** Numbers by value, equal ones within the tolerance; numbers before what is no number. */
function compareFloats(a: Value, b: Value): number {
  if (equalWithin(a, b)) return 0;
  if (isNumber(a) && isNumber(b)) return a < b || Number.isNaN(b) ? -1 : 1;
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  return valueKey(a) < valueKey(b) ? -1 : 1;
}
