import { describe, expect, it } from 'vitest';
import type { Pipeline, Stage } from '../mql/stage';
import type { PlanNode } from './plan';
import { readPlan } from './read-plan';
import { writePlan } from './write-plan';

const lookup: Stage = {
  $lookup: { from: 'team', localField: 'team_id', foreignField: '_id', as: 'team' },
};
const join = {
  kind: 'join',
  scan: 'team',
  key: { localField: 'team_id', foreignField: '_id' },
  variables: {},
  nodes: [],
  as: 'team',
} as const;

describe('a pipeline is read as the plan that it carries out', () => {
  const cases: readonly (readonly [string, Pipeline, readonly PlanNode[]])[] = [
    ['an inner join', [lookup, { $unwind: '$team' }], [{ ...join, join: 'inner' }]],
    [
      'a left join',
      [lookup, { $unwind: { path: '$team', preserveNullAndEmptyArrays: true } }],
      [{ ...join, join: 'left' }],
    ],
    ['a semi join', [lookup, { $match: { team: { $ne: [] } } }], [{ ...join, join: 'semi' }]],
    ['partners as an array', [lookup], [{ ...join, join: 'array' }]],
    [
      'partners that are mostly kept',
      [
        lookup,
        { $set: { team: { $concatArrays: ['$teams', '$team'] } } },
        { $unwind: '$team' },
        { $limit: 2 },
      ],
      [
        { ...join, join: 'inner', kept: 'teams' },
        { kind: 'limit', rows: 2 },
      ],
    ],
    [
      'a row or a default',
      [
        { $facet: { rows: [{ $count: 'n' }] } },
        { $project: { n: { $ifNull: [{ $first: '$rows.n' }, 0] } } },
      ],
      [
        {
          kind: 'oneRow',
          nodes: [{ kind: 'written', stage: { $count: 'n' } }],
          defaults: { of: 'field', field: 'n', from: 'n', value: 0 },
        },
      ],
    ],
    [
      'a row or a row of defaults',
      [
        { $facet: { rows: [{ $limit: 1 }] } },
        { $replaceWith: { $mergeObjects: [{ n: 0 }, { $first: '$rows' }] } },
      ],
      [
        {
          kind: 'oneRow',
          nodes: [{ kind: 'limit', rows: 1 }],
          defaults: { of: 'row', fields: { n: 0 } },
        },
      ],
    ],
  ];
  it.each(cases)('%s', (_, pipeline, nodes) => {
    expect(readPlan(pipeline)).toEqual(nodes);
    expect(writePlan(nodes)).toEqual(pipeline);
  });
});

describe('what only looks like it is something else', () => {
  const kinds = (pipeline: Pipeline): string[] =>
    readPlan(pipeline).map((node) => (node.kind === 'join' ? node.join : node.kind));

  const cases: readonly (readonly [string, Pipeline, readonly string[]])[] = [
    [
      'positions are asked for',
      [lookup, { $unwind: { path: '$team', includeArrayIndex: 'place' } }],
      ['array', 'written'],
    ],
    ['another array is unwound', [lookup, { $unwind: '$goals' }], ['array', 'unwind']],
    [
      'the filter asks for more',
      [lookup, { $match: { team: { $ne: [] }, age: 3 } }],
      ['array', 'filter'],
    ],
    [
      'two arrays of which neither is the partners',
      [lookup, { $set: { team: { $concatArrays: ['$a', '$b'] } } }, { $unwind: '$team' }],
      ['array', 'compute', 'unwind'],
    ],
    [
      'the array takes the partners twice',
      [lookup, { $set: { team: { $concatArrays: ['$a', '$team', '$team'] } } }],
      ['array', 'compute'],
    ],
    [
      'two branches',
      [
        { $facet: { rows: [], more: [] } },
        { $project: { n: { $ifNull: [{ $first: '$rows.n' }, 0] } } },
      ],
      ['written', 'project'],
    ],
    [
      'a default behind another one',
      [
        { $facet: { rows: [] } },
        { $project: { n: { $ifNull: [{ $first: '$rows.n' }, '$rows.m', 0] } } },
      ],
      ['written', 'project'],
    ],
  ];
  it.each(cases)('%s', (_, pipeline, expected) => {
    expect(kinds(pipeline)).toEqual(expected);
    expect(writePlan(readPlan(pipeline))).toEqual(pipeline);
  });
});

it('INTERSECT and EXCEPT of one field and of several tell the sides by a field', () => {
  const set = (operator: 'INTERSECT' | 'EXCEPT', fields: readonly string[]): Pipeline =>
    writePlan([{ kind: 'set', operator, right: { scan: 'b', nodes: [] }, fields, side: 'which' }]);
  expect(set('INTERSECT', ['x'])).toEqual([
    { $unionWith: { coll: 'b', pipeline: [] } },
    { $group: { _id: '$x', sides: { $addToSet: '$which' } } },
    { $match: { sides: { $size: 2 } } },
    { $project: { _id: 0, x: '$_id' } },
  ]);
  expect(set('EXCEPT', ['x', 'y'])).toEqual([
    { $unionWith: { coll: 'b', pipeline: [] } },
    { $group: { _id: { x: '$x', y: '$y' }, which: { $max: '$which' } } },
    { $match: { which: 1 } },
    { $replaceRoot: { newRoot: '$_id' } },
  ]);
});
