import fc from 'fast-check';
import { Decimal128 } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { Decimal } from './decimal';

const d = (text: string): Decimal => Decimal.parse(text) as Decimal;

describe('Decimal', () => {
  it.each([
    ['1.10', '2', '3.10', '2.20', '0.55'],
    ['1', '3', '4', '3', '0.3333333333333333333333333333333333'],
    ['2', '3', '5', '6', '0.6666666666666666666666666666666667'],
    ['-7', '0.5', '-6.5', '-3.5', '-14'],
    ['1E+3', '1', '1001', '1E+3', '1E+3'],
    [
      '9999999999999999999999999999999999',
      '1',
      '1.000000000000000000000000000000000E+34',
      '9999999999999999999999999999999999',
      '9999999999999999999999999999999999',
    ],
  ])('%s and %s', (a, b, sum, product, quotient) => {
    expect(d(a).add(d(b)).toString()).toBe(sum);
    expect(d(a).multiply(d(b)).toString()).toBe(product);
    expect(d(a).divide(d(b)).toString()).toBe(quotient);
  });

  it('reads and writes the same bytes as the driver', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 34n) + 1n, max: 10n ** 34n - 1n }),
        fc.integer({ min: -6000, max: 6000 }),
        (n, e) => {
          const ours = Decimal.make(n < 0n, n < 0n ? -n : n, e);
          const theirs = Decimal128.fromString(`${n}E${e}`);
          expect(Buffer.from(ours.toBytes()).toString('hex')).toBe(
            Buffer.from(theirs.bytes).toString('hex'),
          );
          expect(Decimal.fromBytes(theirs.bytes, 0).toString()).toBe(theirs.toString());
        },
      ),
    );
  });

  it('makes 15 digits of a double, or all that count', () => {
    expect(Decimal.fromDouble(0.1).toString()).toBe('0.100000000000000');
    expect(Decimal.fromDouble(2.5).toString()).toBe('2.50000000000000');
    expect(Decimal.fromDoubleExact(0.1).toString()).toBe('0.1000000000000000055511151231257827');
  });

  it('takes roots', () => {
    expect(d('2').sqrt().toString()).toBe('1.414213562373095048801688724209698');
    expect(d('144').sqrt().toString()).toBe('12');
    expect(d('0.25').sqrt().toString()).toBe('0.5');
  });
});
