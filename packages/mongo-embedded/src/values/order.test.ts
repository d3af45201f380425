import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Doc } from '../bson/doc';
import { encodeKey } from '../storage/keys';
import { compareValues } from './compare';
import { Decimal } from '../bson/decimal';
import {
  Binary,
  DateTime,
  double,
  maxKey,
  minKey,
  ObjectId,
  Regex,
  Timestamp,
  type Value,
} from '../bson/value';
import { ValueMap } from './value-map';

const decimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: -25, max: 5 }))
  .map(([n, e]) => Decimal.make(n < 0n, n < 0n ? -n : n, e));
const nearTwo53 = fc.integer({ min: -3, max: 3 }).map((n) => 9007199254740992n + BigInt(n));
const number: fc.Arbitrary<Value> = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.integer(),
  fc.double().map(double),
  fc.integer({ min: -4, max: 4 }).map((n) => double(n / 2)),
  nearTwo53,
  nearTwo53.map((n) => -n),
  nearTwo53.map((n) => double(Number(n))),
  nearTwo53.map((n) => Decimal.fromBigInt(n)),
  decimal,
  fc.constantFrom<Value>(
    Decimal.NaN,
    Decimal.Infinity,
    Decimal.NegativeInfinity,
    NaN,
    Infinity,
    Decimal.fromDoubleExact(0.1),
    Decimal.parse('0.1'),
    0.1,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ),
);
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 4 }),
  fc.constantFrom('', '\0', 'a\0', 'a\0b', 'a', '😀', '～'),
);
const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    number,
    text,
    fc.boolean(),
    fc.constantFrom<Value>(null, minKey, maxKey),
    fc.integer().map((n) => new DateTime(n)),
    fc.uint8Array({ maxLength: 3 }).map((b) => new Binary(0, b)),
    fc.uint8Array({ minLength: 12, maxLength: 12 }).map((b) => new ObjectId(b)),
    fc.nat(5).map((n) => new Timestamp(n, 5 - n)),
    fc.constantFrom(new Regex('a', ''), new Regex('a', 'i')),
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .dictionary(fc.constantFrom('a', 'b', 'ab'), tie('value'), { maxKeys: 3 })
      .map((o) => Doc.of(o as Record<string, Value>)),
  ),
}));

const sign = Math.sign;

describe('order of values', () => {
  it('is the order of their index keys', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(sign(Buffer.compare(encodeKey(a), encodeKey(b)))).toBe(compareValues(a, b));
      }),
      { numRuns: 3000 },
    );
  });
  it('is that of numbers, whatever their type', () => {
    fc.assert(
      fc.property(number, number, (a, b) => {
        expect(sign(Buffer.compare(encodeKey(a), encodeKey(b)))).toBe(compareValues(a, b));
      }),
      { numRuns: 3000 },
    );
  });
  it('is total', () => {
    fc.assert(
      fc.property(value, value, value, (a, b, c) => {
        expect(compareValues(a, b) + compareValues(b, a)).toBe(0);
        if (compareValues(a, b) <= 0 && compareValues(b, c) <= 0)
          expect(compareValues(a, c)).toBeLessThanOrEqual(0);
      }),
      { numRuns: 2000 },
    );
  });
  it('says what a ValueMap takes for the same key', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const map = new ValueMap<number>();
        map.upsert(a, () => 1);
        expect(map.has(b)).toBe(compareValues(a, b) === 0);
      }),
      { numRuns: 2000 },
    );
  });
});
