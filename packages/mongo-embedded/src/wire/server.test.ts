import { BSON } from 'mongodb';
import { expect, it } from 'vitest';
import { Doc } from '../bson/doc';
import { encode } from '../bson/encode';
import { excerpt } from './server';

/** What `currentOp` shows of a command after its bytes have moved to the thread that runs it. */
function shownAfterMove(command: BSON.Document): BSON.Document {
  const bytes = new Uint8Array(BSON.serialize(command));
  const shown = excerpt(Doc.fromRaw(Buffer.from(bytes.buffer)));
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  expect(bytes.buffer.byteLength).toBe(0);
  return BSON.deserialize(encode(shown.copy().set('lsid', undefined)));
}
const long = Array.from({ length: 1000 }, (_, i) => ({ $match: { i } }));

it('currentOp shows commands whose bytes have moved to a thread', () => {
  expect(shownAfterMove({ find: 'c', filter: { a: 1 }, $db: 'd' })).toEqual({
    find: 'c',
    filter: { a: 1 },
    $db: 'd',
  });
  expect(shownAfterMove({ aggregate: 'c', pipeline: long, $db: 'd' })).toEqual({
    aggregate: 'c',
    $db: 'd',
    $truncated: true,
  });
  expect(
    shownAfterMove({
      explain: { aggregate: 'c', pipeline: long },
      verbosity: 'executionStats',
      $db: 'd',
    }),
  ).toEqual({ explain: { aggregate: 'c' }, $db: 'd', $truncated: true });
  expect(shownAfterMove({ explain: { x: { y: long } }, $db: 'd' })).toEqual({
    explain: {},
    $db: 'd',
    $truncated: true,
  });
  expect(shownAfterMove({ odd: new BSON.Binary(new Uint8Array(5000)), $db: 'd' })).toEqual({
    odd: null,
    $db: 'd',
    $truncated: true,
  });
});
