export interface CsvRow {
  /** Where it begins, counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Text that is no CSV; `line` is where the cell begins that is wrong. */
export class CsvSyntaxError extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * The rows of RFC 4180 text that are not blank, with any kind of line end. A reader of its own,
 * because people mend what it reports: a quote that is not closed is told where it opens, not where
 * the text stops making sense.
 */
export function readCsvRows(text: string): CsvRow[] {
  const rows: CsvRow[] = [];
  const cell = /"([^"]*(?:""[^"]*)*)"|([^",\r\n]*)/y;
  const lineEnd = /\r\n|\n|\r/y;
  let at = text.startsWith('\ufeff') ? 1 : 0;
  let line = 1;
  while (at < text.length) {
    const begins = line;
    const cells: string[] = [];
    for (;;) {
      cell.lastIndex = at;
      const [whole, quoted, plain = ''] = cell.exec(text)!;
      const inCell = { line, number: cells.length + 1 };
      const isOpen = quoted === undefined && text[at] === '"';
      if (isOpen) throw new CsvSyntaxError(line, notClosed(inCell.number, text.slice(at + 1)));
      cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
      at += whole.length;
      line += whole.match(/\r\n|\n|\r/g)?.length ?? 0;
      if (text[at] === ',') {
        at++;
        continue;
      }
      lineEnd.lastIndex = at;
      const end = lineEnd.exec(text);
      if (end) {
        at += end[0].length;
        line++;
        break;
      }
      if (at >= text.length) break;
      // Behind a closing quote that closed nothing: its cell went on over the end of a line, or
      // holds a single quote.
      if (quoted === undefined)
        throw new CsvSyntaxError(
          inCell.line,
          `cell ${inCell.number} holds a quote, ${preview(plain + text.slice(at))}: such a cell ` +
            'begins and ends with a quote, and each quote in it is doubled',
        );
      if (line > inCell.line)
        throw new CsvSyntaxError(inCell.line, notClosed(inCell.number, quoted));
      throw new CsvSyntaxError(
        inCell.line,
        `cell ${inCell.number} goes on behind its closing quote, ` +
          `${preview(`${whole}${text.slice(at)}`)}: a quote within a cell is doubled, and a ` +
          'comma follows the one that closes it',
      );
    }
    if (cells.length > 1 || cells[0]!.trim() !== '') rows.push({ line: begins, cells });
  }
  return rows;
}

const notClosed = (number: number, text: string): string =>
  `the quote that opens cell ${number}, ${preview(`"${text}`)}, is not closed on its line`;

const preview = (text: string): string => {
  const [first = ''] = text.split(/[\r\n]/, 1);
  return first.length > 40 ? `${first.slice(0, 40)}…` : first;
};
