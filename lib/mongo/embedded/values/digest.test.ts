import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Digest, discretePercentiles } from './digest';

const fail = (): Error => new Error('unanswerable');
function digestOf(values: Iterable<number>): Digest {
  const digest = new Digest();
  for (const v of values) digest.add(v);
  return digest;
}
const ps = [0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999, 1];
/** Numbers in no order, the same every time. */
const scattered = (n: number): number[] => Array.from({ length: n }, (_, i) => ((i * 7919) % n) + 1);

describe('a digest', () => {
  it('is exact of few values', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 1500 }), (values) => {
        expect(digestOf(values).percentiles(ps, fail)).toEqual(discretePercentiles(values, ps));
      }),
      { numRuns: 30 },
    );
  });
  it('is near the truth of many, exact at both ends, and grows', () => {
    const found = digestOf(scattered(100_000)).percentiles(ps, fail) as number[];
    expect(found[0]).toBe(1);
    expect(found[8]).toBe(100_000);
    ps.forEach((p, i) => expect(Math.abs((found[i] as number) - p * 100_000)).toBeLessThan(100));
    expect([...found].sort((a, b) => a - b)).toEqual(found);
  });
  it('interpolates where values were put together', () => {
    // In the middle a centroid takes in up to a thousandth of all values, at the ends one.
    const squares = Array.from({ length: 6000 }, (_, i) => (i + 1) ** 2);
    const many = digestOf(squares);
    expect(many.percentiles([0.0001, 0.9999], fail)).toEqual([1, 6000 ** 2]);
    const [middle] = many.percentiles([0.5], fail) as [number];
    expect(squares).not.toContain(middle);
    expect(Math.sqrt(middle)).toBeCloseTo(3000, -1);
  });
  it('depends on the order of the values once there are several buffers', () => {
    const values = Array.from({ length: 20_000 }, (_, i) => i ** 2);
    const up = digestOf(values).percentiles([0.123, 0.5, 0.77], fail) as number[];
    const mixed = digestOf(values.map((_, i) => values[(i * 7919) % values.length] as number)).percentiles([0.123, 0.5, 0.77], fail) as number[];
    up.forEach((v, i) => expect(Math.abs(v - (mixed[i] as number)) / v).toBeLessThan(0.01));
  });
  it('counts infinities and leaves NaN out', () => {
    const digest = digestOf([NaN, Infinity, 1, -Infinity, 2]);
    expect(digest.percentiles([0, 0.25, 0.5, 0.75, 1], fail)).toEqual([-Infinity, -Infinity, 1, 2, Infinity]);
    expect(digestOf([NaN]).percentiles([0.5], fail)).toBeNull();
  });
  it('refuses the greatest of what is not positive', () => {
    expect(() => digestOf([-1, -2]).percentiles([1], fail)).toThrow('unanswerable');
    expect(digestOf([-1, -2]).percentiles([0.5, 0.99], fail)).toEqual([-2, -1]);
    expect(() => digestOf([Infinity]).percentiles([0], fail)).toThrow('unanswerable');
  });
});
