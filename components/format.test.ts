import { expect, test } from 'vitest';
import { counted, sentence } from './format';

test('one is singular, everything else plural', () => {
  expect([0, 1, 2, 1200].map((count) => counted(count, 'item'))).toEqual([
    '0 items',
    '1 item',
    '2 items',
    '1,200 items',
  ]);
  expect([1, 2].map((count) => counted(count, 'query', 'queries'))).toEqual([
    '1 query',
    '2 queries',
  ]);
});

test('a sentence ends once', () => {
  expect(
    ['refused as a zip bomb', 'Nothing was found.', 'is it?', 'it says "no."'].map(sentence),
  ).toEqual(['refused as a zip bomb.', 'Nothing was found.', 'is it?', 'it says "no."']);
});
