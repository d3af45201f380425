import { ServerError } from '../errors';
import { Decimal } from '../bson/decimal';
import {
  DateTime,
  Double,
  double,
  isNullish,
  isNumeric,
  toDouble,
  typeName,
  type Numeric,
  type Value,
} from '../bson/value';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
export const fitsInt64 = (n: bigint): boolean => n >= INT64_MIN && n <= INT64_MAX;

/** How wide a numeric type is; the wider one decides a result's type. */
function widthOf(v: Numeric): 0 | 1 | 2 | 3 {
  if (typeof v === 'number') return (v | 0) === v ? 0 : 2;
  if (typeof v === 'bigint') return 1;
  return v instanceof Double ? 2 : 3;
}

export const toDecimal = (v: Numeric): Decimal => {
  if (v instanceof Decimal) return v;
  if (typeof v === 'bigint') return Decimal.fromBigInt(v);
  if (v instanceof Double) return Decimal.fromDouble(v.value);
  return (v | 0) === v ? Decimal.fromBigInt(BigInt(v)) : Decimal.fromDouble(v);
};

/**
 * An integral result: int32 when no operand was wider and it fits, long when it fits that, else a
 * double.
 */
function integral(n: bigint, wide: boolean): Numeric {
  if (!wide && n >= -2147483648n && n <= 2147483647n) return Number(n);
  return fitsInt64(n) ? n : double(Number(n));
}

/**
 * An int32 operation's exact result held in a double (sums and differences of int32 always are).
 */
const fromSafe = (n: number): Numeric => ((n | 0) === n ? n | 0 : BigInt(n));

export function addNumbers(a: Numeric, b: Numeric): Numeric {
  const w = Math.max(widthOf(a), widthOf(b));
  if (w === 0) return fromSafe((a as number) + (b as number));
  if (w === 1) return integral(BigInt(a as number | bigint) + BigInt(b as number | bigint), true);
  if (w === 2) return double(toDouble(a) + toDouble(b));
  return toDecimal(a).add(toDecimal(b));
}

export function subtractNumbers(a: Numeric, b: Numeric): Numeric {
  const w = Math.max(widthOf(a), widthOf(b));
  if (w === 0) return fromSafe((a as number) - (b as number));
  if (w === 1) return integral(BigInt(a as number | bigint) - BigInt(b as number | bigint), true);
  if (w === 2) return double(toDouble(a) - toDouble(b));
  return toDecimal(a).subtract(toDecimal(b));
}

export function multiplyNumbers(a: Numeric, b: Numeric): Numeric {
  const w = Math.max(widthOf(a), widthOf(b));
  if (w === 0) {
    const product = (a as number) * (b as number);
    if (Number.isSafeInteger(product)) return fromSafe(product);
    return integral(BigInt(a as number) * BigInt(b as number), false);
  }
  if (w === 1) return integral(BigInt(a as number | bigint) * BigInt(b as number | bigint), true);
  if (w === 2) return double(toDouble(a) * toDouble(b));
  return toDecimal(a).multiply(toDecimal(b));
}

export function divideNumbers(a: Numeric, b: Numeric): Numeric {
  if (a instanceof Decimal || b instanceof Decimal) {
    const divisor = toDecimal(b);
    if (divisor.isZero) throw new ServerError(2, "can't $divide by zero");
    return toDecimal(a).divide(divisor);
  }
  const divisor = toDouble(b);
  if (divisor === 0) throw new ServerError(2, "can't $divide by zero");
  return double(toDouble(a) / divisor);
}

export function moduloNumbers(a: Numeric, b: Numeric): Numeric {
  const w = Math.max(widthOf(a), widthOf(b));
  if (w === 3 ? toDecimal(b).isZero : toDouble(b) === 0)
    throw new ServerError(16610, "can't $mod by zero");
  if (w === 3) return toDecimal(a).modulo(toDecimal(b));
  if (w === 2) return double(toDouble(a) % toDouble(b));
  if (w === 1) return BigInt(a as number | bigint) % BigInt(b as number | bigint);
  return ((a as number) % (b as number)) | 0;
}

/** The sum of an error-free pair: what a double sum loses is kept beside it. */
export class DoubleDouble {
  private high = 0;
  private low = 0;
  private special = 0;
  add(x: number): void {
    this.special += x;
    const s = this.high + x;
    const t = s - this.high;
    this.low += this.high - (s - t) + (x - t);
    this.high = s;
  }
  addInteger(n: bigint): void {
    const near = Number(n);
    this.add(near);
    if (!Number.isSafeInteger(near)) this.add(Number(n - BigInt(near)));
  }
  get value(): number {
    const sum = this.high + this.low;
    return Number.isFinite(sum) || Number.isFinite(this.high) ? sum : this.special;
  }
}

/** What `$sum` and `$avg` keep: integers exactly, doubles compensated, decimals as such. */
export class Sum {
  private integers = 0;
  private big = 0n;
  // Made when the first double comes: groups of integers, the usual ones, need none.
  private doublesOrNone: DoubleDouble | undefined;
  private decimals: Decimal | undefined;
  private widest: 0 | 1 | 2 | 3 = 0;
  count = 0;

  push(v: Value): void {
    if (typeof v === 'number') {
      this.count++;
      if ((v | 0) === v) {
        this.integers += v;
        if (this.integers > 4503599627370496 || this.integers < -4503599627370496) this.spill();
      } else {
        this.doubles.add(v);
        if (this.widest < 2) this.widest = 2;
      }
      return;
    }
    if (!isNumeric(v)) return;
    this.count++;
    const width = widthOf(v);
    if (width > this.widest) this.widest = width;
    if (typeof v === 'bigint') this.big += v;
    else if (v instanceof Double) this.doubles.add(v.value);
    else this.decimals = (this.decimals ?? Decimal.zero).add(v as Decimal);
  }
  private get doubles(): DoubleDouble {
    return (this.doublesOrNone ??= new DoubleDouble());
  }
  private spill(): void {
    this.big += BigInt(this.integers);
    this.integers = 0;
  }
  private total(): number {
    const sum = new DoubleDouble();
    sum.add(this.doubles.value);
    this.spill();
    sum.addInteger(this.big);
    return sum.value;
  }
  // The server always adds both totals, also when one is zero: that decides the exponent of the
  // result. Doubles count with all their digits here, unlike where one is promoted.
  private decimalTotal(): Decimal {
    this.spill();
    const others =
      this.big === 0n
        ? Decimal.fromDoubleExact(this.doubles.value)
        : Decimal.fromDoubleExact(this.doubles.value).add(Decimal.fromBigInt(this.big));
    return (this.decimals ?? Decimal.zero).add(others);
  }
  get sum(): Numeric {
    if (this.widest === 0 && Number.isSafeInteger(this.integers) && this.big === 0n)
      return fromSafe(this.integers);
    if (this.widest === 3) return this.decimalTotal();
    if (this.widest === 2) return double(this.total());
    this.spill();
    return integral(this.big, this.widest === 1);
  }
  /** null when there was no number. */
  get average(): Value {
    if (this.count === 0) return null;
    if (this.widest === 3)
      return this.decimalTotal().divide(Decimal.fromBigInt(BigInt(this.count)));
    return double(this.total() / this.count);
  }
}

/**
 * A long that came of int32 only is an int32 again when it fits: the operands' types decide, not
 * those on the way.
 */
function narrowed(total: Numeric, onlyInts: boolean): Numeric {
  return onlyInts && typeof total === 'bigint' && total >= -2147483648n && total <= 2147483647n
    ? Number(total)
    : total;
}

export function multiplyAll(values: readonly Value[]): Value {
  let total: Numeric = 1;
  let onlyInts = true;
  for (const v of values) {
    if (isNullish(v)) return null;
    if (!isNumeric(v))
      throw new ServerError(14, `$multiply only supports numeric types, not ${typeName(v)}`);
    onlyInts &&= widthOf(v) === 0;
    total = multiplyNumbers(total, v);
  }
  return narrowed(total, onlyInts);
}

/**
 * `$add` keeps a running total whose type widens; a date among the numbers makes the result a date.
 */
export function addAll(values: readonly Value[]): Value {
  let total: Numeric = 0;
  let onlyInts = true;
  let date: DateTime | undefined;
  for (const v of values) {
    if (isNumeric(v)) {
      onlyInts &&= widthOf(v) === 0;
      total = addNumbers(total, v);
    } else if (v instanceof DateTime) {
      if (date) throw new ServerError(16612, 'only one date allowed in an $add expression');
      date = v;
    } else if (isNullish(v)) return null;
    else
      throw new ServerError(16554, `$add only supports numeric or date types, not ${typeName(v)}`);
  }
  return date ? shiftDate(date, total) : narrowed(total, onlyInts);
}

/** A date some milliseconds later; a fraction of one rounds, halves away from zero. */
export function shiftDate(date: DateTime, by: Numeric): DateTime {
  const shift = by instanceof Decimal ? by.quantize(0, 'half-even').toNumber() : toDouble(by);
  const ms = date.ms + Math.sign(shift) * Math.round(Math.abs(shift));
  if (!Number.isFinite(ms) || Math.abs(ms) > 9.2e18) throw new ServerError(15, 'date overflow');
  return new DateTime(ms);
}
