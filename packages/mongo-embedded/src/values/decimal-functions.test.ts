import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atan2, decimalFunctions, lnOf, log10Of, power } from './decimal-functions';
import { Decimal } from '../bson/decimal';

const decimal = (text: string): Decimal => Decimal.parse(text) as Decimal;

/** The same number as a double's function gives, as far as a double tells. */
function agree(got: Decimal, wanted: number): void {
  if (Number.isNaN(wanted) || !Number.isFinite(wanted)) expect(got.toNumber()).toBe(wanted);
  else
    expect(Math.abs(got.toNumber() - wanted)).toBeLessThanOrEqual(
      1e-13 * Math.max(1, Math.abs(wanted)),
    );
}

describe('functions of decimals', () => {
  const ranges: Record<string, [number, number]> = {
    asin: [-1, 1],
    acos: [-1, 1],
    atanh: [-0.999, 0.999],
    acosh: [1, 500],
  };
  for (const name of [
    'exp',
    'sin',
    'cos',
    'tan',
    'asin',
    'acos',
    'atan',
    'sinh',
    'cosh',
    'tanh',
    'asinh',
    'acosh',
    'atanh',
  ] as const) {
    it(`${name} agrees with that of doubles`, () => {
      const [min, max] = ranges[name] ?? [-20, 20];
      fc.assert(
        fc.property(fc.double({ min, max, noNaN: true }), (x) => {
          const d = decimal(x.toFixed(9));
          agree(decimalFunctions[name](d), Math[name](d.toNumber()));
        }),
        { numRuns: 60 },
      );
    });
  }
  it('logarithms and powers agree too', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-6, max: 1e9, noNaN: true }),
        fc.double({ min: -5, max: 5, noNaN: true }),
        (x, y) => {
          const [a, b] = [decimal(x.toPrecision(12)), decimal(y.toFixed(6))];
          agree(lnOf(a), Math.log(a.toNumber()));
          agree(log10Of(a), Math.log10(a.toNumber()));
          const wanted = Math.pow(a.toNumber(), b.toNumber());
          expect(Math.abs(power(a, b).toNumber() / wanted - 1)).toBeLessThan(1e-12);
        },
      ),
      { numRuns: 60 },
    );
  });
  it('reach where doubles do not', () => {
    expect(power(decimal('10'), decimal('-6000')).toString()).toBe(
      '1.000000000000000000000000000000000E-6000',
    );
    expect(decimalFunctions.exp(decimal('10000')).toString()).toMatch(
      /^8\.8068182256629215872614960076445\d\dE\+4342$/,
    );
    expect(decimalFunctions.sin(decimal('1E-60')).toString()).toBe('1E-60');
    expect(decimalFunctions.tanh(decimal('1E+10')).toNumber()).toBe(1);
    expect(atan2(decimal('-0'), decimal('-1')).toString()).toBe(
      '-3.141592653589793238462643383279503',
    );
  });
});
