import fc from 'fast-check';
import { Double, type Document } from 'mongodb';
import { afterAll, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

const engine = new TestEngine();
afterAll(() => engine.close());

const compare = (x: number, y: number): number => Number(x > y) - Number(x < y);

it('sorts by numeric keys as by comparing, equal documents in their order', () => {
  const edge = fc.constantFrom(Infinity, -Infinity, -0, 0, 1e308, 5e-324, 2 ** 40, -1.5);
  const number = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.integer(),
    fc.double({ noNaN: true }),
    edge,
  );
  const direction = fc.constantFrom(1, -1);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(number, number, number), { maxLength: 60 }),
      direction,
      direction,
      direction,
      fc.integer({ min: 1, max: 3 }),
      (rows, a, b, c, keys) => {
        const docs = rows.map(([x, y, z], _id): Document => ({
          _id,
          x: new Double(x),
          y: new Double(y),
          z: new Double(z),
        }));
        engine.fill('rows', docs);
        const sort = Object.fromEntries(Object.entries({ x: a, y: b, z: c }).slice(0, keys));
        const sorted = engine
          .aggregate('rows', [{ $sort: sort }, { $project: { _id: 1 } }])
          .map((d) => d._id as number);
        const order = [a, b, c].slice(0, keys);
        const at = (i: number): readonly number[] => rows[i] as readonly number[];
        const expected = rows
          .map((_, i) => i)
          .sort(
            (i, j) =>
              order.reduce(
                (found, d, k) => found || d * compare(at(i)[k] as number, at(j)[k] as number),
                0,
              ) || i - j,
          );
        expect(sorted).toEqual(expected);
      },
    ),
    { numRuns: 200 },
  );
});
