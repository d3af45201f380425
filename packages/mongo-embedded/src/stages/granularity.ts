import { ServerError, unsupported } from '../errors';
import { compareNumbers } from '../values/compare';
import { multiplyNumbers, toDecimal } from '../values/arithmetic';
import { Decimal } from '../bson/decimal';
import { Double, double, toDouble, type Numeric } from '../bson/value';

/** Series of preferred numbers to which `$bucketAuto` rounds its boundaries. */
export interface Granularity {
  /** The next number of the series above. */
  up(n: Numeric): Numeric;
  /** The next number of the series below. */
  down(n: Numeric): Numeric;
}

/** One decade of each series, as the standards (ISO 3 and IEC 60063) have them. */
const decades: Readonly<Record<string, readonly number[]>> = {
  R5: [10, 16, 25, 40, 63],
  R10: [100, 125, 160, 200, 250, 315, 400, 500, 630, 800],
  R20: [
    100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800,
    900,
  ],
  R40: [
    100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265, 280,
    300, 315, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850, 900,
    950,
  ],
  R80: [
    103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218, 230, 243, 258, 272, 290,
    307, 325, 345, 365, 387, 412, 437, 462, 487, 515, 545, 575, 615, 650, 690, 730, 775, 825, 875,
    925, 975,
  ],
  '1-2-5': [10, 20, 50],
  E6: [10, 15, 22, 33, 47, 68],
  E12: [10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82],
  E24: [
    10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91,
  ],
  E48: eSeries(48),
  E96: eSeries(96),
  E192: eSeries(192),
};

/**
 * The finer E series are the powers of a root of ten to three digits; one number of E192 is an
 * exception.
 */
function eSeries(n: number): number[] {
  return Array.from({ length: n }, (_, i) =>
    n === 192 && i === 185 ? 920 : Math.round(100 * 10 ** (i / n)),
  );
}

/**
 * Numbers of a decade repeated at every power of ten, in the type of the number that is rounded.
 */
function preferred(decade: readonly number[]): Granularity {
  const first = decade[0] as number;
  const last = decade[decade.length - 1] as number;
  // The series' number at a power of ten: doubles are multiplied as the server does, decimals
  // exactly.
  const scale = (n: Numeric): ((member: number, power: Numeric) => Numeric) =>
    n instanceof Decimal
      ? (member, power) => toDecimal(member).multiply(toDecimal(power))
      : (member, power) => double(member * toDouble(power));
  const times = (n: Numeric, power: Numeric, tenfold: boolean): Numeric => {
    if (n instanceof Decimal)
      return tenfold
        ? multiplyNumbers(power, Decimal.fromBigInt(10n))
        : toDecimal(power).divide(Decimal.fromBigInt(10n));
    return tenfold ? double(toDouble(power) * 10) : double(toDouble(power) / 10);
  };
  const start = (n: Numeric): Numeric => (n instanceof Decimal ? Decimal.one : double(1));
  const less = (a: Numeric, b: Numeric): boolean => compareNumbers(a, b) < 0;
  return {
    up: (n) => {
      if (toDouble(n) === 0) return n;
      const at = scale(n);
      let power = start(n);
      while (!less(n, at(last, power))) power = times(n, power, true);
      while (less(n, at(first, power))) {
        const above = at(first, power);
        power = times(n, power, false);
        if (!less(n, at(last, power))) return above;
      }
      return at(decade.find((member) => less(n, at(member, power))) as number, power);
    },
    down: (n) => {
      if (toDouble(n) === 0) return n;
      const at = scale(n);
      let power = start(n);
      while (!less(at(first, power), n)) power = times(n, power, false);
      while (less(at(last, power), n)) {
        const below = at(last, power);
        power = times(n, power, true);
        if (!less(at(first, power), n)) return below;
      }
      return at(
        [...decade].reverse().find((member) => less(at(member, power), n)) as number,
        power,
      );
    },
  };
}

/** Powers of two: an integer stays one while it fits. */
const powersOfTwo: Granularity = {
  up: (n) => (toDouble(n) === 0 ? n : powerOfTwo(n, exponentOf(n, true))),
  down: (n) => (toDouble(n) === 0 ? n : powerOfTwo(n, exponentOf(n, false))),
};
function exponentOf(n: Numeric, up: boolean): number {
  const d = toDouble(n);
  let exponent = Math.floor(Math.log2(d));
  // The logarithm may be off by one next to a power.
  while (compareNumbers(2 ** exponent, n) > 0) exponent--;
  while (compareNumbers(2 ** (exponent + 1), n) <= 0) exponent++;
  if (up) return exponent + 1;
  return compareNumbers(2 ** exponent, n) === 0 ? exponent - 1 : exponent;
}
function powerOfTwo(n: Numeric, exponent: number): Numeric {
  if (n instanceof Decimal) throw unsupported("$bucketAuto's granularity POWERSOF2 of decimals");
  if (exponent < 0 || exponent > 62) return double(2 ** exponent);
  return exponent < 31 ? 2 ** exponent : 1n << BigInt(exponent);
}

export function parseGranularity(name: unknown): Granularity {
  if (typeof name !== 'string')
    throw new ServerError(40261, "The $bucketAuto 'granularity' field must be a string");
  if (name === 'POWERSOF2') return powersOfTwo;
  const decade = Object.hasOwn(decades, name) ? decades[name] : undefined;
  if (!decade) throw new ServerError(40257, `Unknown rounding granularity '${name}'`);
  return preferred(decade);
}

/** What a bucket's value must be where there is a granularity. */
export function checkRoundable(v: unknown, isNumber: boolean, type: string): void {
  if (!isNumber)
    throw new ServerError(
      40258,
      `$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value ` +
        `with type: ${type}`,
    );
  const n = toDouble(v as Numeric);
  if (Number.isNaN(n))
    throw new ServerError(
      40259,
      "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN",
    );
  if (n < 0 && !(v instanceof Double && v.value === 0))
    throw new ServerError(
      40260,
      "$bucketAuto can specify a 'granularity' with non-negative numbers only, but found a " +
        'negative number',
    );
}
