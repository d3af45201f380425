import { describe, expect, it } from 'vitest';
import { renamePath } from './map-paths';
import { readPipeline } from './stage';

describe('readPipeline', () => {
  it.each([
    [[{ $match: { a: 1 } }, { $unwind: '$b' }, { $sample: { size: 3 } }]],
    [[{ $lookup: { from: 'b', let: { x: '$x' }, pipeline: [{ $limit: 1 }], as: 'c' } }]],
    [[{ $facet: { a: [{ $count: 'n' }], b: [] } }]],
  ])('takes %j', (pipeline) => {
    expect(readPipeline(pipeline)).toBe(pipeline);
  });

  it.each([
    ['no array', { $match: {} }],
    ['no stage', ['$match']],
    ['two stages in one', [{ $match: {}, $limit: 1 }]],
    ['a stage that does not exist', [{ $filter: {} }]],
    ['a path without its sign', [{ $unwind: 'b' }]],
    ['a join without a field for the partners', [{ $lookup: { from: 'b', pipeline: [] } }]],
    ['a group without a key', [{ $group: { n: { $sum: 1 } } }]],
    [
      'the same deep inside',
      [{ $facet: { a: [{ $lookup: { from: 'b', pipeline: [{ a: 1 }], as: 'c' } }] } }],
    ],
  ])('leaves %s alone', (_, pipeline) => {
    expect(readPipeline(pipeline)).toBeUndefined();
  });
});

describe('renamePath', () => {
  it.each([
    [
      'a field that is called sortBy',
      { $group: { _id: null, sortBy: { $sum: '$a' } } },
      { $group: { _id: null, sortBy: { $sum: '$b' } } },
    ],
    [
      'an accumulator that sorts documents',
      { $group: { _id: null, x: { $top: { sortBy: { a: 1 }, output: '$a.c' } } } },
      { $group: { _id: null, x: { $top: { sortBy: { b: 1 }, output: '$b.c' } } } },
    ],
    [
      'not what sorts the elements of an array',
      { $set: { x: { $sortArray: { input: '$a', sortBy: { a: 1 } } } } },
      { $set: { x: { $sortArray: { input: '$b', sortBy: { a: 1 } } } } },
    ],
    ['not text', { $set: { x: { $literal: '$a' } } }, { $set: { x: { $literal: '$a' } } }],
  ])('%s', (_, stage, expected) => {
    expect(renamePath(stage as never, 'a', 'b')).toEqual(expected);
  });
});
