import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { numberFormat, NumberTextFinder, readNumber, writeNumber } from './number-format';

function find(texts: readonly string[]): string | undefined {
  const finder = new NumberTextFinder();
  for (const text of texts) finder.add(text);
  return finder.found()?.format;
}

describe('the format of a column of numbers', () => {
  it.each<[string | undefined, string[]]>([
    ['0', ['1', '20', '300']],
    ['0000', ['1990', '2001']],
    ['0;-0', ['1', '-20']],
    ['0.00', ['1.50', '20.00']],
    ['0.#', ['1', '2.5', '3.25']],
    ['0.0#', ['1.0', '2.5', '7.25']],
    [undefined, ['1.0', '2.5', '7']],
    ['#,##0', ['12', '1,234', '12,345,678']],
    ['$#,##0.00', ['$1,234.50', '$2.00']],
    ['$0.00;-$0.00', ['$1.50', '-$2.00']],
    ['€ 0.00', ['€ 1.50', '€ 2.00']],
    ['0%', ['5%', '100%']],
    ['0.0%', ['5.5%', '99.0%']],
    ['0 €', ['5 €', '17 €']],
    ['USD 0', ['USD 5', 'USD 17']],
    [undefined, []],
    [undefined, ['']],
    [undefined, ['1', 'x']],
    [undefined, ['$1', '€1']],
    [undefined, ['1,234', '5678']],
    [undefined, ['02134', '10001']],
    [undefined, ['1.50', '2']],
    [undefined, ['-0', '1']],
    [undefined, ['1e5']],
    [undefined, ['1,23']],
    [undefined, ['1234567890123456.25', '1.25']],
    [undefined, ['12345678901234567890']],
  ])('%s of %s', (format, texts) => {
    expect(find(texts)).toBe(format);
    if (format === undefined) return;
    const read = numberFormat(format);
    if (!read) throw new Error(format);
    const numbers = texts.map((text) => readNumber(read, text));
    expect(numbers.map((number) => writeNumber(read, number!))).toEqual(texts);
  });

  it('gives every text back that it reads, whatever the format', () => {
    const affix = fc.constantFrom('', '$', '€ ', '%');
    const format = fc.tuple(
      affix,
      fc.constantFrom('0', '000', '#,##0'),
      fc.constantFrom('', '.#', '.0#', '.00'),
    );
    const text = fc.stringMatching(/^-?[$€]? ?[0-9]{1,4}(,[0-9]{3})?(\.[0-9]{0,3})?%?$/);
    fc.assert(
      fc.property(format, text, ([prefix, integer, decimals], given) => {
        const read = numberFormat(`${prefix}${integer}${decimals}`);
        const number = read && readNumber(read, given);
        if (!read || number === undefined) return;
        expect(writeNumber(read, number)).toBe(given);
      }),
      { numRuns: 5000 },
    );
  });

  it.each(['', '0.0.0', '#,##', '1', '0;0', '-0', 'a0b0', '00.00;-0'])('%s is none', (pattern) => {
    expect(numberFormat(pattern)).toBeUndefined();
  });
});
