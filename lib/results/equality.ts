import { isValueDocument, type Value } from './value';

/** Non-integers are equal within this relative distance; integers exactly (DESIGN §7). */
export const RELATIVE_TOLERANCE = 1e-9;

/** Typed equality: text never equals a number; numbers compare numerically; documents by key order. */
export function equalWithin(a: Value, b: Value): boolean {
  if (isNumber(a) && isNumber(b)) return equalNumbers(a, b);
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((value, at) => equalWithin(value, b[at]!));
  if (isValueDocument(a) && isValueDocument(b)) {
    const [left, right] = [Object.entries(a), Object.entries(b)];
    return left.length === right.length && left.every(([key, value], at) => right[at]![0] === key && equalWithin(value, right[at]![1]));
  }
  return valueKey(a) === valueKey(b);
}

const isNumber = (value: Value): value is bigint | number => typeof value === 'bigint' || typeof value === 'number';

function equalNumbers(a: bigint | number, b: bigint | number): boolean {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a === b;
  const [x, y] = [Number(a), Number(b)];
  if (x === y || (Number.isNaN(x) && Number.isNaN(y))) return true;
  if (!Number.isFinite(x) || !Number.isFinite(y)) return false;
  return Math.abs(x - y) <= RELATIVE_TOLERANCE * Math.max(Math.abs(x), Math.abs(y));
}

/**
 * A string that is the same for values that are equal at 9 significant digits. Two floats on either side of a rounding
 * boundary get different keys: callers pair what is left with `equalWithin`.
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
  return `{${Object.entries(value).map(([key, inner]) => lengthed(key) + lengthed(valueKey(inner))).join('')}}`;
}

const lengthed = (text: string): string => `${text.length}:${text}`;

/** Cells are length-prefixed, so that no value can imitate a boundary between cells. */
export const rowKey = (row: readonly Value[]): string => row.map((value) => lengthed(valueKey(value))).join('');

/** A total order for pairing rows: exact cells first, floats last, so that near-equal floats end up side by side. */
export function compareRows(a: readonly Value[], b: readonly Value[]): number {
  const isFloat = (value: Value | undefined): boolean => typeof value === 'number' && !Number.isInteger(value);
  const floats: number[] = [];
  for (let c = 0; c < a.length; c++) {
    const [x, y] = [a[c]!, b[c] ?? null];
    if (isFloat(x) || isFloat(y)) {
      if (isNumber(x) && isNumber(y)) {
        floats.push(c);
        continue;
      }
    }
    const [left, right] = [valueKey(x), valueKey(y)];
    if (left !== right) return left < right ? -1 : 1;
  }
  for (const c of floats) {
    const [x, y] = [Number(a[c]), Number(b[c])];
    if (x !== y && !equalNumbers(x, y)) return x < y ? -1 : 1;
  }
  return 0;
}
