import { attachment } from './attachment';

/** A cell of a CSV file; null is empty. */
export type Cell = null | string | number | Date;

/** Rows as CSV by RFC 4180. */
export const csv = (header: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [header, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');

/** Text that a spreadsheet would take for a formula gets an apostrophe before it. */
function cell(value: Cell): string {
  if (value === null) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvResponse = (fileName: string, text: string): Response =>
  new Response(text, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': attachment(fileName),
      'cache-control': 'no-store',
    },
  });
