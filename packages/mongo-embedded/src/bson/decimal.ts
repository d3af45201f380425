import { ServerError } from '../errors';

const DIGITS = 34;
const MAX_COEFFICIENT = 10n ** 34n - 1n;
const MIN_EXPONENT = -6176;
const MAX_EXPONENT = 6111;

const powers: bigint[] = [1n];
/** 10 to the power n; cached, because alignment uses the same few exponents. */
export function pow10(n: number): bigint {
  if (n > 400) return 10n ** BigInt(n);
  for (let i = powers.length; i <= n; i++) powers.push((powers[i - 1] ?? 1n) * 10n);
  return powers[n] ?? 1n;
}

const digitCount = (n: bigint): number => (n === 0n ? 1 : n.toString().length);

/** n / 10^places, ties to even. `n` must not be negative. */
function divideHalfEven(n: bigint, divisor: bigint): bigint {
  const quotient = n / divisor;
  const twice = (n % divisor) * 2n;
  if (twice > divisor || (twice === divisor && quotient % 2n === 1n)) return quotient + 1n;
  return quotient;
}

type Special = 'finite' | 'infinity' | 'nan';

/**
 * IEEE 754-2008 decimal128: 34 digits, ties to even, trailing zeros kept (`1.10 × 2 = 2.20`).
 * A finite value is (−1)^negative × coefficient × 10^exponent.
 */
export class Decimal {
  private constructor(
    readonly negative: boolean,
    readonly coefficient: bigint,
    readonly exponent: number,
    readonly special: Special,
  ) {}

  static readonly NaN = new Decimal(false, 0n, 0, 'nan');
  static readonly Infinity = new Decimal(false, 0n, 0, 'infinity');
  static readonly NegativeInfinity = new Decimal(true, 0n, 0, 'infinity');
  static readonly zero = new Decimal(false, 0n, 0, 'finite');
  static readonly one = new Decimal(false, 1n, 0, 'finite');

  /** Rounds to 34 digits and clamps the exponent as decimal128 does. */
  static make(negative: boolean, coefficient: bigint, exponent: number): Decimal {
    if (coefficient > MAX_COEFFICIENT) {
      const surplus = digitCount(coefficient) - DIGITS;
      coefficient = divideHalfEven(coefficient, pow10(surplus));
      exponent += surplus;
      if (coefficient > MAX_COEFFICIENT) {
        coefficient /= 10n;
        exponent++;
      }
    }
    if (exponent < MIN_EXPONENT) {
      const shift = MIN_EXPONENT - exponent;
      coefficient = shift > 40 ? 0n : divideHalfEven(coefficient, pow10(shift));
      exponent = MIN_EXPONENT;
    }
    if (exponent > MAX_EXPONENT) {
      if (coefficient === 0n) exponent = MAX_EXPONENT;
      while (exponent > MAX_EXPONENT && coefficient * 10n <= MAX_COEFFICIENT) {
        coefficient *= 10n;
        exponent--;
      }
      if (exponent > MAX_EXPONENT) return negative ? Decimal.NegativeInfinity : Decimal.Infinity;
    }
    return new Decimal(negative, coefficient, exponent, 'finite');
  }

  static fromBigInt(n: bigint): Decimal {
    return n < 0n ? Decimal.make(true, -n, 0) : Decimal.make(false, n, 0);
  }

  /** MongoDB turns a double into exactly 15 significant digits wherever it promotes one. */
  static fromDouble(d: number): Decimal {
    if (Number.isNaN(d)) return Decimal.NaN;
    if (!Number.isFinite(d)) return d < 0 ? Decimal.NegativeInfinity : Decimal.Infinity;
    if (d === 0) return new Decimal(Object.is(d, -0), 0n, 0, 'finite');
    const [mantissa = '0', exponent = '0'] = Math.abs(d).toExponential(14).split('e');
    return Decimal.make(d < 0, BigInt(mantissa.replace('.', '')), Number(exponent) - 14);
  }

  /** The double's exact value, to 34 digits. */
  static fromDoubleExact(d: number): Decimal {
    if (!Number.isFinite(d) || d === 0) return Decimal.fromDouble(d);
    const [numerator, twos] = doubleParts(Math.abs(d));
    if (twos >= 0) return Decimal.make(d < 0, numerator << BigInt(twos), 0);
    // m / 2^k = m × 5^k / 10^k, without zeros behind the point
    let coefficient = numerator * 5n ** BigInt(-twos);
    let exponent = twos;
    while (exponent < 0 && coefficient % 10n === 0n) {
      coefficient /= 10n;
      exponent++;
    }
    return Decimal.make(d < 0, coefficient, exponent);
  }

  static parse(text: string): Decimal | undefined {
    const match = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?$/.exec(text);
    if (match) {
      const [, sign, whole = '', fraction = '', bare = '', exponent = '0'] = match;
      const decimals = fraction + bare;
      return Decimal.make(
        sign === '-',
        BigInt(whole + decimals || '0'),
        Number(exponent) - decimals.length,
      );
    }
    const word = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
    if (!word) return undefined;
    if (word[2]?.toLowerCase() === 'nan') return Decimal.NaN;
    return word[1] === '-' ? Decimal.NegativeInfinity : Decimal.Infinity;
  }

  static fromBytes(bytes: Uint8Array, offset: number): Decimal {
    let low = 0n;
    let high = 0n;
    for (let i = 7; i >= 0; i--) {
      low = (low << 8n) | BigInt(bytes[offset + i] ?? 0);
      high = (high << 8n) | BigInt(bytes[offset + 8 + i] ?? 0);
    }
    const negative = high >> 63n === 1n;
    const combination = Number((high >> 58n) & 0x1fn);
    if (combination === 0x1f) return Decimal.NaN;
    if (combination === 0x1e) return negative ? Decimal.NegativeInfinity : Decimal.Infinity;
    if (combination >> 3 === 3) {
      // Coefficients of this form exceed 34 digits: by the standard they mean zero.
      return new Decimal(negative, 0n, Number((high >> 47n) & 0x3fffn) + MIN_EXPONENT, 'finite');
    }
    const coefficient = ((high & 0x1ffffffffffffn) << 64n) | low;
    const exponent = Number((high >> 49n) & 0x3fffn) + MIN_EXPONENT;
    return new Decimal(
      negative,
      coefficient > MAX_COEFFICIENT ? 0n : coefficient,
      exponent,
      'finite',
    );
  }

  toBytes(): Uint8Array {
    let bits: bigint;
    if (this.special === 'nan') bits = 0x7cn << 120n;
    else if (this.special === 'infinity') bits = 0x78n << 120n;
    else bits = (BigInt(this.exponent - MIN_EXPONENT) << 113n) | this.coefficient;
    if (this.negative) bits |= 1n << 127n;
    const out = new Uint8Array(16);
    for (let i = 0; i < 16; i++) {
      out[i] = Number(bits & 0xffn);
      bits >>= 8n;
    }
    return out;
  }

  get isNaN(): boolean {
    return this.special === 'nan';
  }
  get isFinite(): boolean {
    return this.special === 'finite';
  }
  get isZero(): boolean {
    return this.special === 'finite' && this.coefficient === 0n;
  }
  get signed(): bigint {
    return this.negative ? -this.coefficient : this.coefficient;
  }

  negate(): Decimal {
    return this.isNaN
      ? this
      : new Decimal(!this.negative, this.coefficient, this.exponent, this.special);
  }
  abs(): Decimal {
    return this.negative ? this.negate() : this;
  }

  add(other: Decimal): Decimal {
    if (this.isNaN || other.isNaN) return Decimal.NaN;
    if (!this.isFinite)
      return !other.isFinite && other.negative !== this.negative ? Decimal.NaN : this;
    if (!other.isFinite) return other;
    // Far apart exponents: the smaller one cannot reach the 34 digits, so a sticky digit stands for
    // it.
    const [large, small] = this.exponent >= other.exponent ? [this, other] : [other, this];
    if (large.coefficient !== 0n && large.exponent - small.exponent > 80) {
      const sticky = BigInt(small.sign);
      const sum = large.signed * pow10(50) + sticky;
      return Decimal.make(sum < 0n, sum < 0n ? -sum : sum, large.exponent - 50);
    }
    const exponent = Math.min(this.exponent, other.exponent);
    const sum =
      this.signed * pow10(this.exponent - exponent) +
      other.signed * pow10(other.exponent - exponent);
    const negative = sum === 0n ? this.negative && other.negative : sum < 0n;
    return Decimal.make(negative, sum < 0n ? -sum : sum, exponent);
  }
  subtract(other: Decimal): Decimal {
    return this.add(other.negate());
  }
  multiply(other: Decimal): Decimal {
    if (this.isNaN || other.isNaN) return Decimal.NaN;
    const negative = this.negative !== other.negative;
    if (!this.isFinite || !other.isFinite) {
      if (this.isZero || other.isZero) return Decimal.NaN;
      return negative ? Decimal.NegativeInfinity : Decimal.Infinity;
    }
    return Decimal.make(
      negative,
      this.coefficient * other.coefficient,
      this.exponent + other.exponent,
    );
  }
  divide(other: Decimal): Decimal {
    if (this.isNaN || other.isNaN) return Decimal.NaN;
    const negative = this.negative !== other.negative;
    if (!this.isFinite) {
      if (!other.isFinite) return Decimal.NaN;
      return negative ? Decimal.NegativeInfinity : Decimal.Infinity;
    }
    if (!other.isFinite) return Decimal.make(negative, 0n, MIN_EXPONENT);
    if (other.coefficient === 0n) {
      if (this.coefficient === 0n) return Decimal.NaN;
      return negative ? Decimal.NegativeInfinity : Decimal.Infinity;
    }
    const ideal = this.exponent - other.exponent;
    if (this.coefficient === 0n) return Decimal.make(negative, 0n, ideal);
    const shift = Math.max(
      0,
      DIGITS + 4 + digitCount(other.coefficient) - digitCount(this.coefficient),
    );
    const numerator = this.coefficient * pow10(shift);
    let quotient = numerator / other.coefficient;
    let exponent = ideal - shift;
    if (numerator % other.coefficient !== 0n) {
      // A sticky digit below the quotient decides ties.
      quotient = quotient * 10n + 1n;
      exponent--;
      return Decimal.make(negative, quotient, exponent);
    }
    while (exponent < ideal && quotient % 10n === 0n) {
      quotient /= 10n;
      exponent++;
    }
    return Decimal.make(negative, quotient, exponent);
  }
  /** Remainder with the sign of the dividend. */
  modulo(other: Decimal): Decimal {
    if (this.isNaN || other.isNaN || !this.isFinite || other.isZero) return Decimal.NaN;
    if (!other.isFinite) return this;
    const exponent = Math.min(this.exponent, other.exponent);
    const a = this.coefficient * pow10(this.exponent - exponent);
    const b = other.coefficient * pow10(other.exponent - exponent);
    return Decimal.make(this.negative, a % b, exponent);
  }

  /** Rounds to a multiple of 10^exponent. */
  quantize(exponent: number, mode: 'half-even' | 'trunc' | 'floor' | 'ceil'): Decimal {
    if (!this.isFinite) return this;
    if (this.exponent >= exponent) {
      const shifted = this.coefficient * pow10(Math.min(this.exponent - exponent, 6200));
      if (shifted > MAX_COEFFICIENT) return this;
      return new Decimal(this.negative, shifted, exponent, 'finite');
    }
    const divisor = pow10(exponent - this.exponent);
    let quotient = this.coefficient / divisor;
    const rest = this.coefficient % divisor;
    if (mode === 'half-even') quotient = divideHalfEven(this.coefficient, divisor);
    else if (
      rest !== 0n &&
      ((mode === 'floor' && this.negative) || (mode === 'ceil' && !this.negative))
    )
      quotient++;
    return Decimal.make(this.negative, quotient, exponent);
  }

  sqrt(): Decimal {
    if (this.isNaN || (this.negative && !this.isZero)) return Decimal.NaN;
    if (!this.isFinite || this.isZero) return this;
    let exponent = this.exponent;
    let n = this.coefficient;
    const shift = Math.max(0, 2 * (DIGITS + 2) - digitCount(n));
    const even = shift + ((((exponent - shift) % 2) + 2) % 2);
    n *= pow10(even);
    exponent -= even;
    const root = integerSqrt(n);
    if (root * root !== n) return Decimal.make(false, root * 10n + 1n, exponent / 2 - 1);
    let result = root;
    let e = exponent / 2;
    const ideal = Math.floor(this.exponent / 2);
    while (e < ideal && result % 10n === 0n) {
      result /= 10n;
      e++;
    }
    return Decimal.make(false, result, e);
  }

  toNumber(): number {
    if (this.isNaN) return NaN;
    if (!this.isFinite) return this.negative ? -Infinity : Infinity;
    return Number(`${this.negative ? '-' : ''}${this.coefficient}e${this.exponent}`);
  }

  /** The integer part (toward zero). */
  toBigInt(): bigint {
    if (!this.isFinite)
      throw new ServerError(241, 'cannot convert a decimal that is not finite to an integer');
    const n =
      this.exponent >= 0
        ? this.coefficient * pow10(this.exponent)
        : this.coefficient / pow10(-this.exponent);
    return this.negative ? -n : n;
  }
  get isInteger(): boolean {
    return (
      this.isFinite &&
      (this.exponent >= 0 ||
        (this.exponent > -40
          ? this.coefficient % pow10(-this.exponent) === 0n
          : this.coefficient === 0n))
    );
  }

  toString(): string {
    if (this.isNaN) return 'NaN';
    const sign = this.negative ? '-' : '';
    if (!this.isFinite) return `${sign}Infinity`;
    const digits = this.coefficient.toString();
    const scientific = this.exponent + digits.length - 1;
    if (this.exponent > 0 || scientific < -6) {
      const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
      return `${sign}${mantissa}E${scientific < 0 ? '' : '+'}${scientific}`;
    }
    if (this.exponent === 0) return sign + digits;
    const point = digits.length + this.exponent;
    if (point > 0) return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
    return `${sign}0.${'0'.repeat(-point)}${digits}`;
  }

  /** -1, 0 or 1; of NaN it says nothing. */
  get sign(): -1 | 0 | 1 {
    if (this.isZero) return 0;
    return this.negative ? -1 : 1;
  }

  /** Exact numeric order; NaN is below everything and equal to itself. */
  compare(other: Decimal): number {
    if (this.isNaN || other.isNaN) return Number(other.isNaN) - Number(this.isNaN);
    const a = this.sign;
    const b = other.sign;
    if (a !== b || a === 0) return Math.sign(a - b);
    if (!this.isFinite || !other.isFinite)
      return a * (Number(!this.isFinite) - Number(!other.isFinite)) + 0;
    const magnitudeA = digitCount(this.coefficient) + this.exponent;
    const magnitudeB = digitCount(other.coefficient) + other.exponent;
    if (magnitudeA !== magnitudeB) return magnitudeA < magnitudeB ? -a : a;
    const exponent = Math.min(this.exponent, other.exponent);
    const x = this.coefficient * pow10(this.exponent - exponent);
    const y = other.coefficient * pow10(other.exponent - exponent);
    if (x === y) return 0;
    return x < y ? -a : a;
  }

  /** Exact order against a double. */
  compareDouble(d: number): number {
    if (Number.isNaN(d)) return this.isNaN ? 0 : 1;
    if (this.isNaN) return -1;
    if (!Number.isFinite(d)) {
      if (!this.isFinite) return Math.sign((this.negative ? -1 : 1) - Math.sign(d));
      return d > 0 ? -1 : 1;
    }
    if (!this.isFinite) return this.negative ? -1 : 1;
    const near = this.toNumber();
    if (near !== d) return near < d ? -1 : 1;
    // The same double: compare exactly, as integers over a common denominator.
    const [m, twos] = doubleParts(Math.abs(d));
    let left = this.coefficient;
    let right = m;
    if (this.exponent >= 0) left *= pow10(this.exponent);
    else right *= pow10(-this.exponent);
    if (twos >= 0) right <<= BigInt(twos);
    else left <<= BigInt(-twos);
    const sign = d < 0 ? -1 : 1;
    if (left === right) return 0;
    return left < right ? -sign : sign;
  }
}

/** |d| = m × 2^e, exactly. */
function doubleParts(d: number): [bigint, number] {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, d);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  return biased === 0 ? [fraction, -1074] : [fraction | 0x10000000000000n, biased - 1075];
}

export function integerSqrt(n: bigint): bigint {
  if (n < 2n) return n;
  let x = BigInt(Math.floor(Math.sqrt(Number(n > 10n ** 300n ? 10n ** 300n : n)))) + 1n;
  if (x * x < n) x = 1n << BigInt(Math.ceil(n.toString(2).length / 2));
  for (;;) {
    const next = (x + n / x) >> 1n;
    if (next >= x) return x;
    x = next;
  }
}
