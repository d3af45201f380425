import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compareResults,
  documentsToResultSet,
  isInOrder,
  isPartOf,
  type ComparisonRules,
} from './compare';
import { equalWithin, isIdentical, rowKey, valueKey } from './equality';
import { fromBson, toBsonValue, type ResultSet, type Value } from './value';
import { BSON, Decimal128, Double, Int32, Long } from 'mongodb';

const set = (columns: string[], ...rows: Value[][]): ResultSet => ({ columns, rows });
const named: ComparisonRules = { columns: 'named', extraColumns: 'refuse', order: 'bag' };
const any: ComparisonRules = { columns: 'any', extraColumns: 'refuse', order: 'bag' };
const kind = (expected: ResultSet, actual: ResultSet, rules: ComparisonRules = named): string =>
  compareResults(expected, actual, rules).kind;

describe('values', () => {
  test.each<[string, Value, Value, boolean]>([
    ['text never equals a number', '1', 1n, false],
    ['a boolean never equals a number', true, 1n, false],
    ['integers compare exactly', 9007199254740993n, 9007199254740992n, false],
    ['an integer equals an integral double', 2n, 2, true],
    ['an integer equals no double that is only close to it', 3n, 3.0000000001, false],
    [
      'an integer beyond 2^53 equals no double that was rounded',
      9007199254740993n,
      9007199254740992,
      false,
    ],
    [
      'an integer beyond 2^53 equals the double that is it',
      9007199254740992n,
      9007199254740992,
      true,
    ],
    [
      'a real equals no integer that is only close to it',
      1849668512354311.8,
      1849668512354311n,
      false,
    ],
    ['the largest integer is not 2^63', 9223372036854775807n, 2 ** 63, false],
    ['integral floats are equal within 1e-9', 1e15, 1e15 + 1, true],
    ['an integral float equals a close one', 3, 2.9999999999999996, true],
    ['floats are equal within 1e-9', 0.1 + 0.2, 0.3, true],
    ['floats beyond 1e-9 differ', 1, 1 + 1e-8, false],
    ['NaN equals NaN', NaN, NaN, true],
    ['infinities differ by sign', Infinity, -Infinity, false],
    ['zero has no sign', 0, -0, true],
    ['the empty string is not null', '', null, false],
    ['trailing blanks count', 'a', 'a ', false],
    ['bytes compare by content', new Uint8Array([1, 2]), new Uint8Array([1, 2]), true],
    ['arrays compare in order', [1n, 2n], [2n, 1n], false],
    ['key order of documents counts', { a: 1n, b: 2n }, { b: 2n, a: 1n }, false],
  ])('%s', (_, a, b, equal) => {
    expect(equalWithin(a, b)).toBe(equal);
    expect(equalWithin(b, a)).toBe(equal);
  });

  test('no cell can imitate the boundary between cells', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string(), { minLength: 1, maxLength: 3 }),
        fc.array(fc.string(), { minLength: 1, maxLength: 3 }),
        (a, b) => {
          fc.pre(JSON.stringify(a) !== JSON.stringify(b));
          expect(rowKey(a)).not.toBe(rowKey(b));
        },
      ),
    );
  });

  test('BSON types come to one canonical form', () => {
    expect(
      [new Int32(5), Long.fromBigInt(5n), new Double(5), Decimal128.fromString('5')].map((value) =>
        valueKey(fromBson(value)),
      ),
    ).toEqual(['n5', 'n5', 'n5', 'n5']);
    expect(fromBson(Long.fromBigInt(2n ** 63n - 1n))).toBe(2n ** 63n - 1n);
    expect(fromBson(undefined)).toBeNull();
    expect([
      fromBson(new Double(5)),
      fromBson(new Double(2 ** 60)),
      fromBson(new Int32(5)),
    ]).toEqual([5, 2 ** 60, 5n]);
    expect(Object.keys(fromBson(JSON.parse('{"__proto__": 1}')) as object)).toEqual(['__proto__']);
  });
});

test('a value comes back from Extended JSON with its type', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const bytes = fc.uint8Array({ maxLength: 4 }).map((array) => new Uint8Array(array));
  const scalar = fc.oneof(fc.constant(null), fc.boolean(), int64, fc.double(), fc.string(), bytes);
  const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }));
  const edges = [0n, -0, 2n ** 31n, -(2n ** 63n), 2n ** 63n - 1n, 2 ** 63, 1e21, 5, NaN, -Infinity];
  fc.assert(
    fc.property(fc.oneof(value, fc.constantFrom<Value>(...edges)), (cell) => {
      const text = BSON.EJSON.stringify({ cell: toBsonValue(cell) }, { relaxed: false });
      const read = BSON.EJSON.parse(text, { relaxed: false }) as { cell: unknown };
      expect(isIdentical(fromBson(read.cell), cell)).toBe(true);
    }),
  );
});

test.each<[Value, Value]>([
  [5n, 5],
  [0, -0],
  [0.3, 0.1 + 0.2],
  ['1', 1n],
  [new Uint8Array([1]), new Uint8Array([2])],
  [new Uint8Array(), ''],
  [[1n], [1]],
  [{ a: 1n }, { b: 1n }],
  [null, false],
])('%s is not identical to %s', (a, b) => {
  expect([isIdentical(a, b), isIdentical(b, a)]).toEqual([false, false]);
  expect([isIdentical(a, a), isIdentical(b, b)]).toEqual([true, true]);
});

describe('verdicts', () => {
  test('rows are a bag', () => {
    expect(kind(set(['a'], [1n], [2n]), set(['a'], [2n], [1n]))).toBe('equal');
    expect(kind(set(['a'], [1n], [1n]), set(['a'], [1n], [2n]))).toBe('value');
    expect(kind(set(['a'], [1n]), set(['a'], [1n], [1n]))).toBe('row_count');
  });

  test('rows may not come apart, whatever the columns hold', () => {
    const expected = set(['a', 'b'], [1n, 'x'], [2n, 'y']);
    expect(kind(expected, set(['b', 'a'], ['x', 1n], ['y', 2n]), any)).toBe('equal');
    expect(kind(expected, set(['p', 'q'], [1n, 'y'], [2n, 'x']), any)).not.toBe('equal');
  });

  test('columns with the same values are told apart by the rows', () => {
    const expected = set(['a', 'b', 'c'], [1n, 2n, 1n], [2n, 1n, 1n]);
    const actual = set(['x', 'y', 'z'], [1n, 2n, 1n], [1n, 1n, 2n]);
    const verdict = compareResults(expected, actual, any);
    expect(verdict.kind).toBe('equal');
    expect(new Set(verdict.mapping).size).toBe(3);
  });

  test('an all-null column may be absent; another one may not', () => {
    expect(kind(set(['a', 'b'], [1n, null]), set(['a'], [1n]))).toBe('equal');
    expect(kind(set(['a', 'b'], [1n, 2n]), set(['a'], [1n]))).toBe('missing_column');
  });

  test('extra columns are refused or allowed by rule', () => {
    const [expected, actual] = [set(['a'], [1n]), set(['a', 'b'], [1n, 2n])];
    expect(kind(expected, actual)).toBe('extra_column');
    expect(kind(expected, actual, { ...named, extraColumns: 'allow' })).toBe('equal');
  });

  test('order counts where the source orders, up to ties of its keys', () => {
    const expected = set(['k', 'v'], [1n, 'a'], [1n, 'b'], [2n, 'c']);
    const permuted = set(['k', 'v'], [1n, 'b'], [1n, 'a'], [2n, 'c']);
    const reversed = set(['k', 'v'], [2n, 'c'], [1n, 'b'], [1n, 'a']);
    const upToTies: ComparisonRules = { ...named, order: { tied: [[0, 1]] } };
    expect(kind(expected, permuted, upToTies)).toBe('equal');
    expect(kind(expected, permuted, { ...named, order: { tied: [] } })).toBe('order');
    expect(kind(expected, permuted, { ...named, order: 'sequence' })).toBe('order');
    expect(kind(expected, reversed, upToTies)).toBe('order');
    expect(kind(expected, reversed, { ...named, order: { tied: [[0, 2]] } })).toBe('equal');
  });

  test('the first rows of a longer result are in order, and may be any of a tie that goes on', () => {
    const actual = [
      [1n, 'a'],
      [2n, 'b'],
      [2n, 'c'],
      [2n, 'd'],
      [3n, 'e'],
    ];
    expect(
      isInOrder(
        [
          [1n, 'a'],
          [2n, 'd'],
        ],
        actual,
        [[1, 3]],
      ),
    ).toBe(true);
    expect(
      isInOrder(
        [
          [1n, 'a'],
          [3n, 'e'],
        ],
        actual,
        [[1, 3]],
      ),
    ).toBe(false);
    expect(
      isInOrder(
        [
          [2n, 'b'],
          [1n, 'a'],
        ],
        actual,
        [],
      ),
    ).toBe(false);
    expect(
      isPartOf(
        [
          [3n, 'e'],
          [1n, 'a'],
        ],
        actual,
      ),
    ).toBe(true);
    expect(
      isPartOf(
        [
          [3n, 'e'],
          [3n, 'e'],
        ],
        actual,
      ),
    ).toBe(false);
  });

  test('floats on either side of a rounding boundary are paired', () => {
    const [x, y] = [1.00000000449999, 1.0000000045];
    expect(kind(set(['a', 'b'], [x, 'p'], [2.5, 'q']), set(['a', 'b'], [2.5, 'q'], [y, 'p']))).toBe(
      'equal',
    );
  });

  test('integral floats next to others are paired, in named columns and in searched ones', () => {
    const expected = set(['a', 'b'], [3, 'p'], [1e15, 'q'], [2.5, 'r']);
    const actual = set(['a', 'b'], [2.5, 'r'], [1e15 + 1, 'q'], [2.9999999999999996, 'p']);
    expect(kind(expected, actual)).toBe('equal');
    expect(kind(expected, { ...actual, columns: ['x', 'y'] }, any)).toBe('equal');
  });

  test('integers and floats in one column are paired each by its own rule', () => {
    const expected = set(
      ['a', 'b'],
      [2n, 1n],
      [2.0000000001, 2n],
      [9007199254740993n, 3n],
      [null, 4n],
    );
    const actual = set(['a', 'b'], [null, 4n], [9007199254740993n, 3n], [2, 2n], [2n, 1n]);
    expect(kind(expected, actual)).toBe('equal');
    expect(
      kind(expected, set(['a', 'b'], [null, 4n], [9007199254740992, 3n], [2, 2n], [2n, 1n])),
    ).toBe('value');
  });

  test('the difference shows what only one side has', () => {
    const verdict = compareResults(set(['a'], [1n], [2n]), set(['a'], [1n], [3n]), named);
    expect([verdict.onlyExpected, verdict.onlyActual]).toEqual([[[2n]], [[3n]]]);
  });

  test('a result equals itself in any order of rows and columns', () => {
    const cell = fc.oneof(
      fc.constant(null),
      fc.bigInt({ min: -5n, max: 5n }),
      fc.double({ noNaN: true }),
      fc.string({ maxLength: 3 }),
      fc.boolean(),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 0, max: 8 }),
        fc.infiniteStream(cell),
        fc.infiniteStream(fc.integer()),
        (width, height, cells, shuffle) => {
          const next = (): Value => cells.next().value as Value;
          const rows = Array.from({ length: height }, () => Array.from({ length: width }, next));
          const order = <T>(list: readonly T[]): T[] =>
            list
              .map((value) => [shuffle.next().value as number, value] as const)
              .sort((a, b) => a[0] - b[0])
              .map(([, value]) => value);
          const columns = order(Array.from({ length: width }, (_, index) => index));
          const actual = set(
            columns.map((at) => `x${at}`),
            ...order(rows).map((row) => columns.map((at) => row[at]!)),
          );
          expect(
            kind(
              set(
                columns.map((_, index) => `c${index}`),
                ...rows,
              ),
              actual,
              any,
            ),
          ).toBe('equal');
        },
      ),
      { numRuns: 300 },
    );
  });
});

test('documents are flattened to dotted columns, arrays stay whole', () => {
  const { columns, rows } = documentsToResultSet([{ a: { b: 1n, c: [1n, 2n] } }, { d: 'x' }]);
  expect(columns).toEqual(['a.b', 'a.c', 'd']);
  expect(rows).toEqual([
    [1n, [1n, 2n], null],
    [null, null, 'x'],
  ]);
});
