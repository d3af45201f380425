import { bytes } from '../format';

/** A file that a reviewer chose, for the editor. */
export interface CsvFile {
  readonly csv: string;
  readonly fileName: string;
}

/** The widest designs of the benchmarks have a few dozen kilobytes. */
export const MOST_CSV_BYTES = 1_000_000;

/** Its text, as it is. Throws an `Error` that says what to do when it cannot be a CSV. */
export async function readCsvFile(file: File): Promise<CsvFile> {
  if (file.size > MOST_CSV_BYTES)
    throw new Error(
      `${file.name} has ${bytes(file.size)}; a logical design as CSV may have ` +
        `${bytes(MOST_CSV_BYTES)} at most. Is it another file?`,
    );
  if (file.size === 0)
    throw new Error(`${file.name} is empty. Download the CSV, change it and upload that.`);
  let csv: string;
  try {
    csv = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
  } catch (error) {
    if (error instanceof TypeError)
      throw new Error(
        `${file.name} is no text in UTF-8. Save it as “CSV UTF-8”, not as a workbook or in ` +
          'another encoding.',
      );
    throw error;
  }
  if (csv.includes('\0'))
    throw new Error(`${file.name} is no text: it holds NUL characters. Save it as “CSV UTF-8”.`);
  return { csv, fileName: file.name };
}
