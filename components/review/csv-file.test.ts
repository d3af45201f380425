import { expect, test } from 'vitest';
import { MOST_CSV_BYTES, readCsvFile } from './csv-file';

const file = (...parts: (string | Uint8Array<ArrayBuffer>)[]): File => new File(parts, 'hero.csv');

test('text in UTF-8, up to a limit', async () => {
  expect(await readCsvFile(file('\ufeffa,"ü"\r\n'))).toEqual({
    csv: 'a,"ü"\r\n',
    fileName: 'hero.csv',
  });
  expect((await readCsvFile(file('x'.repeat(MOST_CSV_BYTES)))).csv).toHaveLength(MOST_CSV_BYTES);
});

test.each([
  [
    'too large',
    'x'.repeat(2_500_000),
    'hero.csv has 2.5 MB; a logical design as CSV may have 1.0 MB at most. Is it another file?',
  ],
  ['empty', '', /^hero\.csv is empty\./],
  [
    'of another encoding',
    new Uint8Array([0x61, 0xfc, 0x62]),
    /^hero\.csv is no text in UTF-8\. Save it as “CSV UTF-8”/,
  ],
  ['a workbook', new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]), /^hero\.csv is no text: it holds NUL/],
])('a file that is %s is refused with what to do', async (_, content, message) => {
  await expect(readCsvFile(file(content))).rejects.toThrow(message);
});
