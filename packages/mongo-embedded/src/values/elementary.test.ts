import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../bson/decimal';
import { atan2, decimalFunctions, lnOf, power } from './decimal-functions';
import * as elementary from './elementary';

/** Decimals have 34 digits: rounded to a double they are right but for the rarest of cases. */
const exactly =
  (compute: (n: Decimal) => Decimal) =>
  (x: number): number =>
    compute(Decimal.fromDoubleExact(x)).toNumber();
const number = (min: number, max: number): fc.Arbitrary<number> =>
  fc.double({ min, max, noNaN: true, noDefaultInfinity: true }).filter((x) => x !== 0);

describe('functions of doubles are rounded correctly', () => {
  const cases: [string, (x: number) => number, (x: number) => number, fc.Arbitrary<number>][] = [
    ['exp', elementary.exp, exactly(decimalFunctions.exp), number(-50, 50)],
    ['log', elementary.log, exactly(lnOf), number(1e-5, 1e9)],
    [
      'log near one',
      elementary.log,
      exactly(lnOf),
      number(0.999, 1.001).filter((x) => Math.abs(x - 1) > 1e-9),
    ],
    ['sin', elementary.sin, exactly(decimalFunctions.sin), number(-10, 10)],
    ['cos', elementary.cos, exactly(decimalFunctions.cos), number(-10, 10)],
    ['tan', elementary.tan, exactly(decimalFunctions.tan), number(-1.5, 1.5)],
    ['asin', elementary.asin, exactly(decimalFunctions.asin), number(-0.99, 0.99)],
    ['acos', elementary.acos, exactly(decimalFunctions.acos), number(-0.98, 0.98)],
    ['atan', elementary.atan, exactly(decimalFunctions.atan), number(-20, 20)],
  ];
  it.each(cases)('%s', (_name, ours, exact, values) => {
    fc.assert(
      fc.property(values, (x) => Math.abs(x) < 1e-6 || ours(x) === exact(x)),
      { numRuns: 200 },
    );
  });
  it('pow', () => {
    fc.assert(
      fc.property(
        number(0.01, 50),
        number(-8, 8),
        (x, y) =>
          Math.abs(y) < 1e-6 ||
          elementary.pow(x, y) ===
            power(Decimal.fromDoubleExact(x), Decimal.fromDoubleExact(y)).toNumber(),
      ),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: -1000, max: 1000 }),
        fc.integer({ min: 1, max: 40 }),
        (x, y) => elementary.pow(x, y) === Number(BigInt(x) ** BigInt(y)),
      ),
    );
  });
  it('atan2', () => {
    fc.assert(
      fc.property(
        number(-9, 9),
        number(-9, 9),
        (y, x) =>
          Math.min(Math.abs(x), Math.abs(y)) < 1e-6 ||
          elementary.atan2(y, x) ===
            atan2(Decimal.fromDoubleExact(y), Decimal.fromDoubleExact(x)).toNumber(),
      ),
      { numRuns: 200 },
    );
  });
  it('log10 of powers of ten', () => {
    for (let k = -20; k <= 300; k++) expect(elementary.log10(Number(`1e${k}`))).toBe(k);
  });
  it('leaves what is special as it is', () => {
    for (const f of ['exp', 'log', 'log10', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan'] as const) {
      for (const x of [0, -0, 1, -1, NaN, Infinity, -Infinity, 1e-300, 5e-324, 1e300, -1e300]) {
        const [ours, theirs] = [elementary[f](x), Math[f](x)];
        if (Number.isFinite(theirs))
          expect(Math.abs(ours - theirs)).toBeLessThanOrEqual(Math.abs(theirs) * 1e-15);
        else expect(ours).toBe(theirs);
      }
    }
    for (const [x, y] of [
      [0, 0],
      [0, 3],
      [-0, 3],
      [2, Infinity],
      [-2, 0.5],
      [-2, 3],
      [1, NaN],
      [1e300, 2],
      [1e-300, 2],
      [2, 1023],
      [2, -1074],
      [5e-324, 0.5],
      [-1, 1e300],
    ] as const) {
      expect(elementary.pow(x, y)).toBe(Math.pow(x, y));
    }
    for (const [y, x] of [
      [0, 0],
      [-0, -1],
      [1, 0],
      [Infinity, -Infinity],
      [5e-324, 1e308],
      [NaN, 1],
    ] as const)
      expect(elementary.atan2(y, x)).toBe(Math.atan2(y, x));
  });
});
