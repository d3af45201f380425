import { Binary, Double, Long } from 'mongodb';
import { expect, test } from 'vitest';
import { canonicalText, parseCanonical, relaxedJson } from '../results/extended-json';
import { parseMql } from './parse';
import { printMql } from './print';
import { printExtendedMql } from './print-extended-json';

/**
 * What a reviewer sees of a query that was saved: stored, read, sent over HTTP as JSON, printed.
 */
function reopened(text: string): string {
  const stored = parseCanonical<ReturnType<typeof parseMql>>(canonicalText(parseMql(text)));
  return printExtendedMql(JSON.parse(JSON.stringify(relaxedJson(stored))) as typeof stored);
}

test.each([
  ['a regular expression with an escaped slash', String.raw`db.c.find({ a: /x\/y/ })`],
  ['one with a slash in brackets', String.raw`db.c.find({ a: /[/]x/i })`],
  ['one with a backslash before the slash', String.raw`db.c.find({ a: /x\\\/y/ })`],
  ['a constructed one with a bare slash', String.raw`db.c.find({ a: RegExp("x/y", "i") })`],
  ['a line separator', 'db.c.find({ a: RegExp("x\u2028") })'],
  ['a double with an integral value', 'db.c.find({ a: Double("5") })'],
  ['a large number', 'db.c.find({ a: 5000000000 })'],
  ['a long beyond 2^53', 'db.c.find({ a: NumberLong("9007199254740993") })'],
  ['a date', 'db.c.find({ a: ISODate("2012-01-31") })'],
  ['bytes', 'db.c.find({ a: BinData(0, "AQI=") })'],
  ['a collection of two words', 'db.getCollection("two words").find({ "a b": -0.5 })'],
])('%s reopens as it was saved, on screen and in the bundle', (_, text) => {
  const { collection, pipeline } = parseMql(text);
  const printed = printMql(collection, pipeline);
  expect(reopened(text)).toBe(printed);
  expect(reopened(printed)).toBe(printed);
  expect(parseMql(printed)).toEqual({ collection, pipeline });
});

test('a document that only resembles a wrapper is printed as it is', () => {
  const pipeline = [
    { $set: { a: { $date: 'never' }, b: { $binary: 1 }, c: { $numberInt: 5, d: 1 } } },
  ];
  expect(printMql('c', pipeline)).toBe(
    'db.c.aggregate([\n  { "$set": { "a": { "$date": "never" }, "b": { "$binary": 1 }, "c": { ' +
      '"$numberInt": 5, "d": 1 } } }\n])',
  );
});

test('values of the driver', () => {
  const values = {
    long: Long.fromNumber(5),
    double: new Double(-0),
    bytes: new Binary(new Uint8Array([1])),
  };
  expect(printMql('c', [{ $match: values }])).toBe(
    'db.c.aggregate([\n  { "$match": { "long": NumberLong("5"), "double": Double("-0"), "bytes": ' +
      'BinData(0, "AQ==") } }\n])',
  );
});
