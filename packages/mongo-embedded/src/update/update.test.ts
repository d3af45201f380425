import { BSON, Long, type Document } from 'mongodb';
import { afterAll, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

const engine = new TestEngine();
afterAll(() => engine.close());

/** The document after the update, as JSON with its key order; or the number of the error. */
function updated(document: Document, u: Document, more: Document = {}, q: Document = {}): unknown {
  engine.fill('c', [{ _id: 0, ...document }]);
  const reply = engine.run({ update: 'c', updates: [{ q, u, ...more }] });
  const [error] = (reply.writeErrors as Document[] | undefined) ?? [];
  if (error) return error.code;
  const [after] = (engine.run({ find: 'c' }).cursor as { firstBatch: Document[] }).firstBatch;
  return BSON.EJSON.stringify(after as Document);
}

it('new fields appear in the order of their names, whatever the operators', () => {
  expect(updated({ m: 1 }, { $set: { z: 1, b: 2 }, $inc: { a: 1 } })).toBe(
    '{"_id":0,"m":1,"a":1,"b":2,"z":1}',
  );
  expect(updated({ o: {} }, { $set: { 'o.x10': 1, 'o.x2': 2, 'o.B': 3 } })).toBe(
    '{"_id":0,"o":{"B":3,"x10":1,"x2":2}}',
  );
  expect(updated({ old: 5 }, { $rename: { old: 'new' }, $set: { a: 1 } })).toBe(
    '{"_id":0,"a":1,"new":5}',
  );
  expect(updated({ a: [] }, { $set: { 'a.10': 'ten', 'a.2': 'two' } })).toBe(
    '{"_id":0,"a":[null,null,"two",null,null,null,null,null,null,null,"ten"]}',
  );
});

it('integers that overflow a long are an error, doubles are not', () => {
  const largest = Long.MAX_VALUE;
  expect(updated({ a: largest }, { $inc: { a: 1 } })).toBe(2);
  expect(updated({ a: largest }, { $mul: { a: 2 } })).toBe(2);
  expect(updated({ a: 2147483647 }, { $inc: { a: 1 } })).toBe('{"_id":0,"a":2147483648}');
  expect(updated({ a: 1.5 }, { $mul: { a: 2 } })).toBe('{"_id":0,"a":3}');
});

it('$rename refuses itself and elements of arrays', () => {
  expect(updated({ a: 1 }, { $rename: { a: 'a' } })).toBe(2);
  expect(updated({ a: [1, 2] }, { $rename: { 'a.0': 'b' } })).toBe(2);
  expect(updated({ a: 1, b: [1] }, { $rename: { a: 'b.0' } })).toBe(2);
  expect(updated({ a: 1 }, { $rename: { gone: 'b' } })).toBe('{"_id":0,"a":1}');
});

it('array filters must be used, once', () => {
  const document = { a: [{ b: 1 }, { b: 2 }] };
  const u = { $set: { 'a.$[x].b': 0 } };
  expect(updated(document, u, { arrayFilters: [{ 'x.b': { $gt: 1 } }] })).toBe(
    '{"_id":0,"a":[{"b":1},{"b":0}]}',
  );
  expect(updated(document, u, { arrayFilters: [{ 'x.b': 1 }, { y: 1 }] })).toBe(9);
  expect(updated(document, u, { arrayFilters: [{ 'x.b': 1 }, { 'x.b': 2 }] })).toBe(9);
  expect(updated(document, u)).toBe(2);
  expect(updated(document, { $set: { 'a.$[X].b': 0 } }, { arrayFilters: [{ 'X.b': 1 }] })).toBe(2);
});
