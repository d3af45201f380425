import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { discretePercentiles, GroupPercentiles } from './digest';

const fail = (): Error => new Error('unanswerable');
function digestOf(values: Iterable<number>): GroupPercentiles {
  const digest = new GroupPercentiles();
  for (const v of values) digest.add(v);
  return digest;
}
const ps = [0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999, 1];
/** Numbers in no order, the same every time. */
const scattered = (n: number): number[] =>
  Array.from({ length: n }, (_, i) => ((i * 7919) % n) + 1);

describe('a digest', () => {
  it('is exact of few values', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), {
          minLength: 1,
          maxLength: 1500,
        }),
        (values) => {
          expect(digestOf(values).percentiles(ps, fail)).toEqual(discretePercentiles(values, ps));
        },
      ),
      { numRuns: 30 },
    );
  });
  it('is near the truth of what it puts together, exact at both ends, and grows', () => {
    const found = digestOf(scattered(5_500)).percentiles(ps, fail) as number[];
    expect(found[0]).toBe(1);
    expect(found[8]).toBe(5_500);
    ps.forEach((p, i) => expect(Math.abs((found[i] as number) - p * 5_500)).toBeLessThan(6));
    expect([...found].sort((a, b) => a - b)).toEqual(found);
  });
  it('answers of many only what does not depend on how many are sorted at once', () => {
    const many = digestOf(scattered(100_000));
    expect(many.percentiles([0, 1], fail)).toEqual([1, 100_000]);
    expect(() => many.percentiles([0.123], fail)).toThrow('unanswerable');
    expect(digestOf(Array.from({ length: 50_000 }, () => 7)).percentiles([0.5], fail)).toEqual([7]);
  });
  it('interpolates where values were put together', () => {
    // In the middle a centroid takes in up to a thousandth of all values, at the ends one.
    const squares = Array.from({ length: 5999 }, (_, i) => (i + 1) ** 2);
    const many = digestOf(squares);
    expect(many.percentiles([0.0001, 0.9999], fail)).toEqual([1, 5999 ** 2]);
    const [middle] = many.percentiles([0.5], fail) as [number];
    expect(squares).not.toContain(middle);
    expect(Math.sqrt(middle)).toBeCloseTo(3000, -1);
  });
  it('counts infinities and leaves NaN out', () => {
    const digest = digestOf([NaN, Infinity, 1, -Infinity, 2]);
    expect(digest.percentiles([0, 0.25, 0.5, 0.75, 1], fail)).toEqual([
      -Infinity,
      -Infinity,
      1,
      2,
      Infinity,
    ]);
    expect(digestOf([NaN]).percentiles([0.5], fail)).toBeNull();
  });
  it('refuses the greatest of what is not positive', () => {
    expect(() => digestOf([-1, -2]).percentiles([1], fail)).toThrow('unanswerable');
    expect(digestOf([-1, -2]).percentiles([0.5, 0.99], fail)).toEqual([-2, -1]);
    expect(() => digestOf([Infinity]).percentiles([0], fail)).toThrow('unanswerable');
  });
});
