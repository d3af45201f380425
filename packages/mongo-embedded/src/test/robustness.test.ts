import { describe, expect, it } from 'vitest';
import { accumulatorNames } from '../accumulators/accumulator';
import { Doc, FieldName } from '../bson/doc';
import { encode } from '../bson/encode';
import { ServerError } from '../errors';
import { Environment, operatorNames, parseExpression, Scope } from '../expressions/expression';
import { parseFilter } from '../query/match';
import { parsePipeline, stageNames, type Source } from '../stages/stage';
import '../stages/language';
import { Decimal } from '../bson/decimal';
import {
  Binary,
  Code,
  DateTime,
  double,
  maxKey,
  minKey,
  ObjectId,
  Regex,
  Timestamp,
  type Value,
} from '../bson/value';

/** Whatever operators are given: an answer, or an error of MongoDB's kind; never a crash. */

const date = new DateTime(1_614_953_229_045);
const odd: Value[] = [
  undefined,
  null,
  true,
  0,
  -1,
  3,
  2147483647,
  double(1),
  1.5,
  NaN,
  -Infinity,
  5n,
  -(2n ** 63n),
  Decimal.parse('1.5'),
  Decimal.NaN,
  '',
  'a',
  '$a',
  '$$ROOT',
  '$$nope',
  'é😀',
  '2020-01-01',
  date,
  new ObjectId(Buffer.alloc(12)),
  new Binary(0, Buffer.from('x')),
  new Regex('a(', 'i'),
  new Regex('a', ''),
  new Timestamp(1, 1),
  minKey,
  maxKey,
  new Code('x'),
  [],
  [1],
  [[1, 2], [3]],
  ['$a', '$b'],
  ['a', 'b'],
  [1, 0],
  ['x', 1, 2],
  [[['a', 1]]],
  [{ k: 'a', v: 1 }].map((o) => Doc.of(o)),
  Doc.empty(),
  Doc.of({ a: 1 }),
  Doc.of({ $add: [1, 'x'] }),
  Doc.of({ input: '$list', in: '$$this', as: 'this', initialValue: 0, cond: true }),
  Doc.of({ input: '$a', n: 2 }),
  Doc.of({ date: '$d', timezone: 'Europe/Paris' }),
  Doc.of({ date: '$d', unit: 'week' }),
  Doc.of({ startDate: '$d', endDate: '$d', unit: 'month' }),
  Doc.of({ startDate: '$d', amount: 1e9, unit: 'year' }),
  Doc.of({ input: 'ab', regex: 'b' }),
  Doc.of({ input: 'ab', find: 'a', replacement: 'c' }),
  Doc.of({ input: '$list', sortBy: Doc.of({ a: 1 }) }),
  Doc.of({ input: '5', to: 'int' }),
  Doc.of({ dateString: '2020-01-01' }),
  Doc.of({ year: 2020, month: 1e4 }),
  Doc.of({ vars: Doc.of({ x: 1 }), in: '$$x' }),
  Doc.of({ sortBy: Doc.of({ a: 1 }), output: '$a', n: 1 }),
  Doc.of({ field: 'a', input: '$$ROOT', value: 1 }),
  Doc.of({ inputs: [[1], [2]] }),
];
const docs = [
  Doc.empty(),
  Doc.of({
    _id: 1,
    a: 5,
    b: 'text',
    d: date,
    list: [1, 'x', Doc.of({ a: 1 })],
    nested: Doc.of({ a: [Doc.of({ b: 1 })] }),
  }),
  Doc.of({ _id: 2, a: null, b: [1, [2]], d: 'no date', list: 'none' }),
];

function check(work: () => unknown, what: string): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof ServerError))
      throw new Error(`${what}: ${String(error)}`, { cause: error });
    expect(error.code, what).toBeGreaterThan(1);
  }
}
function show(v: Value): string {
  if (v instanceof Doc) return `{${v.keys.join()}}`;
  if (Array.isArray(v)) return `[${v.map(show).join()}]`;
  return String(typeof v === 'object' && v ? v.constructor.name : v);
}

const source: Source = {
  database: 'test',
  scan: () => () => null,
  sorted: () => null,
  probe: () => null,
  view: () => null,
  statistics: () => null,
  indexes: () => [],
};
const context = () => ({
  scope: Scope.root(new Environment()),
  source,
  collection: 'c',
  depth: 0,
  inFacet: false,
});
const list = (items: Doc[]) => {
  let i = 0;
  return () => items[i++] ?? null;
};

describe('operators never crash', () => {
  for (const name of operatorNames()) {
    it(name, () => {
      for (const a of odd) {
        for (const operand of [a, [a], [a, 1], ['$a', a], [a, a, a], ['$b', a, 1], ['$list', a]]) {
          check(
            () => {
              const expression = parseExpression(
                Doc.of({ [name]: operand }),
                Scope.root(new Environment()),
              );
              for (const doc of docs) expression.evaluate(doc);
            },
            `${name} ${show(operand)}`,
          );
        }
      }
    });
  }

  it('in filters', () => {
    for (const name of [
      '$eq',
      '$ne',
      '$gt',
      '$in',
      '$nin',
      '$not',
      '$exists',
      '$type',
      '$size',
      '$mod',
      '$regex',
      '$options',
      '$all',
      '$elemMatch',
      '$bitsAllSet',
      '$and',
      '$or',
      '$nor',
      '$expr',
      '$jsonSchema',
      '$nonsense',
    ]) {
      for (const a of odd) {
        for (const spec of [
          Doc.of({ a: Doc.of({ [name]: a }) }),
          Doc.of({ [name]: a }),
          Doc.of({ 'nested.a.b': Doc.of({ [name]: [a] }) }),
          Doc.of({ list: Doc.of({ $elemMatch: Doc.of({ [name]: a }) }) }),
        ]) {
          check(
            () => {
              const filter = parseFilter(spec, Scope.root(new Environment()));
              for (const doc of docs) filter.test(doc);
            },
            `${name} ${show(a)}`,
          );
        }
      }
    }
  });

  it('as accumulators, in groups and windows', () => {
    for (const name of accumulatorNames) {
      for (const a of odd) {
        const field = Doc.of({ [name]: a });
        const stages: Value[] = [
          Doc.of({ $group: Doc.of({ _id: null, v: field }) }),
          Doc.of({
            $setWindowFields: Doc.of({
              sortBy: Doc.of({ a: 1 }),
              output: Doc.of({ v: Doc.of({ [name]: a, window: Doc.of({ documents: [-1, 1] }) }) }),
            }),
          }),
        ];
        for (const stage of stages) {
          check(
            () => {
              const next = parsePipeline([stage], context()).open(list(docs));
              while (next() !== null);
            },
            `${name} ${show(a)}`,
          );
        }
      }
    }
  });

  for (const name of stageNames()) {
    it(`stage ${name}`, () => {
      for (const a of odd) {
        check(
          () => {
            const next = parsePipeline([Doc.of({ [name]: a })], context()).open(list(docs));
            for (let i = 0; i < 100 && next() !== null; i++);
          },
          `${name} ${show(a)}`,
        );
      }
    });
  }
});

describe('documents with a name twice', () => {
  it('are read by the first, whatever was read before', () => {
    const raw = Doc.fromRaw(encode(new Doc(['a', 'b', 'a'], [1, 2, 3])));
    const [a, b] = ['a', 'b'].map((name) => new FieldName(name)) as [FieldName, FieldName];
    expect([raw.read(a), raw.read(b), raw.read(a)]).toEqual([1, 2, 1]);
    expect(raw.pickAs([a], 1, [undefined])).toBe(true);
    expect(raw.get('a')).toBe(1);
  });
});
