import { expect, test } from 'vitest';
import { CsvSyntaxError, readCsvRows } from './csv-rows';

test('rows with the line where each begins, whatever ends the lines', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    expect(readCsvRows(['\ufeffa,b', '', '"x ""y""","1', '2"', ' ,', '"",'].join(end))).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 3, cells: ['x "y"', `1${end}2`] },
      { line: 5, cells: [' ', ''] },
      { line: 6, cells: ['', ''] },
    ]);
  }
  expect(readCsvRows('')).toEqual([]);
  expect(readCsvRows('a,b\n')).toEqual([{ line: 1, cells: ['a', 'b'] }]);
  expect(readCsvRows('a\n""')).toEqual([{ line: 1, cells: ['a'] }]);
});

const rows = Array.from(
  { length: 8 },
  (_, index) => `"t.c${index}","t.f${index}","as stored","identity"`,
);
const withSixth = (row: string): string =>
  rows.map((own, index) => (index === 5 ? row : own)).join('\r\n');

test.each([
  [
    'at the end',
    '"t.c5","t.f5","as stored","identity',
    4,
    /^the quote that opens cell 4, "identity, is not closed on its line$/,
  ],
  [
    'in the middle',
    '"t.c5","t.f5,"as stored","identity"',
    2,
    /^cell 2 goes on behind its closing quote, "t\.f5,"as stored",.*: a quote within a cell is doubled/,
  ],
  [
    'missing where a cell opens',
    '"t.c5",t.f5","as stored","identity"',
    2,
    /^cell 2 holds a quote, t\.f5",/,
  ],
  [
    'not doubled',
    '"t.c5","t.f5","as stored","bool("yes", "no")"',
    4,
    /^cell 4 goes on behind its closing quote, "bool\("yes"/,
  ],
])('a quote %s is told at line 6, where it stands', (_, row, cell, message) => {
  let error: unknown;
  try {
    readCsvRows(withSixth(row));
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(CsvSyntaxError);
  expect(error).toMatchObject({ line: 6 });
  expect((error as Error).message).toMatch(message);
  expect((error as Error).message).toContain(`cell ${cell}`);
});

test('a quote that nothing behind it closes', () => {
  expect(() => readCsvRows('a,b\n"c,d\ne,f\n')).toThrow(
    /^the quote that opens cell 1, "c,d, is not closed on its line$/,
  );
});
