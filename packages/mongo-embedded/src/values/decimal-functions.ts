import { Decimal, integerSqrt, pow10 } from '../bson/decimal';

/**
 * Logarithms, powers and angles of decimals. Computed with whole numbers of three times as many
 * digits as a decimal has, so that rounding is the only error. The server's library goes through
 * IEEE's binary128 (113 bits) and back, which shows in the last digit: the same roundings are made
 * here.
 */

/** m × 10^e, with about `DIGITS` digits of m kept. */
interface Big {
  readonly m: bigint;
  readonly e: number;
}

const DIGITS = 110;
const big = (m: bigint, e: number): Big => {
  const surplus = (m < 0n ? -m : m).toString().length - DIGITS;
  return surplus > 0 ? { m: m / pow10(surplus), e: e + surplus } : { m, e };
};
const of = (d: Decimal): Big => ({ m: d.signed, e: d.exponent });
const ONE: Big = { m: 1n, e: 0 };
const magnitude = (x: Big): number =>
  x.m === 0n ? -Infinity : (x.m < 0n ? -x.m : x.m).toString().length + x.e;

function add(a: Big, b: Big): Big {
  // What lies below all kept digits cannot matter.
  if (b.m === 0n || magnitude(a) - magnitude(b) > DIGITS + 10) return a;
  if (a.m === 0n || magnitude(b) - magnitude(a) > DIGITS + 10) return b;
  const e = Math.min(a.e, b.e);
  return big(a.m * pow10(a.e - e) + b.m * pow10(b.e - e), e);
}
const negate = (a: Big): Big => ({ m: -a.m, e: a.e });
const multiply = (a: Big, b: Big): Big => big(a.m * b.m, a.e + b.e);
const divide = (a: Big, b: Big): Big => {
  const shift = DIGITS + b.m.toString().length;
  return big((a.m * pow10(shift)) / b.m, a.e - b.e - shift);
};
const square = (a: Big): Big => multiply(a, a);
function sqrt(a: Big): Big {
  const shift = 2 * DIGITS + (a.e % 2 === 0 ? 0 : 1);
  return big(integerSqrt(a.m * pow10(shift)), (a.e - shift) / 2);
}

/** x × 10^places as a whole number. */
const fixed = (x: Big, places: number): bigint =>
  x.e + places >= 0 ? x.m * pow10(x.e + places) : x.m / pow10(-x.e - places);

/** The sum of `first`, then of what `next` makes of each term, until nothing is left. */
function series(
  first: bigint,
  next: (term: bigint, n: number) => bigint,
  part: (term: bigint, n: number) => bigint,
): bigint {
  let sum = 0n;
  for (let term = first, n = 0; term !== 0n; term = next(term, n++)) sum += part(term, n);
  return sum;
}

const PLACES = DIGITS + 10;
const UNIT = pow10(PLACES);

/** atan(1/n) to so many places. */
const inverseTangent = (n: bigint, places: number): bigint =>
  series(
    pow10(places) / n,
    (t) => -t / (n * n),
    (t, i) => t / BigInt(2 * i + 1),
  );
const pis = new Map<number, bigint>();
/** π by Machin's formula, to so many places. */
function pi(places: number): bigint {
  let value = pis.get(places);
  if (value === undefined) {
    value =
      (16n * inverseTangent(5n, places + 10) - 4n * inverseTangent(239n, places + 10)) / pow10(10);
    pis.set(places, value);
  }
  return value;
}

/** ln of a number between 0.1 and 10, through atanh: square roots bring it near 1. */
function lnNear(x: bigint): bigint {
  let halvings = 0;
  for (; halvings < 8; halvings++) x = integerSqrt(x * UNIT);
  const ratio = ((x - UNIT) * UNIT) / (x + UNIT);
  const squared = (ratio * ratio) / UNIT;
  return (
    2n *
    series(
      ratio,
      (t) => (t * squared) / UNIT,
      (t, i) => t / BigInt(2 * i + 1),
    ) *
    (1n << BigInt(halvings))
  );
}
let tens: Big | undefined;
const ln10 = (): Big => (tens ??= big(lnNear(10n * UNIT), -PLACES));

function ln(x: Big): Big {
  const k = magnitude(x) - 1;
  // Near 1 the logarithm is small, and the digits that count lie below those of 1.
  const away = add(x, negate(ONE));
  if (magnitude(away) < -2) {
    const ratio = divide(away, add(x, ONE));
    let sum: Big = { m: 0n, e: 0 };
    let term = ratio;
    for (
      let i = 1;
      magnitude(term) > magnitude(ratio) - DIGITS;
      i += 2, term = multiply(term, square(ratio))
    )
      sum = add(sum, divide(term, { m: BigInt(i), e: 0 }));
    return multiply(sum, { m: 2n, e: 0 });
  }
  return add(
    big(lnNear(fixed({ m: x.m, e: x.e - k }, PLACES)), -PLACES),
    multiply({ m: BigInt(k), e: 0 }, ln10()),
  );
}

/** e^x, for an x whose result is within reach of a decimal. */
function exp(x: Big): Big {
  const k = Math.round(Number(fixed(divide(x, ln10()), 6)) / 1e6);
  const rest = add(x, negate(multiply({ m: BigInt(k), e: 0 }, ln10())));
  const reduced = fixed(rest, PLACES) >> 10n;
  let sum = series(
    UNIT,
    (t, i) => (t * reduced) / UNIT / BigInt(i + 1),
    (t) => t,
  );
  for (let i = 0; i < 10; i++) sum = (sum * sum) / UNIT;
  return big(sum, k - PLACES);
}

/** sine and cosine together. */
function circle(x: Big): { sin: Big; cos: Big } {
  // An angle of many digits needs as many digits of π.
  const places = PLACES + Math.max(0, magnitude(x));
  const quarter = pi(places) / 2n;
  const whole = fixed(x, places);
  let turns = whole / quarter;
  let rest = whole - turns * quarter;
  if (2n * rest > quarter) [turns, rest] = [turns + 1n, rest - quarter];
  else if (2n * rest < -quarter) [turns, rest] = [turns - 1n, rest + quarter];
  const angle = rest / pow10(places - PLACES);
  const squared = (angle * angle) / UNIT;
  const sin = big(
    series(
      angle,
      (t, i) => (-t * squared) / UNIT / BigInt((2 * i + 2) * (2 * i + 3)),
      (t) => t,
    ),
    -PLACES,
  );
  const cos = big(
    series(
      UNIT,
      (t, i) => (-t * squared) / UNIT / BigInt((2 * i + 1) * (2 * i + 2)),
      (t) => t,
    ),
    -PLACES,
  );
  switch (((turns % 4n) + 4n) % 4n) {
    case 0n:
      return { sin, cos };
    case 1n:
      return { sin: cos, cos: negate(sin) };
    case 2n:
      return { sin: negate(sin), cos: negate(cos) };
    default:
      return { sin: negate(cos), cos: sin };
  }
}

const halfPi = (): Big => big(pi(PLACES) / 2n, -PLACES);
function atan(x: Big): Big {
  if (x.m === 0n) return x;
  if (magnitude(x) > 0 && fixed(square(x), 0) > 1n) {
    const rest = atan(divide(ONE, x));
    return add(x.m < 0n ? negate(halfPi()) : halfPi(), negate(rest));
  }
  let halved = x;
  for (let i = 0; i < 3; i++) halved = divide(halved, add(ONE, sqrt(add(ONE, square(halved)))));
  const squared = square(halved);
  let sum: Big = { m: 0n, e: 0 };
  let term = halved;
  for (
    let i = 1;
    magnitude(term) > magnitude(halved) - DIGITS;
    i += 2, term = negate(multiply(term, squared))
  )
    sum = add(sum, divide(term, { m: BigInt(i), e: 0 }));
  return multiply(sum, { m: 8n, e: 0 });
}
const asin = (x: Big): Big => {
  const other = add(ONE, negate(square(x)));
  if (other.m === 0n) return x.m < 0n ? negate(halfPi()) : halfPi();
  return atan(divide(x, sqrt(other)));
};

const rounded = (x: Big): Decimal => Decimal.make(x.m < 0n, x.m < 0n ? -x.m : x.m, x.e);

const QUAD_BITS = 113;
const bitLength = (n: bigint): number =>
  n.toString(16).length * 4 - Math.clz32(parseInt(n.toString(16)[0] as string, 16)) + 28;
/** The nearest binary128 number, ties to even. */
function quad(x: Big): Big {
  if (x.m === 0n) return x;
  const size = x.m < 0n ? -x.m : x.m;
  const [top, bottom] = x.e >= 0 ? [size * pow10(x.e), 1n] : [size, pow10(-x.e)];
  let twos = bitLength(top) - bitLength(bottom) - QUAD_BITS;
  let kept = 0n;
  let rest = 0n;
  let unit = bottom;
  // The estimate is one too low at times.
  for (;;) {
    const scaled = twos < 0 ? top << BigInt(-twos) : top;
    unit = twos < 0 ? bottom : bottom << BigInt(twos);
    [kept, rest] = [scaled / unit, scaled % unit];
    if (bitLength(kept) <= QUAD_BITS) break;
    twos++;
  }
  if (2n * rest > unit || (2n * rest === unit && kept % 2n === 1n)) kept++;
  const m = x.m < 0n ? -kept : kept;
  return twos >= 0 ? { m: m << BigInt(twos), e: 0 } : { m: m * 5n ** BigInt(-twos), e: twos };
}
const throughQuad = (x: Big): Decimal => rounded(quad(x));

/** Beyond these powers of e there is only infinity, or zero. */
const LIMIT = 14_300;
/** For numbers so small that the function is the identity to 34 digits. */
const TINY = -40;

/**
 * Applies a function to a finite number other than zero; zero and infinities have answers of their
 * own.
 */
function finite(
  atZero: (d: Decimal) => Decimal,
  atInfinity: (d: Decimal) => Decimal,
  compute: (x: Big, d: Decimal) => Decimal,
) {
  return (d: Decimal): Decimal => {
    if (d.isNaN) return Decimal.NaN;
    if (!d.isFinite) return atInfinity(d);
    return d.isZero ? atZero(d) : compute(quad(of(d)), d);
  };
}
/** An odd function that starts like x itself. */
const odd = (atInfinity: (d: Decimal) => Decimal, compute: (x: Big, d: Decimal) => Decimal) =>
  finite(
    () => Decimal.zero,
    atInfinity,
    (x, d) => (magnitude(x) < TINY ? d : compute(x, d)),
  );
const nan = (): Decimal => Decimal.NaN;
const same = (d: Decimal): Decimal => d;
const one = (): Decimal => Decimal.one;
const whole = (n: number): Decimal => Decimal.fromBigInt(BigInt(n));

/**
 * e^x and e^-x, or null when one of them is beyond the other's digits and may be beyond a decimal.
 */
function exponentials(x: Big): { up: Big; down: Big } {
  const up = exp(x);
  return { up, down: divide(ONE, up) };
}
const isLarge = (x: Big): boolean => magnitude(x) > 5 || Math.abs(Number(fixed(x, 0))) > LIMIT;
const half = (x: Big): Big => divide(x, { m: 2n, e: 0 });

const expOf = finite(
  one,
  (d) => (d.negative ? Decimal.zero : d),
  (x, d) => {
    if (isLarge(x)) return d.negative ? Decimal.make(false, 0n, -6176) : Decimal.Infinity;
    return throughQuad(exp(x));
  },
);
const sinhOf = odd(same, (x, d) => {
  if (isLarge(x)) return d.negative ? Decimal.NegativeInfinity : Decimal.Infinity;
  const { up, down } = exponentials(x);
  return throughQuad(half(add(up, negate(down))));
});
const coshOf = finite(
  one,
  () => Decimal.Infinity,
  (x) => {
    if (isLarge(x)) return Decimal.Infinity;
    const { up, down } = exponentials(x);
    return throughQuad(half(add(up, down)));
  },
);
const tanhOf = odd(
  (d) => (d.negative ? Decimal.one.negate() : Decimal.one),
  (x, d) => {
    if (isLarge(x) || Math.abs(Number(fixed(x, 0))) > 200)
      return throughQuad({ m: (d.negative ? -1n : 1n) * pow10(DIGITS), e: -DIGITS });
    const { up, down } = exponentials(x);
    return throughQuad(divide(add(up, negate(down)), add(up, down)));
  },
);

/** The natural logarithm of a number that is not negative. */
export const lnOf = finite(
  () => Decimal.NegativeInfinity,
  same,
  (x, d) => (d.compare(Decimal.one) === 0 ? Decimal.zero : throughQuad(ln(nearOne(d) ? of(d) : x))),
);
/** Near 1 the server takes the logarithm of the difference, which keeps its digits. */
const nearOne = (d: Decimal): boolean => magnitude(add(of(d), negate(ONE))) < 0;

/** The logarithm to a whole base, exact for its powers. */
function logOf(base: number): (d: Decimal) => Decimal {
  return finite(
    () => Decimal.NegativeInfinity,
    same,
    (x, d) => {
      const value = divide(ln(x), base === 10 ? ln10() : ln({ m: BigInt(base), e: 0 }));
      const near = Math.round(Number(fixed(value, 3)) / 1000);
      return isPower(of(d), base, near) ? whole(near) : throughQuad(value);
    },
  );
}
function isPower({ m, e }: Big, base: number, n: number): boolean {
  if (Math.abs(n) > 25_000) return false;
  const power = BigInt(base) ** BigInt(Math.abs(n));
  const [top, bottom] = e >= 0 ? [m * pow10(e), 1n] : [m, pow10(-e)];
  return n >= 0 ? top === power * bottom : top * power === bottom;
}
export const log10Of = logOf(10);
const log2Of = logOf(2);
export function logarithm(d: Decimal, base: Decimal): Decimal {
  if (base.compare(whole(10)) === 0) return log10Of(d);
  if (base.compare(whole(2)) === 0) return log2Of(d);
  return lnOf(d).divide(lnOf(base));
}

/** With all its 34 digits, as the server gives every power. */
function padded(d: Decimal): Decimal {
  return d.isFinite ? d.add(Decimal.make(false, 0n, -6176)) : d;
}

const infinity = (negative: boolean): Decimal =>
  negative ? Decimal.NegativeInfinity : Decimal.Infinity;

/** IEEE's power: 1 where either the base is 1 or the exponent 0. */
export function power(base: Decimal, exponent: Decimal): Decimal {
  if (exponent.isZero || base.compare(Decimal.one) === 0) return padded(Decimal.one);
  if (base.isNaN || exponent.isNaN) return Decimal.NaN;
  const isOdd =
    exponent.isInteger && (exponent.exponent > 0 ? 0n : exponent.toBigInt() % 2n) !== 0n;
  if (!exponent.isFinite) {
    const size = base.abs().compare(Decimal.one);
    if (size === 0) return padded(Decimal.one);
    return size > 0 === exponent.negative ? Decimal.zero : Decimal.Infinity;
  }
  if (!base.isFinite || base.isZero) {
    const grows = base.isZero === exponent.negative;
    const negative = base.negative && isOdd;
    return grows ? infinity(negative) : Decimal.zero;
  }
  if (base.negative && !exponent.isInteger) return Decimal.NaN;
  const negative = base.negative && isOdd;
  const scaled = multiply(of(exponent), ln(of(base.abs())));
  if (isLarge(scaled))
    return scaled.m < 0n ? Decimal.make(negative, 0n, -6176) : infinity(negative);
  const result = scaled.m === 0n ? ONE : exp(scaled);
  return padded(rounded(negative ? negate(result) : result));
}

/** The angle of a point, as `atan2` has it. */
export function atan2(y: Decimal, x: Decimal): Decimal {
  if (y.isNaN || x.isNaN) return Decimal.NaN;
  const sign = (b: Big): Decimal => throughQuad(y.negative ? negate(b) : b);
  const straight = big(pi(PLACES), -PLACES);
  if (!y.isFinite && x.isFinite) return sign(halfPi());
  if (!y.isFinite) return sign(x.negative ? multiply(halfPi(), { m: 15n, e: -1 }) : half(halfPi()));
  if (!x.isFinite || y.isZero) {
    if (x.negative) return sign(straight);
    return y.negative ? Decimal.zero.negate() : Decimal.zero;
  }
  if (x.isZero) return sign(halfPi());
  const angle = atan(divide(quad(of(y.abs())), quad(of(x.abs()))));
  return sign(x.negative ? add(straight, negate(angle)) : angle);
}

/** By the operator's name without its dollar. */
export const decimalFunctions = {
  exp: expOf,
  sin: odd(nan, (x) => throughQuad(circle(x).sin)),
  cos: finite(one, nan, (x) => throughQuad(circle(x).cos)),
  tan: odd(nan, (x) => {
    const { sin, cos } = circle(x);
    return throughQuad(divide(sin, cos));
  }),
  asin: odd(nan, (x) => throughQuad(asin(x))),
  acos: finite(
    () => throughQuad(halfPi()),
    nan,
    (x) =>
      add(x, negate(ONE)).m === 0n ? Decimal.zero : throughQuad(add(halfPi(), negate(asin(x)))),
  ),
  atan: odd(
    (d) => throughQuad(d.negative ? negate(halfPi()) : halfPi()),
    (x) => throughQuad(atan(x)),
  ),
  sinh: sinhOf,
  cosh: coshOf,
  tanh: tanhOf,
  asinh: odd(same, (x) => {
    const size: Big = { m: x.m < 0n ? -x.m : x.m, e: x.e };
    const result = ln(add(size, sqrt(add(ONE, square(size)))));
    return throughQuad(x.m < 0n ? negate(result) : result);
  }),
  acosh: finite(nan, same, (x) => {
    const rest = add(square(x), negate(ONE));
    return rest.m === 0n ? Decimal.zero : throughQuad(ln(add(x, sqrt(rest))));
  }),
  atanh: odd(nan, (x, d) => {
    const below = add(ONE, negate(x));
    const above = add(ONE, x);
    if (below.m === 0n || above.m === 0n)
      return d.negative ? Decimal.NegativeInfinity : Decimal.Infinity;
    return throughQuad(half(ln(divide(above, below))));
  }),
  degreesToRadians: (d) => d.multiply(RADIANS),
  radiansToDegrees: (d) => d.multiply(DEGREES),
} satisfies Record<string, (d: Decimal) => Decimal>;

// The server multiplies by these, rounded as they are.
const RADIANS = Decimal.make(false, 1745329251994329576923690768488613n, -35);
const DEGREES = Decimal.make(false, 5729577951308232087679815481410517n, -32);
