import { BSON, type Document } from 'mongodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

const engine = new TestEngine();
afterAll(() => engine.close());
const run = (command: Document): Document => engine.run(command);
const batch = (command: Document): Document[] =>
  (run(command).cursor as { firstBatch: Document[] }).firstBatch;
const code = (work: () => unknown): number | undefined => {
  try {
    work();
  } catch (error) {
    return (error as { code?: number }).code;
  }
  return undefined;
};

describe('views', () => {
  beforeEach(() => {
    for (const name of ['people', 'places', 'adults', 'names', 'other']) run({ drop: name });
    engine.fill('people', [
      { _id: 1, name: 'Ann', age: 40, place: 1 },
      { _id: 2, name: 'Bob', age: 10, place: 1 },
      { _id: 3, name: 'Cid', age: 50, place: 2 },
    ]);
    engine.fill('places', [
      { _id: 1, town: 'X' },
      { _id: 2, town: 'Y' },
    ]);
    run({ create: 'adults', viewOn: 'people', pipeline: [{ $match: { age: { $gte: 18 } } }] });
    run({ create: 'names', viewOn: 'adults', pipeline: [{ $project: { name: 1 } }] });
  });

  it('are read like collections', () => {
    expect(batch({ find: 'adults', filter: { place: 1 }, projection: { name: 1 } })).toEqual([
      { _id: 1, name: 'Ann' },
    ]);
    expect(batch({ find: 'names', sort: { name: -1 }, limit: 1 })).toEqual([
      { _id: 3, name: 'Cid' },
    ]);
    expect(
      batch({ aggregate: 'names', pipeline: [{ $match: { name: 'Bob' } }], cursor: {} }),
    ).toEqual([]);
    expect(run({ count: 'adults' }).n).toBe(2);
    expect(run({ count: 'adults', query: { age: { $lt: 45 } } }).n).toBe(1);
    expect(run({ distinct: 'adults', key: 'place' }).values).toEqual([1, 2]);
  });

  it('are joined like collections', () => {
    const pipeline = (stage: Document): Document[] =>
      batch({ aggregate: 'places', pipeline: [stage], cursor: {} });
    const names = (docs: Document[]): unknown =>
      docs.map((d) => (d.r as Document[]).map((r) => r.name as string));
    expect(
      names(
        pipeline({
          $lookup: { from: 'adults', localField: '_id', foreignField: 'place', as: 'r' },
        }),
      ),
    ).toEqual([['Ann'], ['Cid']]);
    expect(
      names(
        pipeline({
          $lookup: {
            from: 'adults',
            localField: '_id',
            foreignField: 'place',
            pipeline: [{ $match: { age: { $gt: 45 } } }],
            as: 'r',
          },
        }),
      ),
    ).toEqual([[], ['Cid']]);
    expect(
      names(
        pipeline({
          $lookup: {
            from: 'adults',
            let: { p: '$_id' },
            pipeline: [{ $match: { $expr: { $eq: ['$place', '$$p'] } } }],
            as: 'r',
          },
        }),
      ),
    ).toEqual([['Ann'], ['Cid']]);
    expect(
      names(
        pipeline({
          $graphLookup: {
            from: 'adults',
            startWith: '$_id',
            connectFromField: 'nothing',
            connectToField: 'place',
            restrictSearchWithMatch: { age: { $lt: 45 } },
            as: 'r',
          },
        }),
      ),
    ).toEqual([['Ann'], []]);
    expect(
      pipeline({ $unionWith: { coll: 'names', pipeline: [{ $match: { name: 'Ann' } }] } }),
    ).toHaveLength(3);
    expect(
      batch({ aggregate: 'adults', pipeline: [{ $facet: { n: [{ $count: 'n' }] } }], cursor: {} }),
    ).toEqual([{ n: [{ n: 2 }] }]);
  });

  it('are not written to', () => {
    expect(code(() => run({ insert: 'adults', documents: [{ a: 1 }] }))).toBe(166);
    expect(
      code(() => run({ findAndModify: 'adults', query: {}, update: { $set: { a: 1 } } })),
    ).toBe(166);
    for (const command of [
      { update: 'adults', updates: [{ q: {}, u: { $set: { a: 1 } } }] },
      { delete: 'adults', deletes: [{ q: {}, limit: 0 }] },
    ]) {
      expect((run(command).writeErrors as Document[])[0]?.code).toBe(166);
    }
    expect(
      code(() => run({ createIndexes: 'adults', indexes: [{ key: { a: 1 }, name: 'a' }] })),
    ).toBe(166);
    expect(code(() => run({ listIndexes: 'adults' }))).toBe(166);
    expect(
      code(() =>
        batch({ aggregate: 'adults', pipeline: [{ $collStats: { count: {} } }], cursor: {} }),
      ),
    ).toBe(166);
    expect(run({ count: 'people' }).n).toBe(3);
  });

  it('are listed, changed and dropped', () => {
    const listed = batch({ listCollections: 1, filter: { type: 'view' } });
    expect(listed.map((v) => [v.name, v.options])).toEqual([
      ['adults', { viewOn: 'people', pipeline: [{ $match: { age: { $gte: 18 } } }] }],
      ['names', { viewOn: 'adults', pipeline: [{ $project: { name: 1 } }] }],
    ]);
    run({ collMod: 'adults', viewOn: 'people', pipeline: [{ $match: { age: { $lt: 18 } } }] });
    expect(batch({ find: 'names' })).toEqual([{ _id: 2, name: 'Bob' }]);
    expect(code(() => run({ collMod: 'adults', viewOn: 'names', pipeline: [] }))).toBe(5);
    expect(
      code(() => run({ create: 'other', viewOn: 'people', pipeline: [{ $nonsense: {} }] })),
    ).toBe(40324);
    expect(code(() => run({ create: 'other', viewOn: 'people', pipeline: [{ $out: 'x' }] }))).toBe(
      167,
    );
    expect(run({ drop: 'names' }).nIndexesWas).toBeUndefined();
    expect(batch({ find: 'names' })).toEqual([]);
  });
});

describe('validators', () => {
  beforeEach(() => {
    run({ drop: 'checked' });
  });
  const failure = (command: Document): Document | undefined =>
    (run(command).writeErrors as Document[] | undefined)?.[0];

  it('refuse what does not satisfy a schema, and say why', () => {
    const schema = {
      bsonType: 'object',
      required: ['name', 'age'],
      properties: {
        name: { bsonType: 'string', description: 'must be text' },
        age: { bsonType: 'int', minimum: 0 },
      },
    };
    run({ create: 'checked', validator: { $jsonSchema: schema } });
    expect(
      failure({ insert: 'checked', documents: [{ _id: 1, name: 'a', age: 1 }] }),
    ).toBeUndefined();
    const error = failure({ insert: 'checked', documents: [{ _id: 2, name: 5 }] });
    expect(error).toMatchObject({
      code: 121,
      errmsg: 'Document failed validation',
      errInfo: { failingDocumentId: 2 },
    });
    expect((error?.errInfo as Document).details).toEqual({
      operatorName: '$jsonSchema',
      schemaRulesNotSatisfied: [
        {
          operatorName: 'required',
          specifiedAs: { required: ['name', 'age'] },
          missingProperties: ['age'],
        },
        {
          operatorName: 'properties',
          propertiesNotSatisfied: [
            {
              propertyName: 'name',
              description: 'must be text',
              details: [
                {
                  operatorName: 'bsonType',
                  specifiedAs: { bsonType: 'string' },
                  reason: 'type did not match',
                  consideredValue: 5,
                  consideredType: 'int',
                },
              ],
            },
          ],
        },
      ],
    });
    expect(
      failure({ insert: 'checked', documents: [{ _id: 2 }], bypassDocumentValidation: true }),
    ).toBeUndefined();
    expect(run({ count: 'checked' }).n).toBe(2);
  });

  it('refuse updates, unless the document was wrong before and the level is moderate', () => {
    engine.fill('checked', [
      { _id: 1, a: 1 },
      { _id: 2, a: 10 },
    ]);
    run({ collMod: 'checked', validator: { a: { $gt: 5 } } });
    const update = (_id: number, a: number): number | undefined =>
      failure({ update: 'checked', updates: [{ q: { _id }, u: { $set: { a } } }] })?.code as
        number | undefined;
    expect([update(1, 2), update(2, 2), update(2, 11)]).toEqual([121, 121, undefined]);
    run({ collMod: 'checked', validationLevel: 'moderate' });
    expect([update(1, 2), update(2, 2)]).toEqual([undefined, 121]);
    run({ collMod: 'checked', validationAction: 'warn' });
    expect(update(2, 2)).toBeUndefined();
    run({ collMod: 'checked', validationAction: 'error', validationLevel: 'strict' });
    expect(
      code(() =>
        run({
          findAndModify: 'checked',
          query: { _id: 1 },
          update: { $set: { a: 1 } },
          upsert: true,
        }),
      ),
    ).toBe(121);
    expect(
      failure({
        update: 'checked',
        updates: [{ q: { _id: 9 }, u: { $set: { a: 0 } }, upsert: true }],
      })?.errInfo,
    ).toMatchObject({
      details: {
        operatorName: '$gt',
        specifiedAs: { a: { $gt: 5 } },
        reason: 'comparison failed',
        consideredValue: 0,
      },
    });
    expect(
      code(() =>
        batch({
          aggregate: 'checked',
          pipeline: [{ $set: { a: 0 } }, { $merge: 'checked' }],
          cursor: {},
        }),
      ),
    ).toBe(121);
    run({ collMod: 'checked', validator: {} });
    expect(update(2, 0)).toBeUndefined();
    expect(code(() => run({ collMod: 'checked', validator: { $nonsense: 1 } }))).toBe(2);
    expect(code(() => run({ collMod: 'nothing', validator: {} }))).toBe(26);
  });
});

describe('default collations', () => {
  const collation = { locale: 'en', strength: 2 };
  beforeEach(() => {
    for (const name of ['words', 'plain', 'seen']) run({ drop: name });
    run({ create: 'words', collation });
    run({ insert: 'words', documents: ['b', 'A', 'a', 'B', 'ä'].map((w, _id) => ({ _id, w })) });
    engine.fill(
      'plain',
      ['b', 'A', 'a'].map((w, _id) => ({ _id, w })),
    );
  });
  const ids = (command: Document): unknown[] => batch(command).map((d) => d._id as unknown);

  it('count where a command names none', () => {
    expect(ids({ find: 'words', filter: { w: 'A' } })).toEqual([1, 2]);
    expect(ids({ find: 'words', filter: { w: 'A' }, collation: { locale: 'simple' } })).toEqual([
      1,
    ]);
    expect(ids({ find: 'words', sort: { w: 1, _id: 1 } })).toEqual([1, 2, 4, 0, 3]);
    expect(
      batch({
        aggregate: 'words',
        pipeline: [{ $group: { _id: '$w', n: { $sum: 1 } } }, { $sort: { _id: 1 } }],
        cursor: {},
      }).map((d) => d.n as unknown),
    ).toEqual([2, 1, 2]);
    expect(run({ distinct: 'words', key: 'w' }).values).toEqual(['b', 'A', 'ä']);
    expect(run({ count: 'words', query: { w: 'B' } }).n).toBe(2);
    expect(run({ delete: 'words', deletes: [{ q: { w: 'B' }, limit: 0 }] }).n).toBe(2);
    expect(
      batch({
        aggregate: 'words',
        pipeline: [
          { $match: { _id: 1 } },
          { $lookup: { from: 'plain', localField: 'w', foreignField: 'w', as: 'r' } },
        ],
        cursor: {},
      })[0]?.r,
    ).toHaveLength(2);
    run({ create: 'seen', viewOn: 'words', pipeline: [], collation });
    expect(ids({ find: 'seen', filter: { w: 'A' } })).toEqual([1, 2]);
    expect(code(() => run({ find: 'seen', collation: { locale: 'fr' } }))).toBe(167);
  });

  it('are given to indexes, which serve queries of the same collation only', () => {
    run({
      createIndexes: 'words',
      indexes: [
        { key: { w: 1 }, name: 'w_1' },
        { key: { w: 1 }, name: 'simple', collation: { locale: 'simple' } },
      ],
    });
    const [, w, simple] = batch({ listIndexes: 'words' });
    expect([(w?.collation as Document).strength, simple?.collation]).toEqual([2, undefined]);
    const used = (filter: Document, more = {}): unknown => {
      const plan = run({
        explain: { find: 'words', filter, ...more },
        verbosity: 'executionStats',
      });
      const { executionStages } = plan.executionStats as {
        executionStages: { indexName?: string };
      };
      return executionStages.indexName;
    };
    expect(used({ w: 'a' })).toBe('w_1');
    expect(used({ w: 'a' }, { collation: { locale: 'simple' } })).toBe('simple');
    expect(used({ w: 'a' }, { collation: { locale: 'fr', strength: 1 } })).toBeUndefined();
    expect(used({ w: { $gt: 'a' } })).toBeUndefined();
    expect(ids({ find: 'words', filter: { w: 'A' } })).toEqual([1, 2]);
    expect(
      ids({ find: 'words', filter: { w: 'ä' }, collation: { locale: 'en', strength: 1 } }),
    ).toEqual([1, 2, 4]);
  });

  it('decide what is a duplicate', () => {
    run({
      createIndexes: 'words',
      indexes: [
        {
          key: { u: 1 },
          name: 'u',
          unique: true,
          partialFilterExpression: { u: { $exists: true } },
        },
      ],
    });
    const insert = (document: Document): unknown =>
      (run({ insert: 'words', documents: [document] }).writeErrors as Document[] | undefined)?.[0]
        ?.code;
    expect([
      insert({ _id: 10, u: 'Straße' }),
      insert({ _id: 11, u: 'STRASSE' }),
      insert({ _id: 12, u: 'strasse' }),
      insert({ _id: 13, u: 'straße' }),
    ]).toEqual([undefined, undefined, 11000, 11000]);
    expect([
      insert({ _id: 'key' }),
      insert({ _id: 'KEY' }),
      insert({ _id: 'ké' }),
      insert({ _id: 'KÉ' }),
    ]).toEqual([undefined, 11000, undefined, 11000]);
  });

  it('may say what Intl can do, and nothing else', () => {
    const sorted = (more: Document): unknown[] =>
      batch({ find: 'plain', sort: { w: 1 }, collation: { locale: 'en', ...more } }).map(
        (d) => d.w as unknown,
      );
    expect(sorted({ strength: 5 })).toEqual(['a', 'A', 'b']);
    expect(sorted({ strength: 3, caseFirst: 'upper' })).toEqual(['A', 'a', 'b']);
    expect(
      ids({
        find: 'plain',
        filter: { w: 'a' },
        collation: { locale: 'en', strength: 1, caseLevel: true },
      }),
    ).toEqual([2]);
    for (const [more, number] of [
      [{ strength: 4, alternate: 'shifted' }, 238],
      [{ backwards: true }, 238],
      [{ caseLevel: true, strength: 2 }, 238],
      [{ strength: 6 }, 2],
      [{ caseFirst: 'up' }, 2],
      [{ unknown: 1 }, 9],
      [{ numericOrdering: 1 }, 14],
      [{ caseFirst: 'upper', strength: 1 }, 2],
    ] as [Document, number][]) {
      expect(
        code(() => run({ find: 'plain', collation: { locale: 'en', ...more } })),
        JSON.stringify(more),
      ).toBe(number);
    }
    expect(code(() => run({ create: 'other', collation: { locale: 'xx' } }))).toBe(2);
  });
});

it('collMod hides indexes and changes when they expire', () => {
  engine.fill('timed', [{ _id: 1, a: 1, at: new Date() }]);
  run({
    createIndexes: 'timed',
    indexes: [
      { key: { a: 1 }, name: 'a_1' },
      { key: { at: 1 }, name: 'at_1', expireAfterSeconds: 60 },
    ],
  });
  expect(run({ collMod: 'timed', index: { name: 'a_1', hidden: true } })).toMatchObject({
    hidden_old: false,
    hidden_new: true,
  });
  const plan = run({ explain: { find: 'timed', filter: { a: 1 } }, verbosity: 'queryPlanner' });
  expect((plan.queryPlanner as Document).winningPlan).toMatchObject({ stage: 'COLLSCAN' });
  expect(
    run({ collMod: 'timed', index: { keyPattern: { at: 1 }, expireAfterSeconds: 5 } }),
  ).toMatchObject({ expireAfterSeconds_old: 60, expireAfterSeconds_new: 5 });
  expect(batch({ listIndexes: 'timed' })[2]).toMatchObject({ name: 'at_1', expireAfterSeconds: 5 });
  expect(code(() => run({ collMod: 'timed', index: { name: 'none', hidden: true } }))).toBe(27);
  expect(
    code(() =>
      run({
        createIndexes: 'timed',
        indexes: [{ key: { at: 1, a: 1 }, name: 'two', expireAfterSeconds: 5 }],
      }),
    ),
  ).toBe(67);
  expect(BSON.EJSON.stringify(batch({ listIndexes: 'timed' })[1])).toContain('"hidden":true');
});

it('documents expire by their dates, the earliest of several', () => {
  const at = (seconds: number): Date => new Date(1_700_000_000_000 + seconds * 1000);
  engine.fill('expiring', [
    { _id: 1, at: at(0) },
    { _id: 2, at: at(100) },
    { _id: 3, at: [at(500), at(5)] },
    { _id: 4, at: 'text' },
    { _id: 5 },
    { _id: 6, at: at(0) },
  ]);
  run({
    createIndexes: 'expiring',
    indexes: [
      {
        key: { at: 1 },
        name: 'at_1',
        expireAfterSeconds: 10,
        partialFilterExpression: { _id: { $lt: 6 } },
      },
    ],
  });
  expect(engine.expire(at(9).getTime())).toBe(0);
  expect(engine.expire(at(20).getTime())).toBe(2);
  expect(batch({ find: 'expiring' }).map((d) => d._id as unknown)).toEqual([2, 4, 5, 6]);
});

it('$indexStats tells how often an index was used', () => {
  engine.fill('used', [{ _id: 1, a: 1 }]);
  run({ createIndexes: 'used', indexes: [{ key: { a: 1 }, name: 'a_1' }] });
  for (let i = 0; i < 3; i++) batch({ find: 'used', filter: { a: 1 } });
  const stats = batch({
    aggregate: 'used',
    pipeline: [{ $indexStats: {} }, { $sort: { name: 1 } }],
    cursor: {},
  });
  expect(stats.map((s) => [s.name, Number((s.accesses as Document).ops)])).toEqual([
    ['_id_', 0],
    ['a_1', 3],
  ]);
});
