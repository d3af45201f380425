import { expect, test } from 'vitest';
import { bothSides } from './both-sides';

test('a column of root documents', () => {
  expect(
    bothSides('film', 'last "update"', {
      collection: 'film',
      place: 'film',
      destination: 'film.updated',
    }),
  ).toEqual({
    sql:
      'SELECT "last ""update""", COUNT(*) AS n\nFROM "film"\nGROUP BY "last ' +
      '""update"""\nORDER BY n DESC',
    mql: {
      collection: 'film',
      pipeline: [{ $group: { _id: '$updated', n: { $sum: 1 } } }, { $sort: { n: -1 } }],
    },
  });
});

test('entries of arrays in arrays, in a collection whose name has a dot', () => {
  expect(
    bothSides('part', 'no', {
      collection: 'my.order',
      place: 'my.order.lines.parts',
      destination: 'my.order.lines.parts.no',
    }).mql,
  ).toEqual({
    collection: 'my.order',
    pipeline: [
      { $unwind: '$lines' },
      { $unwind: '$lines.parts' },
      { $group: { _id: '$lines.parts.no', n: { $sum: 1 } } },
      { $sort: { n: -1 } },
    ],
  });
});
