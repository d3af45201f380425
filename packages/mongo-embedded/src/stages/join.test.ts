import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

let engine: TestEngine;
beforeAll(() => {
  engine = new TestEngine();
  engine.fill(
    'outer',
    Array.from({ length: 200 }, (_, i) => ({ _id: i, k: i % 10 })),
  );
  engine.fill(
    'inner',
    Array.from({ length: 500 }, (_, i) => ({ _id: i, k: i % 20, active: i % 2 === 0 })),
  );
  engine.fill('none', []);
});
afterAll(() => engine.close());

const lookup = (pipeline: object[], variables: object = { k: '$k' }): object => ({
  $lookup: { from: 'inner', let: variables, pipeline, as: 'found' },
});
const sameKey = { $match: { $expr: { $eq: ['$k', '$$k'] } } };
const examined = (stage: object): number => {
  const reply = engine.run({
    explain: { aggregate: 'outer', pipeline: [stage], cursor: {} },
    verbosity: 'executionStats',
  });
  return (reply.executionStats as { totalDocsExamined: number }).totalDocsExamined;
};

describe('the beginning of a sub-pipeline that is the same for all documents', () => {
  it('runs once', () => {
    expect(examined(lookup([{ $match: { active: true } }, sameKey]))).toBeLessThanOrEqual(
      200 + 500,
    );
    expect(
      examined(
        lookup([{ $match: { active: true } }, { $match: { $expr: { $gt: ['$k', '$$k'] } } }]),
      ),
    ).toBeLessThanOrEqual(200 + 500);
  });
  it('gives what it would without', () => {
    for (const rest of [
      [sameKey],
      [{ $match: { $expr: { $lt: ['$k', '$$k'] } } }, { $limit: 3 }],
      [{ $project: { d: { $subtract: ['$k', '$$k'] } } }],
    ]) {
      const head = [
        { $match: { active: true } },
        { $sort: { _id: -1 } },
        { $limit: 100 },
        { $set: { twice: { $multiply: ['$k', 2] } } },
      ];
      const whole = engine.aggregate('outer', [lookup([...head, ...rest])]);
      // A condition on the variable that always holds makes the head differ for each document.
      const apart = engine.aggregate('outer', [
        lookup([{ $match: { $expr: { $gte: ['$$k', 0] } } }, ...head, ...rest]),
      ]);
      expect(whole).toEqual(apart);
    }
  });
  it('is not run for nothing, and no further than it is asked for', () => {
    const failing = { $set: { x: { $divide: [1, { $subtract: ['$_id', 3] }] } } };
    expect(engine.aggregate('none', [lookup([failing, sameKey])])).toEqual([]);
    expect(
      engine.aggregate('outer', [
        { $limit: 5 },
        lookup([failing, { $set: { k: '$$k' } }, { $limit: 3 }]),
      ]),
    ).toHaveLength(5);
    expect(() => engine.aggregate('outer', [lookup([failing, sameKey])])).toThrow(/divide by zero/);
  });
  it('ends where chance comes in', () => {
    const numbers = (pipeline: object[]): number => {
      const docs = engine.aggregate('outer', [
        { $limit: 20 },
        lookup(pipeline),
        { $project: { r: { $first: '$found.r' } } },
      ]);
      return new Set(docs.map((d) => d.r as number)).size;
    };
    expect(numbers([{ $limit: 1 }, { $set: { r: { $rand: {} } } }])).toBe(20);
    expect(
      numbers([
        { $limit: 1 },
        { $set: { r: { $rand: {} } } },
        { $match: { $expr: { $gte: ['$$k', 0] } } },
      ]),
    ).toBe(20);
    expect(
      numbers([{ $limit: 1 }, { $set: { r: 1 } }, { $match: { $expr: { $gte: ['$$k', 0] } } }]),
    ).toBe(1);
  });
});
