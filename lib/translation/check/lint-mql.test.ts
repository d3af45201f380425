import { describe, expect, it } from 'vitest';
import type { DocumentDesign, Field } from '../../design/model/document-design';
import { lintMql } from './lint-mql';
import type { MqlDocument } from '../mql/mql';

const column = (name: string): Field => ({
  kind: 'column',
  name,
  column: name,
  transform: { kind: 'identity' },
});
const design: DocumentDesign = {
  conceptual: {
    database: 'd',
    strategy: 'one-to-one',
    collections: [],
    relationships: [],
    patterns: [],
    document: { source: '', accessPatterns: '', decisions: '', result: '' },
  },
  logical: [
    {
      collection: 'hero',
      rootTable: 'hero',
      id: { kind: 'ordinal' },
      fields: [
        column('name'),
        column('team_id'),
        {
          kind: 'embedMany',
          name: 'powers',
          table: 'power',
          relationship: 'r',
          join: [],
          orderBy: [],
          fields: [column('level')],
        },
      ],
    },
    { collection: 'team', rootTable: 'team', id: { kind: 'ordinal' }, fields: [column('title')] },
  ],
};

describe('lint', () => {
  it.each<[string, readonly MqlDocument[], readonly string[]]>([
    ['fields of the design', [{ $match: { name: 'x', 'powers.level': 3, height: 2 } }], ['height']],
    [
      'expressions',
      [{ $project: { a: { $add: ['$powers.0.level', '$powers.size'] } } }],
      ['powers.size'],
    ],
    [
      'what stages added and removed',
      [
        { $set: { long: { $strLenCP: '$name' } } },
        { $project: { long: 1 } },
        { $sort: { long: 1, name: 1 } },
      ],
      ['name'],
    ],
    [
      'joined documents',
      [
        { $lookup: { from: 'team', localField: 'team_id', foreignField: 'key', as: 'team' } },
        { $unwind: '$team' },
        { $match: { 'team.title': 'a', 'team.name': 'b' } },
      ],
      ['team.key', 'team.name'],
    ],
    ['unknown collections', [{ $unionWith: { coll: 'teams', pipeline: [] } }], ['teams']],
    [
      'sub-pipelines',
      [{ $lookup: { from: 'team', pipeline: [{ $match: { titel: 1 } }], as: 'team' } }],
      ['titel'],
    ],
    [
      'groups',
      [
        { $group: { _id: { n: '$name' }, level: { $max: '$powers.level' } } },
        { $project: { _id: 0, n: '$_id.n', m: '$_id.m', level: 1 } },
      ],
      ['_id.m'],
    ],
    [
      'facets',
      [
        { $facet: { rows: [{ $count: 'n' }] } },
        { $project: { n: { $first: '$rows.n' }, m: '$rows.m' } },
      ],
      ['rows.m'],
    ],
  ])('%s', (_, pipeline, expected) => {
    expect(lintMql('hero', pipeline, design).map(({ path }) => path)).toEqual(expected);
  });

  it('names a collection that does not exist', () => {
    expect(lintMql('villain', [], design)).toEqual([
      { at: '0', path: 'villain', message: 'the design has no collection villain' },
    ]);
  });
});
