/** Escapes what Markdown or HTML would read as markup. */
export const text = (name: string): string =>
  name
    .replace(/[\\`*_{}[\]<>()#+!|~&]/g, (c) => {
      if (c === '<') return '&lt;';
      if (c === '>') return '&gt;';
      return c === '&' ? '&amp;' : `\\${c}`;
    })
    .replace(/[\r\n]+/g, ' ');

/** Lists longer than this end in their number. */
export const MAX_LISTED = 40;

export const listed = (parts: readonly string[], separator: string): string =>
  parts.slice(0, MAX_LISTED).join(separator) +
  (parts.length > MAX_LISTED ? `, and ${String(parts.length - MAX_LISTED)} more` : '');

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`;

/** A table with the alignment that each heading ends in: `rows:` is set to the right. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = headings.map((heading) => (heading.endsWith(':') ? '---:' : '---'));
  return [
    line(headings.map((heading) => heading.replace(/:$/, ''))),
    `|${rule.join('|')}|`,
    ...rows.map(line),
  ].join('\n');
}
