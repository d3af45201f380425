import { expect, it } from 'vitest';
import { plainFinalProjection } from './final-projection';

it('keeps a field by 1 in the last stage, and changes nothing else', () => {
  const earlier = { $project: { _id: 0, a: '$a' } };
  expect(
    plainFinalProjection([
      earlier,
      { $project: { _id: 0, a: '$a', b: '$a', 'c.d': '$c.d', e: { $literal: 1 } } },
    ]),
  ).toEqual([earlier, { $project: { _id: 0, a: 1, b: '$a', 'c.d': '$c.d', e: { $literal: 1 } } }]);
  const other = [{ $project: { _id: '$_id' } }, { $limit: 1 }];
  expect(plainFinalProjection(other)).toBe(other);
  expect(plainFinalProjection([])).toEqual([]);
});
