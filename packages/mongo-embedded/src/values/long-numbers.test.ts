import { expect, test } from 'vitest';
import { Decimal } from '../bson/decimal';

test.each([
  ['digits', '1'.repeat(200_000)],
  ['digits behind a point', `1.${'1'.repeat(200_000)}`],
  ['signs', '+-'.repeat(100_000)],
])('a text of 200 kB that is no number is refused at once: %s', (_, text) => {
  const started = performance.now();
  expect(Decimal.parse(`${text}x`)).toBeUndefined();
  expect(performance.now() - started).toBeLessThan(500);
});
