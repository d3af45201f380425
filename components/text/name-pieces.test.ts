import { expect, test } from 'vitest';
import { namePieces } from './name-pieces';

test('names break between words', () => {
  expect(namePieces('alignment')).toEqual(['alignment']);
  expect(namePieces('superhero.alignment_id')).toEqual(['superhero.', 'alignment_', 'id']);
  expect(namePieces('sourceAirportCode')).toEqual(['source', 'Airport', 'Code']);
  expect(namePieces('line(order_id)')).toEqual(['line(', 'order_', 'id)']);
});

test('what has no words breaks somewhere; nothing is lost', () => {
  const name = 'x'.repeat(60);
  expect(namePieces(name).map(({ length }) => length)).toEqual([28, 28, 4]);
  expect(namePieces('__a..b--').join('')).toBe('__a..b--');
  expect(namePieces('')).toEqual(['']);
});
