import type { ReactNode } from 'react';
import { classes } from './classes';

export interface PlainColumn<Row> {
  readonly head: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly numeric?: boolean;
}

interface PlainTableProps<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly PlainColumn<Row>[];
  readonly rowKey: (row: Row) => string;
  readonly label: string;
  /** `middle` where a row is one line with controls in it. */
  readonly align?: 'top' | 'middle';
  /** What is too long for a column: it follows its row, over the whole width. */
  readonly detail?: (row: Row) => ReactNode;
}

/** A table of at most a few hundred rows; longer lists are paged on the server. */
export function PlainTable<Row>({
  rows,
  columns,
  rowKey,
  label,
  align = 'top',
  detail,
}: PlainTableProps<Row>) {
  const cell = align === 'middle' ? 'px-2 py-1.5 align-middle' : 'px-2 py-1.5 align-top';
  return (
    <div className="overflow-x-auto">
      <table aria-label={label} className="w-full border-collapse text-[13px]">
        <thead>
          <tr className="border-b border-line text-left text-xs text-muted">
            {columns.map((column, at) => (
              <th
                key={at}
                scope="col"
                className={classes(
                  'px-2 py-1.5 align-bottom font-medium whitespace-nowrap',
                  column.numeric && 'text-right',
                )}
              >
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        {rows.map((row) => (
          <tbody
            key={rowKey(row)}
            className="border-b border-line/60 last:border-0 hover:bg-surface-2/60"
          >
            <tr>
              {columns.map((column, at) => (
                <td key={at} className={classes(cell, column.numeric && 'text-right tabular-nums')}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
            {detail ? (
              <tr>
                <td colSpan={columns.length} className="px-2 pb-2">
                  {detail(row)}
                </td>
              </tr>
            ) : null}
          </tbody>
        ))}
      </table>
    </div>
  );
}
