import { Double, Long } from 'mongodb';
import { expect, test } from 'vitest';
import { contentHash } from '../results/hash';
import { decodeContent, encodeContent, fromWire, toWire } from './content';

const content = { b: 5, a: 5.5, long: 5_000_000_000, huge: 2n ** 60n, small: 7n, whole: new Double(5), zero: -0, at: new Date(0), nul: 'a\0b', list: [{ z: 1, y: -1 }], ['__proto__']: { x: 1 } };

test('content comes back as it was written, with the same hash', () => {
  const read = decodeContent<typeof content>(encodeContent(content));
  expect(read).toEqual(content);
  expect(Object.keys(read)).toEqual(Object.keys(content));
  expect(contentHash(read)).toBe(contentHash(content));
  expect(contentHash(decodeContent(encodeContent({ long: Long.fromNumber(7) })))).toBe(contentHash({ long: Long.fromNumber(7) }));
});

test('the wire loses no digit and keeps key order', () => {
  expect(JSON.stringify(toWire({ b: 2n ** 60n, a: [7n, 1.5] }))).toBe('{"b":{"$numberLong":"1152921504606846976"},"a":[7,1.5]}');
  expect(fromWire({ b: { $numberLong: '1152921504606846976' }, at: { $date: '2020-01-01T00:00:00Z' } })).toEqual({ b: 2n ** 60n, at: new Date('2020-01-01') });
});
