import { Binary, BSON, Double, Long } from 'mongodb';
import { expect, test } from 'vitest';
import { contentHash } from '../results/hash';
import { parseRelaxed, relaxedJson } from '../results/extended-json';
import { decodeContent, encodeContent } from './content';

const content = {
  b: 5,
  a: 5.5,
  long: 5_000_000_000,
  huge: 2n ** 60n,
  small: 7n,
  whole: new Double(5),
  zero: -0,
  at: new Date(0),
  nul: 'a\0b',
  list: [{ z: 1, y: -1 }],
  ['__proto__']: { x: 1 },
};

test('content comes back as it was written, with the same hash', () => {
  const read = decodeContent<typeof content>(encodeContent(content));
  expect(read).toEqual(content);
  expect(Object.keys(read)).toEqual(Object.keys(content));
  expect(contentHash(read)).toBe(contentHash(content));
  expect(contentHash(decodeContent(encodeContent({ long: Long.fromNumber(7) })))).toBe(
    contentHash({ long: Long.fromNumber(7) }),
  );
});

test('the wire loses no digit and keeps key order', () => {
  expect(JSON.stringify(relaxedJson({ b: 2n ** 60n, a: [7n, 1.5] }))).toBe(
    '{"b":{"$numberLong":"1152921504606846976"},"a":[7,1.5]}',
  );
  expect(
    parseRelaxed({
      b: { $numberLong: '1152921504606846976' },
      at: { $date: '2020-01-01T00:00:00Z' },
    }),
  ).toEqual({ b: 2n ** 60n, at: new Date('2020-01-01') });
});

test('bytes and numbers from 2^53 on keep their type', () => {
  const written = {
    bytes: new Uint8Array([137, 80]),
    huge: 2 ** 63,
    rows: [[2 ** 53, new Uint8Array()]],
  };
  const read = decodeContent<Record<string, unknown>>(encodeContent(written));
  expect(read).toEqual({
    bytes: new Binary(new Uint8Array([137, 80])),
    huge: 2 ** 63,
    rows: [[2 ** 53, new Binary(new Uint8Array())]],
  });
  expect(contentHash(read)).toBe(contentHash(written));
  expect(relaxedJson(written)).toEqual({
    bytes: { $binary: { base64: 'iVA=', subType: '00' } },
    huge: 2 ** 63,
    rows: [[2 ** 53, { $binary: { base64: '', subType: '00' } }]],
  });
  expect(parseRelaxed(relaxedJson({ a: new Double(5) }))).toEqual({ a: new Double(5) });
});

test('deep content takes time in proportion to its size', () => {
  let deep: unknown = new Uint8Array([1]);
  for (let depth = 0; depth < 100; depth++) deep = { deep };
  expect(() => encodeContent(deep)).not.toThrow();
}, 2000);

test('a literal keeps its type on every way: a long is no double, nor the other way round', () => {
  const pipeline = [
    {
      $set: {
        long: Long.fromBigInt(2n ** 31n),
        double: 2 ** 31,
        small: 5,
        large: Long.fromBigInt(2n ** 53n + 1n),
        whole: new Double(5),
      },
    },
  ];
  const sent = (value: unknown): unknown =>
    BSON.deserialize(BSON.serialize({ value }), { promoteValues: false });
  const stored = decodeContent<typeof pipeline>(encodeContent(pipeline));
  expect(sent(stored)).toEqual(sent(pipeline));
  const overHttp = parseRelaxed(JSON.parse(JSON.stringify(relaxedJson(stored))));
  expect(sent(overHttp)).toEqual(sent(pipeline));
  expect(sent(decodeContent(encodeContent(stored)))).toEqual(sent(pipeline));
  expect(contentHash(stored)).toBe(contentHash(pipeline));
});
