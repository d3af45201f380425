import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Document } from 'mongodb';
import { mutationsOf, weakPredicates } from './mutations';
import { World } from '../test/translation-fixture';

let world: World;
beforeAll(async () => {
  world = await World.create(
    `CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT NOT NULL, height INTEGER NOT NULL, team TEXT NOT NULL);
     INSERT INTO hero VALUES (1, 'Ann', 10, 'red'), (2, 'Bob', 20, 'red'), (3, 'Cat', 30, 'blue');
     CREATE TABLE power (hero_id INTEGER NOT NULL REFERENCES hero(id), power TEXT NOT NULL, level INTEGER NOT NULL);
     INSERT INTO power VALUES (1, 'fly', 3), (1, 'swim', 5), (3, 'fly', 1);`,
    { strategy: 'access-pattern' },
  );
});
afterAll(() => world.close());

const mutate = (pipeline: Document[], ordered = false) =>
  mutationsOf({ collection: 'hero', pipeline, design: world.design, ordered });
const digest = async (pipeline: readonly Document[]): Promise<string> =>
  JSON.stringify(
    (await world.run('hero', pipeline)).map((document) => JSON.stringify(document)).sort(),
  );
const weak = async (pipeline: Document[]): Promise<string[]> =>
  weakPredicates(mutate(pipeline), await digest(pipeline), digest);

describe('mutations', () => {
  it.each<[string, Document[], boolean, string[]]>([
    [
      'a predicate',
      [{ $match: { name: 'Ann' } }],
      false,
      ['{"height":"Ann"}', '{"name":"Ann~"}', '{"name":"An"}', '{"name":{"$ne":"Ann"}}'],
    ],
    [
      'a bound',
      [{ $match: { height: { $gt: 5 } } }],
      false,
      [
        '{"team":{"$gt":5}}',
        '{"height":{"$gte":5}}',
        '{"height":{"$lt":5}}',
        '{"height":{"$gt":6}}',
        '{"height":{"$gt":4}}',
      ],
    ],
  ])('of %s', (_, pipeline, ordered, matches) => {
    expect(
      mutate(pipeline, ordered).map(({ pipeline: [stage] }) =>
        JSON.stringify((stage as Document)['$match']),
      ),
    ).toEqual(matches);
  });

  it('reach entries, expressions, groups and sub-pipelines', () => {
    const kinds = (pipeline: Document[]): string[] =>
      [...new Set(mutate(pipeline).map(({ kind }) => kind))].sort();
    expect(kinds([{ $match: { power: { $elemMatch: { level: { $gte: 3 } } } } }])).toEqual([
      'constant',
      'operator',
    ]);
    expect(
      kinds([{ $match: { $expr: { $gt: ['$height', { $multiply: ['$_id', 4] }] } } }]),
    ).toEqual(['constant', 'operator', 'path']);
    expect(kinds([{ $group: { _id: '$team', height: { $avg: '$height' } } }])).toEqual([
      'operator',
      'path',
    ]);
    expect(kinds([{ $facet: { rows: [{ $match: { height: 3 } }] } }])).toContain('constant');
  });

  it('turn a sort only where its order counts', () => {
    const sort = [{ $sort: { height: -1 } }];
    expect(mutate(sort)).toEqual([]);
    expect(mutate(sort, true)).toMatchObject([
      { kind: 'direction', pipeline: [{ $sort: { height: 1 } }] },
    ]);
    expect(mutate([...sort, { $limit: 1 }]).map(({ kind }) => kind)).toEqual([
      'direction',
      'constant',
    ]);
  });

  it('leave the pipeline itself as it was', () => {
    const pipeline = [{ $match: { name: 'Ann' } }];
    mutate(pipeline);
    expect(pipeline).toEqual([{ $match: { name: 'Ann' } }]);
  });
});

describe('weak predicates', () => {
  it('are those that the data never tests', async () => {
    expect(
      await weak([
        { $match: { team: 'red', height: { $gt: 15 } } },
        { $project: { _id: 0, name: 1 } },
      ]),
    ).toEqual([]);
    expect(
      await weak([{ $match: { name: 'Nobody', team: 'red' } }, { $project: { _id: 0, name: 1 } }]),
    ).toEqual(['0/$match/team']);
    expect(
      await weak([
        { $match: { name: 'Ann', height: { $gt: -100 } } },
        { $match: { name: 'Zoe' } },
        { $count: 'n' },
      ]),
    ).toHaveLength(2);
  });

  it('are looked for with the cheapest mutations first', async () => {
    const tried: string[] = [];
    const same = (pipeline: readonly Document[]): Promise<string> => (
      tried.push(JSON.stringify(pipeline[0]!['$match'])),
      Promise.resolve('same')
    );
    expect(
      await weakPredicates(mutate([{ $match: { height: { $gt: 5 } } }]), 'same', same),
    ).toHaveLength(1);
    expect(tried).toEqual([
      '{"height":{"$gt":6}}',
      '{"height":{"$gt":4}}',
      '{"height":{"$gte":5}}',
      '{"height":{"$lt":5}}',
      '{"team":{"$gt":5}}',
    ]);
  });

  it('are not those whose mutation fails', async () => {
    const failing = async (): Promise<string> => Promise.resolve('error');
    expect(await weakPredicates(mutate([{ $match: { name: 'Ann' } }]), 'rows', failing)).toEqual(
      [],
    );
  });
});
