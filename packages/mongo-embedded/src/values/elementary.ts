/**
 * Functions of doubles, rounded correctly: what the C library of a server gives (glibc: within
 * about half a unit in the last place), and JavaScript's own, which is free in the last digit,
 * often does not. Computed with pairs of doubles, a value and what it lacks (T. J. Dekker,
 * Numerische Mathematik 18, 1971), around JavaScript's answer or by short series.
 */

type Pair = readonly [number, number];

const SPLITTER = 2 ** 27 + 1;
function sum(a: number, b: number): Pair {
  const s = a + b;
  const t = s - a;
  return [s, a - (s - t) + (b - t)];
}
function product(a: number, b: number): Pair {
  const p = a * b;
  const c = SPLITTER * a;
  const ah = c - (c - a);
  const al = a - ah;
  const d = SPLITTER * b;
  const bh = d - (d - b);
  const bl = b - bh;
  return [p, ah * bh - p + ah * bl + al * bh + al * bl];
}
function add(a: Pair, b: Pair): Pair {
  const [s, e] = sum(a[0], b[0]);
  const [t, f] = sum(a[1], b[1]);
  const [u, g] = sum(s, e + t);
  return sum(u, g + f);
}
function times(a: Pair, b: Pair): Pair {
  const [p, e] = product(a[0], b[0]);
  return sum(p, e + (a[0] * b[1] + a[1] * b[0]));
}
const scaled = (a: Pair, power: number): Pair => [a[0] * power, a[1] * power];
const minus = (a: Pair): Pair => [-a[0], -a[1]];
function over(a: Pair, b: Pair): Pair {
  const q = a[0] / b[0];
  const rest = add(a, minus(times(b, [q, 0])));
  return sum(q, (rest[0] + rest[1]) / b[0]);
}

const reciprocals = Array.from({ length: 1200 }, (_, n) => over([1, 0], [n || 1, 0]));
const part = (a: Pair, n: number): Pair => times(a, reciprocals[n] as Pair);

// Constants in pieces: a whole number times one of the first is exact.
const LN2 = [0.6931471803691238, 1.9082149288430703e-10, 4.275175589747649e-20] as const;
const HALF_PI = [
  1.5707963267341256, 6.07710050359346e-11, 2.9127320548227e-20, 1.2706558753320886e-29,
  6.81899229294183e-39,
] as const;
/** A whole number of a constant, with more digits than a pair has. */
function multiple(n: number, pieces: readonly number[]): Pair[] {
  return pieces.map((piece) => product(n, piece));
}

/** e to a small power, less one. */
function smallExponential(r: Pair): Pair {
  const x = scaled(r, 1 / 256);
  let term: Pair = x;
  let total: Pair = x;
  for (let n = 2; n <= 11; n++) {
    term = part(times(term, x), n);
    total = add(total, term);
  }
  // (1 + t)² = 1 + 2t + t²
  for (let i = 0; i < 8; i++) total = add(scaled(total, 2), times(total, total));
  return total;
}

/** e to a power between −700 and 700. */
function exponential(x: Pair): Pair {
  const k = Math.round(x[0] / LN2[0]);
  let r = x;
  for (const piece of multiple(k, LN2)) r = add(r, minus(piece));
  const e = add([1, 0], smallExponential(r));
  const half = Math.trunc(k / 2);
  return scaled(scaled(e, 2 ** half), 2 ** (k - half));
}

const view = new DataView(new ArrayBuffer(8));
/** A positive normal number as one from √½ to √2 and a power of two. */
function parts(x: number): { m: number; k: number } {
  view.setFloat64(0, x);
  const high = view.getUint32(0);
  view.setUint32(0, (high & 0xfffff) | 0x3ff00000);
  const m = view.getFloat64(0);
  const k = (high >>> 20) - 1023;
  return m > Math.SQRT2 ? { m: m / 2, k: k + 1 } : { m, k };
}

/** Of a positive number that is not subnormal. */
function logarithm(x: number): Pair {
  const { m, k } = parts(x);
  const near = Math.abs(m - 1) < 1e-3 ? nearOne(m) : refined(m);
  return multiple(k, LN2).reduceRight((total, piece) => add(total, piece), near);
}
/** log m = 2 artanh((m − 1) / (m + 1)). */
function nearOne(m: number): Pair {
  const s = over(sum(m, -1), sum(m, 1));
  const square = times(s, s);
  let power = s;
  let total = s;
  for (let n = 3; n <= 15; n += 2) {
    power = times(power, square);
    total = add(total, part(power, n));
  }
  return scaled(total, 2);
}
function refined(m: number): Pair {
  const y = Math.log(m);
  const [high, low] = add(times([m, 0], exponential([-y, 0])), [-1, 0]);
  const w = high + low;
  return add([y, 0], sum(high, low - (w * w) / 2));
}

/** The angle from the nearest quarter of a circle, and which quarter that is. */
function quartered(x: number): { r: Pair; quarter: number } {
  const n = Math.round(x / (Math.PI / 2));
  let r: Pair = [x, 0];
  for (const piece of multiple(n, HALF_PI)) r = add(r, minus(piece));
  return { r, quarter: ((n % 4) + 4) % 4 };
}
function series(first: Pair, x2: Pair, from: number): Pair {
  let term = first;
  let total = first;
  for (let n = from; n < 34; n += 2) {
    term = minus(part(times(term, x2), n * (n + 1)));
    total = add(total, term);
  }
  return total;
}
function sineAndCosine(x: number): { sine: Pair; cosine: Pair } {
  const { r, quarter } = quartered(x);
  const square = times(r, r);
  const s = series(r, square, 2);
  const c = series([1, 0], square, 1);
  const sine = quarter % 2 === 0 ? s : c;
  const cosine = quarter % 2 === 0 ? c : s;
  return {
    sine: quarter >= 2 ? minus(sine) : sine,
    cosine: quarter === 1 || quarter === 2 ? minus(cosine) : cosine,
  };
}

// ---- functions of one or two numbers; where pairs do not reach, JavaScript's

const SMALLEST_NORMAL = 2 ** -1022;

export function exp(x: number): number {
  return Math.abs(x) < 700 && x !== 0 ? exponential([x, 0])[0] : Math.exp(x);
}
export function log(x: number): number {
  return x >= SMALLEST_NORMAL && x < Infinity && x !== 1 ? logarithm(x)[0] : Math.log(x);
}
/** As the C library computes it, from the natural logarithm, and so with its error. */
export function log10(x: number): number {
  if (!(x >= SMALLEST_NORMAL && x < Infinity)) return Math.log10(x);
  view.setFloat64(0, x);
  const high = view.getUint32(0);
  const k = (high >>> 20) - 1023;
  const below = k < 0 ? 1 : 0;
  view.setUint32(0, (high & 0xfffff) | ((0x3ff - below) << 20));
  const y = k + below;
  return (
    y * 3.69423907715893078616e-13 +
    4.34294481903251816668e-1 * log(view.getFloat64(0)) +
    y * 3.01029995663611771306e-1
  );
}
export function pow(x: number, y: number): number {
  if (
    !Number.isFinite(x) ||
    !Number.isFinite(y) ||
    x === 0 ||
    y === 0 ||
    Math.abs(x) < SMALLEST_NORMAL
  )
    return Math.pow(x, y);
  if (x < 0 && !Number.isInteger(y)) return NaN;
  if (x < 0) return y % 2 === 0 ? pow(-x, y) : -pow(-x, y);
  const whole = wholePower(x, y);
  if (whole !== null) return whole;
  const power = times(logarithm(x), [y, 0]);
  return Math.abs(power[0]) < 700 ? exponential(power)[0] : Math.pow(x, y);
}
/** Exact powers may lie in the middle between two doubles, where pairs cannot decide. */
function wholePower(x: number, y: number): number | null {
  if (!Number.isInteger(y) || y < 1 || y > 64) return null;
  let e = 0;
  let m = x;
  for (; !Number.isInteger(m) && e > -1000; e--) m *= 2;
  if (!Number.isInteger(m) || m > Number.MAX_SAFE_INTEGER) return null;
  const result = Number(BigInt(m) ** BigInt(y)) * 2 ** (e * y);
  return result >= SMALLEST_NORMAL && result < Infinity && 2 ** (e * y) >= SMALLEST_NORMAL
    ? result
    : null;
}

const MOST_TURNS = 2 ** 20;
const within = (x: number): boolean => Math.abs(x) < MOST_TURNS && Math.abs(x) > 1e-100;
export const sin = (x: number): number => (within(x) ? sineAndCosine(x).sine[0] : Math.sin(x));
export const cos = (x: number): number => (within(x) ? sineAndCosine(x).cosine[0] : Math.cos(x));
export function tan(x: number): number {
  if (!within(x)) return Math.tan(x);
  const { sine, cosine } = sineAndCosine(x);
  return over(sine, cosine)[0];
}

/** One step of Newton's method from a value that is right in all but the last digit. */
const corrected = (y: number, by: Pair): number => add([y, 0], by)[0];
export function asin(x: number): number {
  if (!(Math.abs(x) < 1 && Math.abs(x) > 1e-100)) return Math.asin(x);
  const y = Math.asin(x);
  const { sine, cosine } = sineAndCosine(y);
  return corrected(y, over(add([x, 0], minus(sine)), cosine));
}
export function acos(x: number): number {
  if (!(Math.abs(x) < 0.99 && Math.abs(x) > 1e-100)) return Math.acos(x);
  const y = Math.acos(x);
  const { sine, cosine } = sineAndCosine(y);
  return corrected(y, over(add(cosine, [-x, 0]), sine));
}
export const atan = (x: number): number => atan2(x, 1);
/** The angle of a point. */
export function atan2(y: number, x: number): number {
  const angle = Math.atan2(y, x);
  const largest = Math.max(Math.abs(x), Math.abs(y));
  const least = Math.min(Math.abs(x), Math.abs(y));
  if (!(
    largest < Infinity &&
    least > 0 &&
    least / largest > 1e-30 &&
    least > 1e-270 &&
    largest < 1e270
  ))
    return angle;
  const { k } = parts(largest);
  const [a, b] = [y * 2 ** -k, x * 2 ** -k];
  const { sine, cosine } = sineAndCosine(angle);
  const off = add(times([a, 0], cosine), minus(times([b, 0], sine)));
  return corrected(angle, over(off, add(times([b, 0], cosine), times([a, 0], sine))));
}
