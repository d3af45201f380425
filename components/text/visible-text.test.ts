import { expect, test } from 'vitest';
import { visibleParts } from './visible-text';

const marked = (text: string): string =>
  visibleParts(text)
    .map((part) => part.mark ?? part.text)
    .join('');

test('blanks between words stay as they are; others are marked', () => {
  expect(marked('New York City')).toBe('New York City');
  expect(marked(' APG')).toBe('␣APG');
  expect(marked('APG  ')).toBe('APG␣␣');
  expect(marked('a  b c')).toBe('a␣␣b c');
  expect(marked('   ')).toBe('␣␣␣');
});

test('tabs, line ends and characters without a shape are marked', () => {
  expect(marked('a\tb\r\nc')).toBe('a⇥b␍⏎c');
  expect(marked('a\u00a0b\u200bc\u0000')).toBe('a⍽b‹U+200B›c‹U+0000›');
  expect(visibleParts('\t')).toEqual([{ text: '\t', mark: '⇥', name: 'tab' }]);
});

test('joiners are told where nothing is joined', () => {
  expect(visibleParts('👩‍💻')).toEqual([{ text: '👩‍💻' }]);
  expect(marked('a\u200db')).toBe('a‹U+200D›b');
});

test('the text itself stays whole, to be copied', () => {
  const text = ' a\t\tb \n c  d ';
  expect(
    visibleParts(text)
      .map((part) => part.text)
      .join(''),
  ).toBe(text);
});
