import fc from 'fast-check';
import { Decimal128, Double, Long, type Document } from 'mongodb';
import { afterAll, describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

/**
 * Whatever indexes there are, the answer is the same as without them: documents, their order, joins
 * and errors.
 */

const engine = new TestEngine();
afterAll(() => engine.close());

const leaf = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    'a',
    'A',
    'b',
    'é',
    '',
    1.5,
    new Double(NaN),
    Long.fromNumber(2),
    Decimal128.fromString('2.0'),
    Decimal128.fromString('1.5'),
    new Date(1),
  ),
);
const small = fc.integer({ min: -3, max: 3 });
// Arrays whose elements lie on both sides of a range are where a multikey index could go wrong.
const field = fc.oneof(
  { weight: 3, arbitrary: leaf },
  { weight: 2, arbitrary: fc.array(small, { minLength: 2, maxLength: 3 }) },
  fc.array(leaf, { maxLength: 3 }),
  fc.record({ x: leaf }),
  fc.array(fc.record({ x: leaf }), { maxLength: 2 }),
);
const documents = fc.array(
  fc.record({ v: field, w: leaf, u: fc.integer({ min: 0, max: 30 }) }, { requiredKeys: [] }),
  { minLength: 1, maxLength: 14 },
);

const condition = fc.oneof(
  leaf,
  field,
  leaf.map((v) => ({ $gt: v })),
  leaf.map((v) => ({ $lte: v })),
  fc.tuple(leaf, leaf).map(([a, b]) => ({ $gte: a, $lt: b })),
  fc.tuple(small, small).map(([a, b]) => ({ $gt: Math.min(a, b) - 1, $lt: Math.max(a, b) })),
  fc.constantFrom('a', 'A', 'é', 'b'),
  fc.array(leaf, { maxLength: 3 }).map((v) => ({ $in: v })),
  leaf.map((v) => ({ $ne: v })),
  leaf.map((v) => ({ $not: { $gt: v } })),
  fc.boolean().map((v) => ({ $exists: v })),
);
const simple = fc.record(
  {
    v: condition,
    w: condition,
    'v.x': condition,
    u: fc.oneof(
      fc.integer({ min: 0, max: 30 }),
      fc.integer({ min: 0, max: 30 }).map((n) => ({ $lt: n })),
    ),
  },
  { requiredKeys: [] },
);
const filter = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('v', 'w'), condition)
      .map(([path, c]): Document => ({ [path as string]: c })),
  },
  { weight: 4, arbitrary: simple as fc.Arbitrary<Document> },
  fc.array(simple, { minLength: 1, maxLength: 3 }).map((parts): Document => ({ $or: parts })),
  fc.array(simple, { minLength: 1, maxLength: 3 }).map((parts): Document => ({ $and: parts })),
  fc
    .tuple(fc.constantFrom('$v', '$w', '$u'), leaf)
    .map(([path, value]): Document => ({ $expr: { $eq: [path, { $literal: value }] } })),
);
const sorts: Document[] = [
  { v: 1 },
  { v: -1 },
  { w: 1, v: 1 },
  { w: -1, v: -1 },
  { w: 1, v: -1 },
  { 'v.x': 1 },
];

const indexes = (more: Document = {}): Document[] => [
  { key: { v: 1 }, name: 'v', ...more },
  { key: { w: 1, v: -1 }, name: 'w_v', ...more },
  { key: { w: 1, u: 1 }, name: 'w_u', ...more },
  { key: { 'v.x': 1 }, name: 'sparse', sparse: true, ...more },
  { key: { u: 1 }, name: 'partial', partialFilterExpression: { u: { $lt: 10 } }, ...more },
];

/** The answer, or the number of the error. */
function answer(command: Document): unknown {
  try {
    return (engine.run(command).cursor as { firstBatch: Document[] }).firstBatch.map((d) =>
      JSON.stringify(d),
    );
  } catch (error) {
    return (error as { code: number }).code;
  }
}
const both = (command: (name: string) => Document): void =>
  expect(answer(command('indexed'))).toEqual(answer(command('plain')));

function fill(docs: readonly Document[], specs: readonly Document[], options: Document): void {
  for (const name of ['plain', 'indexed']) {
    engine.run({ drop: name });
    engine.run({ create: name, ...options });
  }
  engine.run({ createIndexes: 'indexed', indexes: specs });
  const seen = new Set<unknown>();
  const unique = docs.map((d, _id): Document => {
    if (!('u' in d) || seen.has(d.u)) return { _id, ...d, u: 100 + _id };
    seen.add(d.u);
    return { _id, ...d };
  });
  for (const name of ['plain', 'indexed']) engine.run({ insert: name, documents: unique });
}

function check(filters: readonly Document[], options: Document): void {
  for (const f of filters) {
    both((name) => ({ find: name, filter: f, ...options }));
    for (const sort of sorts)
      both((name) => ({ find: name, filter: f, sort, limit: 4, ...options }));
    both((name) => ({
      aggregate: name,
      pipeline: [
        { $match: f },
        { $group: { _id: '$w', n: { $sum: 1 } } },
        { $sort: { n: 1, _id: 1 } },
      ],
      cursor: {},
      ...options,
    }));
  }
  for (const sort of sorts) both((name) => ({ find: name, sort, skip: 1, limit: 5, ...options }));
  for (const [localField, foreignField] of [
    ['v', 'w'],
    ['w', 'v'],
    ['w', 'v.x'],
    ['w', 'u'],
  ]) {
    both((name) => ({
      aggregate: 'plain',
      pipeline: [{ $lookup: { from: name, localField, foreignField, as: 'r' } }],
      cursor: { batchSize: 1000 },
      ...options,
    }));
    both((name) => ({
      aggregate: 'plain',
      pipeline: [
        {
          $lookup: {
            from: name,
            let: { k: `$${localField as string}` },
            pipeline: [{ $match: { $expr: { $eq: [`$${foreignField as string}`, '$$k'] } } }],
            as: 'r',
          },
        },
      ],
      cursor: { batchSize: 1000 },
      ...options,
    }));
  }
}

describe('a partial index serves queries that imply its filter', () => {
  const plan = (
    partialFilterExpression: Document,
    f: Document,
    options: Document = {},
    spec: Document = {},
  ): string => {
    engine.run({ drop: 'implied' });
    engine.run({ create: 'implied' });
    engine.run({
      createIndexes: 'implied',
      indexes: [{ key: { k: 1 }, name: 'k', partialFilterExpression, ...spec }],
    });
    const { winningPlan } = engine.run({
      explain: { find: 'implied', filter: { k: 1, ...f }, ...options },
    }).queryPlanner as { winningPlan: Document };
    return winningPlan.stage as string;
  };
  const ci = { collation: { locale: 'en', strength: 2 } };
  it.each<[string, Document, Document]>([
    ['the same equality', { a: 5 }, { a: 5 }],
    ['an equality within a range', { a: { $gt: 3 } }, { a: 5 }],
    ['a range within a range', { a: { $gte: 3 } }, { a: { $gt: 3 } }],
    ['one side of two', { a: { $lt: 10 } }, { a: { $gt: 3, $lte: 9 } }],
    ['members of a list', { a: { $in: [1, 2, 3] } }, { a: { $in: [1, 3] } }],
    ['a value exists', { a: { $exists: true } }, { a: { $gt: 'x' } }],
    ['a type exists', { a: { $exists: true } }, { a: { $type: 'null' } }],
    ['numbers are numbers', { a: { $type: 'number' } }, { a: { $lt: 5 } }],
    ['each alternative', { a: { $exists: true } }, { $or: [{ a: 1 }, { a: 'x' }] }],
    ['one of the alternatives of the index', { $or: [{ a: 1 }, { b: 2 }] }, { b: 2 }],
    ['every part', { a: 1, b: { $gt: 1 } }, { a: 1, b: 2 }],
    ['an expression', { a: { $gt: 3 } }, { $expr: { $eq: ['$a', 5] } }],
  ])('%s', (_, partial, f) => {
    expect(plan(partial, f)).toBe('FETCH');
  });
  it.each<[string, Document, Document]>([
    ['a wider range', { a: { $gt: 3 } }, { a: { $gte: 3 } }],
    ['the other side', { a: { $gt: 3 } }, { a: { $lt: 10 } }],
    ['another type', { a: { $gt: 3 } }, { a: 'x' }],
    ['null, which is also what is missing', { a: { $exists: true } }, { a: null }],
    ['a list with one too many', { a: { $in: [1, 2] } }, { a: { $in: [1, 4] } }],
    ['one kind of number', { a: { $type: 'int' } }, { a: 5 }],
    ['a negation', { a: { $exists: true } }, { a: { $ne: 5 } }],
    ['one alternative too many', { a: { $gt: 3 } }, { $or: [{ a: 5 }, { b: 1 }] }],
    ['half of it', { a: 1, b: 1 }, { a: 1 }],
    ['another path', { 'a.b': { $exists: true } }, { a: 1 }],
    ['an array, of which elements would count', { a: { $gt: 3 } }, { a: [5] }],
  ])('not: %s', (_, partial, f) => {
    expect(plan(partial, f)).toBe('COLLSCAN');
  });
  it('strings only under one collation', () => {
    expect(plan({ a: { $gte: 'a' } }, { a: 'b' })).toBe('FETCH');
    expect(plan({ a: { $gte: 'a' } }, { a: 'b' }, ci)).toBe('COLLSCAN');
    expect(plan({ a: { $gte: 'a' } }, { a: 'b' }, ci, ci)).toBe('FETCH');
  });
  it('filters that hold of what is missing are refused', () => {
    for (const partialFilterExpression of [
      { a: { $exists: false } },
      { a: { $ne: 1 } },
      { $nor: [{ a: 1 }] },
      { a: /x/ },
    ]) {
      expect(() =>
        engine.run({
          createIndexes: 'implied',
          indexes: [{ key: { z: 1 }, name: 'z', partialFilterExpression }],
        }),
      ).toThrow(expect.objectContaining({ code: 67 }));
    }
  });
});

describe('an index over the fields of one array', () => {
  const entries = (n: number): Document[] =>
    ['a', 'b', 'c'].map((k, at) => ({ k, v: (n + at * 7) % 50 }));
  const examined = (
    f: Document,
    docs: readonly Document[] = Array.from({ length: 200 }, (_, _id) => ({ _id, e: entries(_id) })),
    key: Document = { 'e.k': 1, 'e.v': 1 },
  ): number[] => {
    engine.run({ drop: 'entries' });
    engine.run({ create: 'entries' });
    engine.run({ createIndexes: 'entries', indexes: [{ key, name: 'k_v' }] });
    engine.run({ insert: 'entries', documents: docs });
    const { executionStats } = engine.run({
      explain: { find: 'entries', filter: f },
      verbosity: 'executionStats',
    }) as { executionStats: Document };
    return [executionStats.nReturned, executionStats.totalDocsExamined].map(Number);
  };
  it('finds one element by both bounds of one $elemMatch', () => {
    expect(examined({ e: { $elemMatch: { k: 'a', v: 3 } } })).toEqual([4, 4]);
    expect(examined({ e: { $elemMatch: { k: { $in: ['a', 'b'] }, v: 3 } } })).toEqual([8, 8]);
    expect(examined({ e: { $elemMatch: { k: 'a', v: { $lte: 3 } } } })).toEqual([16, 16]);
    expect(
      examined({
        $and: [{ e: { $elemMatch: { v: 3 } } }, { e: { $elemMatch: { k: 'a', v: 4 } } }],
      }),
    ).toEqual([0, 4]);
  });
  it('by one bound where each may be met by another element', () => {
    expect(examined({ 'e.k': 'a', 'e.v': 10 })).toEqual([12, 200]);
    expect(examined({ e: { $elemMatch: { k: 'a' } }, 'e.v': 10 })).toEqual([12, 200]);
    expect(examined({ e: { $elemMatch: { v: 3 } } })).toEqual([12, 200]);
  });
  it('by both where no document has several elements', () => {
    const docs = Array.from({ length: 100 }, (_, _id) => ({ _id, e: { k: 'a', v: _id % 20 } }));
    expect(examined({ 'e.k': 'a', 'e.v': 3 }, docs)).toEqual([5, 5]);
  });
  it('keeps entries of their own unique', () => {
    engine.run({ drop: 'unique' });
    engine.run({ create: 'unique' });
    engine.run({
      createIndexes: 'unique',
      indexes: [{ key: { 'e.k': 1, 'e.v': 1 }, name: 'k_v', unique: true }],
    });
    engine.run({
      insert: 'unique',
      documents: [
        {
          _id: 1,
          e: [
            { k: 'a', v: 1 },
            { k: 'b', v: 2 },
          ],
        },
        {
          _id: 2,
          e: [
            { k: 'a', v: 2 },
            { k: 'b', v: 1 },
          ],
        },
      ],
    });
    const again = engine.run({
      insert: 'unique',
      documents: [
        {
          _id: 3,
          e: [
            { k: 'c', v: 1 },
            { k: 'b', v: 2 },
          ],
        },
      ],
    }) as { writeErrors?: { code: number }[] };
    expect(again.writeErrors?.map(({ code }) => code)).toEqual([11000]);
  });
});

describe('indexes never change an answer', () => {
  it('over the fields of one array, whose bounds hold together for one element alone', () => {
    const name = fc.constantFrom<unknown>('a', 'b', 'c', null);
    const value = fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 0, max: 3 }) },
      { weight: 2, arbitrary: leaf },
      fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }),
    );
    const entry = fc.record(
      { k: name, v: value, w: fc.record({ x: value, y: value }, { requiredKeys: [] }) },
      { requiredKeys: [] },
    );
    const entries = fc.oneof(
      { weight: 8, arbitrary: fc.array(entry, { maxLength: 3 }) },
      {
        weight: 2,
        arbitrary: fc.array(fc.oneof(entry, leaf, fc.array(entry, { maxLength: 2 })), {
          maxLength: 3,
        }),
      },
      entry,
      leaf,
    );
    const test = fc.oneof(
      { weight: 3, arbitrary: value },
      fc.array(value, { maxLength: 2 }).map((v) => ({ $in: v })),
      value.map((v) => ({ $gte: v })),
      fc.tuple(small, small).map(([a, b]) => ({ $gt: Math.min(a, b) - 1, $lt: Math.max(a, b) })),
    );
    const named = fc.oneof(
      { weight: 3, arbitrary: name },
      fc.array(name, { maxLength: 3 }).map((v) => ({ $in: v })),
    );
    const one = fc.record(
      { k: named, v: test, 'w.x': test, 'w.y': test, '0': test },
      { requiredKeys: [] },
    );
    const where = fc.oneof(
      { weight: 4, arbitrary: one.map((inner): Document => ({ e: { $elemMatch: inner } })) },
      {
        weight: 2,
        arbitrary: fc.tuple(one, one).map(([a, b]): Document => ({
          $and: [{ e: { $elemMatch: a } }, { e: { $elemMatch: b } }],
        })),
      },
      {
        weight: 2,
        arbitrary: fc.record(
          {
            'e.k': named,
            'e.v': test,
            'e.w.x': test,
            'e.w.y': test,
            'd.e.k': named,
            'd.e.v': test,
            u: test,
          },
          { requiredKeys: [] },
        ) as fc.Arbitrary<Document>,
      },
      fc
        .tuple(one, test, named)
        .map(([inner, v, k]): Document => ({ e: { $elemMatch: inner }, 'e.v': v, 'e.k': k })),
      one.map((inner): Document => ({ 'd.e': { $elemMatch: inner } })),
      one.map((inner): Document => ({
        d: {
          $elemMatch: Object.fromEntries(
            Object.entries(inner).map(([path, v]) => [`e.${path}`, v]),
          ),
        },
      })),
    );
    const keys: Document[] = [
      { 'e.k': 1, 'e.v': 1 },
      { 'e.v': -1, u: 1, 'e.k': 1 },
      { 'e.w.x': 1, 'e.w.y': 1 },
      { 'e.k': 1, 'e.w.x': 1, 'e.w.y': 1 },
      { 'd.e.k': 1, 'd.e.v': 1 },
      { e: 1, 'e.k': 1 },
    ];
    let used = 0;
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            e: entries,
            d: fc.oneof(
              fc.record({ e: entries }),
              fc.array(fc.record({ e: entries }), { maxLength: 2 }),
            ),
            u: fc.integer({ min: 0, max: 30 }),
          }),
          { minLength: 1, maxLength: 8 },
        ),
        fc.array(where, { minLength: 4, maxLength: 4 }),
        (docs, queries) => {
          for (const key of keys) {
            fill(docs as Document[], [{ key, name: 'only' }], {});
            for (const f of queries) {
              both((collection) => ({ find: collection, filter: f }));
              if (
                JSON.stringify(engine.run({ explain: { find: 'indexed', filter: f } })).includes(
                  '"only"',
                )
              )
                used++;
            }
            // Keys go with their document, and come back with another.
            for (const collection of ['plain', 'indexed'])
              engine.run({
                update: collection,
                updates: [{ q: { _id: 0 }, u: [{ $set: { e: docs[docs.length - 1]!.e } }] }],
              });
            for (const f of queries) both((collection) => ({ find: collection, filter: f }));
          }
        },
      ),
      { numRuns: 150 },
    );
    expect(used).toBeGreaterThan(500);
  });
  const filters = fc.array(filter, { minLength: 3, maxLength: 3 });
  it('compound, multikey, sparse, partial and unique ones', () => {
    fc.assert(
      fc.property(documents, filters, (docs, queries) => {
        fill(
          docs as Document[],
          [...indexes(), { key: { u: 1 }, name: 'unique', unique: true }],
          {},
        );
        check(queries, {});
      }),
      { numRuns: 120 },
    );
  });
  it('partial ones, each by itself', () => {
    const partials: Document[] = [
      { v: { $gt: 0 } },
      { w: { $exists: true } },
      { w: { $type: 'number' } },
      { w: { $type: ['bool', 'date'] } },
      { $or: [{ w: 1 }, { w: { $gte: 'a' } }] },
      { w: { $in: ['a', 'b', 1, true] } },
      { v: { $lte: 2 }, w: { $exists: true } },
      { 'v.x': { $gte: 1 } },
    ];
    const keys: Document[] = [{ v: 1 }, { w: 1 }, { w: 1, v: -1 }, { 'v.x': 1 }];
    let used = 0;
    fc.assert(
      fc.property(
        documents,
        filters,
        fc.constantFrom(...partials),
        fc.constantFrom(...keys),
        (docs, queries, partialFilterExpression, key) => {
          fill(docs as Document[], [{ key, name: 'only', partialFilterExpression }], {});
          check(queries, {});
          for (const f of queries)
            if (
              JSON.stringify(engine.run({ explain: { find: 'indexed', filter: f } })).includes(
                '"only"',
              )
            )
              used++;
        },
      ),
      { numRuns: 150 },
    );
    expect(used).toBeGreaterThan(5);
  });
  it('with a collation of the collection, of the index, or of the query', () => {
    const collations = [
      { locale: 'en', strength: 1 },
      { locale: 'en', strength: 2 },
      { locale: 'fr', numericOrdering: true },
      { locale: 'sv', strength: 2 },
    ];
    const collation = fc.constantFrom(...collations);
    const word = fc.constantFrom<unknown>('a', 'A', 'á', 'b', 'B', '1', '01', 1);
    const words = fc.array(
      fc.record({ v: fc.oneof(word, fc.array(word, { maxLength: 2 })), w: word }),
      { minLength: 4, maxLength: 14 },
    );
    const sought = fc.array(
      fc
        .tuple(
          fc.constantFrom('v', 'w'),
          fc.oneof(
            word,
            word.map((x) => ({ $gte: x })),
            fc.array(word, { minLength: 1, maxLength: 2 }).map((x) => ({ $in: x })),
          ),
        )
        .map(([path, c]): Document => ({ [path as string]: c })),
      { minLength: 3, maxLength: 3 },
    );
    fc.assert(
      fc.property(
        fc.oneof(documents, words),
        fc.oneof(filters, sought),
        collation,
        fc.option(collation),
        fc.constantFrom('collection', 'index', 'query'),
        (docs, queries, own, asked, where) => {
          const partial = {
            key: { v: 1 },
            name: 'some',
            partialFilterExpression: { w: { $gte: 'A' } },
          };
          const specs = [
            ...indexes(where === 'index' ? { collation: own } : {}),
            where === 'index' ? { ...partial, collation: own } : partial,
          ];
          fill(docs as Document[], specs, where === 'collection' ? { collation: own } : {});
          check(queries, asked ? { collation: asked } : {});
        },
      ),
      { numRuns: 80 },
    );
  });
});
