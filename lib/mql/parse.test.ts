import { Binary, BSONRegExp, Decimal128, Double, Long, ObjectId } from 'mongodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MqlSyntaxError, parseMql } from './parse';
import { printMql } from './print';

it.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])(
  'what every object has is no value: %s',
  (name) => {
    expect(() => parseMql(`db.c.aggregate([{$match: {a: ${name}}}])`)).toThrow(
      `${name} is not a value`,
    );
  },
);

describe('shell text', () => {
  it.each([
    [
      'db.c.aggregate([{$match: {a: 1, "b.c": {$gt: -2.5}}}]);',
      [{ $match: { a: 1, 'b.c': { $gt: -2.5 } } }],
    ],
    [
      "db.getCollection('a b').aggregate([ // first\n {$limit: 5,}, /* last */ ]).toArray();",
      [{ $limit: 5 }],
    ],
    [
      'db.c.find({a: {$in: [1, 2]}}, {_id: 0, a: 1}).sort({a: -1}).skip(2).limit(3)',
      [
        { $match: { a: { $in: [1, 2] } } },
        { $sort: { a: -1 } },
        { $skip: 2 },
        { $limit: 3 },
        { $project: { _id: 0, a: 1 } },
      ],
    ],
    ['db.c.findOne({a: null})', [{ $match: { a: null } }, { $limit: 1 }]],
    ['db.c.countDocuments({a: true})', [{ $match: { a: true } }, { $count: 'count' }]],
    [
      'db.c.find({a: 1}).sort({b: 1}).toArray()[2].x.y;',
      [
        { $match: { a: 1 } },
        { $sort: { b: 1 } },
        { $skip: 2 },
        { $limit: 1 },
        { $project: { _id: 0, y: '$x.y' } },
      ],
    ],
    [
      "db.c.aggregate([{$count: 'n'}]).next().n",
      [{ $count: 'n' }, { $limit: 1 }, { $project: { _id: 0, n: '$n' } }],
    ],
    [
      'db.c.findOne({a: 1}).name',
      [{ $match: { a: 1 } }, { $limit: 1 }, { $project: { _id: 0, name: '$name' } }],
    ],
    [
      "db.c.distinct('a.b', {c: 1})",
      [
        { $match: { c: 1 } },
        { $unwind: { path: '$a.b', preserveNullAndEmptyArrays: true } },
        { $match: { 'a.b': { $exists: true } } },
        { $group: { _id: '$a.b' } },
        { $project: { _id: 0, a_b: '$_id' } },
      ],
    ],
    ["db['c.d'].aggregate({$match: {}}, {$count: 'n'})", [{ $match: {} }, { $count: 'n' }]],
    [
      '{"collection": "c", "pipeline": [{"$match": {"a": {"$numberInt": "5"}}}]}',
      [{ $match: { a: 5 } }],
    ],
  ])('%s', (text, pipeline) => {
    expect(parseMql(text).pipeline).toEqual(pipeline);
  });

  it('reads typed values without evaluating anything', () => {
    const { pipeline } = parseMql(`db.c.aggregate([{$match: {
      id: ObjectId('64b5f0c2a1b2c3d4e5f60718'), at: ISODate("2020-03-24T12:00:00"), day: new Date('2020-03-24'),
      big: NumberLong("9007199254740993"), money: NumberDecimal('1.10'), whole: Double(1), name: /^a\\/b[/]c/i, data: BinData(0, "AQI="),
      date: {"$date": {"$numberLong": "0"}}, pattern: {$regularExpression: {pattern: "^x", options: "i"}}, real: {"$numberDouble": "1.0"}
    }}])`);
    expect(pipeline[0]?.['$match']).toEqual({
      id: ObjectId.createFromHexString('64b5f0c2a1b2c3d4e5f60718'),
      at: new Date('2020-03-24T12:00:00Z'),
      day: new Date('2020-03-24T00:00:00Z'),
      big: Long.fromString('9007199254740993'),
      money: Decimal128.fromString('1.10'),
      whole: new Double(1),
      name: new BSONRegExp('^a\\/b[/]c', 'i'),
      data: new Binary(Buffer.from([1, 2]), 0),
      date: new Date(0),
      pattern: new BSONRegExp('^x', 'i'),
      real: new Double(1),
    });
  });

  it.each([
    ['db.c.aggregate([{$match: {a: process.exit()}}])', /process.exit is not a value/],
    ['db.c.aggregate([{$match: {a: 1}}]', /expected , or \)/],
    ['db.c.aggregate([{$match: {a: `${x}`}}])', /not evaluated/],
    ['db.c.deleteMany({})', /does not read/],
    ['db.c.aggregate([{$match: {}, $limit: 1}])', /one key/],
    ['db.c.aggregate([])[0].f', /only an entry of toArray/],
    ['db.c.find({}).f', /before there is one document/],
    ['1 + 1', /name/],
    ['db.c.aggregate([{$match: {a: {$date: "x"}}}])', /no date/],
    ['db.c.find({a: new Date(2012, 0, 31)})', /time zone of the shell; write ISODate/],
    ['db.c.find({a: new Date(2012, 0)})', /time zone of the shell/],
    ['db.c.find({a: new Date("2012-01-31T10:00:00")})', /time zone of the shell/],
    ['db.c.find({a: new Date("Jan 31, 2012")})', /not an ISO 8601 date/],
    ['db.c.find({a: new Date("2012-13-31")})', /not a date/],
    ['db.c.find({a: new Date()})', /current time is not a constant/],
    ['db.c.find({a: Date("2012-01-31")})', /without new is the current time as text/],
    ['db.c.find({a: ISODate("31.1.2012")})', /not an ISO 8601 date/],
    ['db.c.find({a: ISODate()})', /current time is not a constant/],
  ])('refuses %s', (text, message) => {
    expect(() => parseMql(text)).toThrow(MqlSyntaxError);
    expect(() => parseMql(text)).toThrow(message);
  });
});

it('reads dates as the shell does', () => {
  const read = (text: string): unknown =>
    parseMql(`db.c.find({ a: ${text} })`).pipeline[0]!.$match.a;
  const day = new Date('2012-01-31T00:00:00Z');
  for (const text of [
    'new Date("2012-01-31")',
    'ISODate("2012-01-31")',
    `new Date(${day.getTime()})`,
    'new ISODate("2012-01-31T00:00:00")',
    'ISODate("2012-01-31 00:00:00")',
    'new Date("2012-01-31T01:00:00+01:00")',
    `new Date(NumberLong("${day.getTime()}"))`,
    'new Date(ISODate("2012-01-31"))',
  ]) {
    expect(read(text), text).toEqual(day);
  }
});

it('reads back whatever it prints', () => {
  const key = fc
    .stringMatching(/^[a-zA-Z_$. "\\é\n]{1,8}$/)
    .filter(
      (name) =>
        !/^\$(oid|date|number|binary|uuid|regular|timestamp|m)/.test(name) && name !== '__proto__',
    );
  const leaf = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
    fc.boolean(),
    fc.constant(null),
    fc.date({ noInvalidDate: true }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => Long.fromBigInt(value)),
    fc.integer().map((value) => new Double(value)),
    fc
      .string({ minLength: 1 })
      .filter((text) => !text.includes('\0'))
      .map((text) => new BSONRegExp(text, 'i')),
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(key, tie('any'), { maxKeys: 4 }),
    ),
  })).any;
  fc.assert(
    fc.property(
      fc.array(value, { maxLength: 3 }),
      fc.constantFrom('c', 'a b', 'x.y'),
      (values, collection) => {
        const pipeline = values.map((inner) => ({ $match: { field: inner } }));
        expect(parseMql(printMql(collection, pipeline))).toEqual({ collection, pipeline });
      },
    ),
    { numRuns: 500 },
  );
});
