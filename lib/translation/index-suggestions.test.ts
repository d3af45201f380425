import { describe, expect, it } from 'vitest';
import type { DocumentDesign } from '../design/model/document-design';
import { suggestIndexes, type IndexSuggestion } from './index-suggestions';

const column = (name: string) =>
  ({ kind: 'column', name, column: name, transform: { kind: 'identity' } }) as const;
const design = {
  conceptual: {},
  logical: [
    {
      collection: 'hero',
      rootTable: 'hero',
      id: { kind: 'ordinal' },
      fields: [
        column('name'),
        column('age'),
        column('team'),
        {
          kind: 'embedMany',
          name: 'power',
          table: 'power',
          relationship: 'r',
          join: [],
          orderBy: [],
          fields: [column('kind')],
        },
        {
          kind: 'embedMany',
          name: 'cape',
          table: 'cape',
          relationship: 's',
          join: [],
          orderBy: [],
          fields: [column('colour')],
        },
      ],
    },
    { collection: 'team', rootTable: 'team', id: { kind: 'ordinal' }, fields: [column('city')] },
  ],
} as unknown as DocumentDesign;
const sizes: Record<string, number> = { hero: 100, team: 10 };
const suggest = (
  pipelines: Record<string, object[]>,
  indexes = {},
  found = 5,
): Promise<IndexSuggestion[]> =>
  suggestIndexes(
    Object.entries(pipelines).map(([questionId, pipeline]) => ({
      questionId,
      collection: 'hero',
      pipeline,
    })),
    design,
    indexes,
    (collection, filter) =>
      Promise.resolve(Object.keys(filter).length === 0 ? (sizes[collection] ?? 0) : found),
  );

describe('index suggestions', () => {
  it('put equality before sort before range, and count what they spare', async () => {
    expect(
      await suggest({ a: [{ $match: { age: { $gt: 3 }, name: 'x' } }, { $sort: { team: -1 } }] }),
    ).toEqual([
      {
        collection: 'hero',
        key: { name: 1, team: -1, age: 1 },
        reason: '1 query filters by name, team, age.',
        questionIds: ['a'],
        documentsExamined: { before: 100, after: 5 },
      },
    ]);
  });

  it('serve the queries whose keys they begin with', async () => {
    expect(
      await suggest({
        a: [{ $match: { name: 'x' } }],
        b: [{ $match: { name: { $in: ['y', 'z'] } } }, { $sort: { age: 1 } }],
      }),
    ).toEqual([
      {
        collection: 'hero',
        key: { name: 1, age: 1 },
        reason: '2 queries filter by name, age.',
        questionIds: ['a', 'b'],
        documentsExamined: { before: 200, after: 10 },
      },
    ]);
  });

  it('are for the first of a sorted collection, and for joins', async () => {
    expect(await suggest({ a: [{ $sort: { age: -1 } }, { $limit: 1 }] })).toMatchObject([
      {
        key: { age: -1 },
        reason: '1 query sorts by age.',
        documentsExamined: { before: 100, after: 1 },
      },
    ]);
    expect(
      await suggest({
        a: [{ $lookup: { from: 'team', localField: 'team', foreignField: 'city', as: 't' } }],
      }),
    ).toEqual([
      {
        collection: 'team',
        key: { city: 1 },
        reason: '1 query joins by city.',
        questionIds: ['a'],
        documentsExamined: null,
      },
    ]);
    expect(
      await suggest({
        a: [
          { $lookup: { from: 'team', let: {}, pipeline: [{ $match: { city: 'Oslo' } }], as: 't' } },
        ],
      }),
    ).toMatchObject([{ collection: 'team', key: { city: 1 } }]);
  });

  it('are not made for what is served, is no filter, or would spare nothing', async () => {
    expect(
      await suggest({ a: [{ $match: { name: 'x', age: 3 } }] }, { hero: [{ key: { age: 1 } }] }),
    ).toEqual([]);
    expect(
      await suggest({
        a: [{ $match: { _id: 3, name: 'x' } }],
        b: [{ $lookup: { from: 'team', localField: 'team', foreignField: '_id', as: 't' } }],
      }),
    ).toEqual([]);
    expect(
      await suggest({
        a: [{ $match: { name: { $ne: 'x' }, age: null, $expr: { $gt: ['$age', '$team'] } } }],
        b: [{ $sort: { age: 1 } }],
        c: [{ $match: { name: /x$/i } }],
        d: [{ $unwind: '$power' }, { $match: { 'power.kind': 'fly' } }],
      }),
    ).toEqual([]);
    expect(await suggest({ a: [{ $match: { name: 'x' } }] }, {}, 100)).toEqual([]);
  });

  it('find an entry of an array by all that is asked of it', async () => {
    const filters: object[] = [];
    const asked = { power: { $elemMatch: { kind: 'fly', level: { $gt: 3 } } }, age: 3 };
    const [found] = await suggestIndexes(
      [{ questionId: 'a', collection: 'hero', pipeline: [{ $match: asked }] }],
      design,
      {},
      (_, filter) => Promise.resolve(filters.push(filter) === 1 ? 100 : 5),
    );
    expect(found).toMatchObject({
      key: { 'power.kind': 1, age: 1 },
      documentsExamined: { before: 100, after: 5 },
    });
    expect(filters).toEqual([{}, { age: 3, power: asked.power }]);
    expect(
      await suggest(
        { a: [{ $match: asked }] },
        { hero: [{ key: { 'power.kind': 1, 'power.level': 1 } }] },
      ),
    ).toEqual([]);
  });

  it('have one array in a key', async () => {
    expect(
      await suggest({ a: [{ $match: { 'power.kind': 'fly', 'cape.colour': 'red', age: 3 } }] }),
    ).toMatchObject([{ key: { 'power.kind': 1, age: 1 } }]);
  });
});
