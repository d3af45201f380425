import { Code, Decimal128, ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { findForbidden } from './allow-list';

describe('findForbidden', () => {
  it('lets ordinary pipelines pass', () => {
    expect(
      findForbidden([
        {
          $match: {
            a: { $in: [1, 2] },
            when: { $gte: new Date(0) },
            id: new ObjectId(),
            d: Decimal128.fromString('1'),
            r: /x/,
          },
        },
        {
          $lookup: {
            from: 'b',
            let: { x: '$a' },
            pipeline: [{ $match: { $expr: { $eq: ['$k', '$$x'] } } }],
            as: 'o',
          },
        },
        { $facet: { n: [{ $count: 'n' }] } },
        { $project: { v: { $literal: { $where: 'data' } } } },
      ]),
    ).toBeNull();
  });

  const stages = [
    '$out',
    '$merge',
    '$changeStream',
    '$currentOp',
    '$listSessions',
    '$listLocalSessions',
    '$collStats',
    '$indexStats',
    '$planCacheStats',
    '$search',
    '$geoNear',
  ];
  for (const name of stages) {
    it(`refuses ${name}, also nested`, () => {
      const stage = { [name]: {} };
      const nested = [
        [stage],
        [{ $lookup: { from: 'b', pipeline: [stage], as: 'x' } }],
        [{ $facet: { f: [stage] } }],
        [{ $unionWith: { coll: 'b', pipeline: [stage] } }],
        [
          {
            $facet: {
              f: [
                {
                  $lookup: {
                    from: 'b',
                    pipeline: [{ $unionWith: { coll: 'c', pipeline: [stage] } }],
                    as: 'x',
                  },
                },
              ],
            },
          },
        ],
      ];
      for (const pipeline of nested) expect(findForbidden(pipeline)?.name).toBe(name);
    });
  }

  for (const operator of [
    '$where',
    '$function',
    '$accumulator',
    '$text',
    '$near',
    '$meta',
    '$toHashedIndexKey',
  ]) {
    it(`refuses the operator ${operator} at any depth`, () => {
      expect(findForbidden([{ $match: { [operator]: 'x' } }])?.name).toBe(operator);
      expect(
        findForbidden([{ $match: { $or: [{ a: { $not: { [operator]: 'x' } } }] } }])?.name,
      ).toBe(operator);
      expect(findForbidden([{ $group: { _id: null, v: { [operator]: {} } } }])?.name).toBe(
        operator,
      );
      expect(
        findForbidden([
          { $lookup: { from: 'b', let: { x: { [operator]: 1 } }, pipeline: [], as: 'o' } },
        ])?.name,
      ).toBe(operator);
    });
  }

  it('refuses other databases', () => {
    expect(
      findForbidden([
        {
          $lookup: {
            from: { db: 'admin', coll: 'x' },
            localField: 'a',
            foreignField: 'b',
            as: 'c',
          },
        },
      ])?.name,
    ).toBe('$lookup');
    expect(findForbidden([{ $unionWith: { db: 'admin', coll: 'x' } }])?.name).toBe('$unionWith');
  });

  it('refuses the collections of the server itself, however they are named', () => {
    for (const stage of [
      { $unionWith: 'system.users' },
      { $unionWith: { coll: 'system.users' } },
      { $lookup: { from: 'system.users', localField: 'a', foreignField: 'b', as: 'c' } },
      { $graphLookup: { from: 'a.$cmd' } },
    ]) {
      expect(findForbidden([stage])?.name).toBe(Object.keys(stage)[0]);
      expect(findForbidden([{ $facet: { f: [stage] } }])?.name).toBe(Object.keys(stage)[0]);
    }
    expect(findForbidden([{ $unionWith: 'systematic' }])).toBeNull();
  });

  it('refuses what pretends to be a date', () => {
    expect(findForbidden([{ $match: { a: { $gt: new Date('x') } } }])?.name).toBe('date');
    expect(findForbidden([{ $match: { a: { $gt: new Date(0) } } }])).toBeNull();
  });

  it('is not fooled by disguises', () => {
    const smuggled = new Map([['$where', 'x']]);
    expect(findForbidden([{ $match: smuggled }])).not.toBeNull();
    expect(
      findForbidden([{ $match: { a: { _bsontype: 'ObjectId', $where: 'x' } } }]),
    ).not.toBeNull();
    expect(findForbidden([{ $match: { a: new Code('x') } }])?.name).toBe('Code');
    expect(findForbidden([{ $match: {}, $out: 'x' }])).not.toBeNull();
    expect(findForbidden([['$out']])).not.toBeNull();
    expect(findForbidden('[]')).not.toBeNull();
    expect(findForbidden([{ $project: { a: '$$USER_ROLES' } }])).not.toBeNull();
    expect(
      findForbidden([Object.assign(Object.create({ $out: 1 }) as object, { $match: {} })]),
    ).not.toBeNull();
  });
});
