import type { ReactNode } from 'react';
import { classes } from './classes';

export interface PlainColumn<Row> {
  readonly head: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly numeric?: boolean;
}

/** A table of at most a few hundred rows; longer lists are paged on the server. */
export function PlainTable<Row>({ rows, columns, rowKey, label }: { readonly rows: readonly Row[]; readonly columns: readonly PlainColumn<Row>[]; readonly rowKey: (row: Row) => string; readonly label: string }) {
  return (
    <div className="overflow-x-auto">
      <table aria-label={label} className="w-full border-collapse text-[13px]">
        <thead>
          <tr className="border-b border-line text-left text-xs text-muted">
            {columns.map((column, at) => (
              <th key={at} scope="col" className={classes('px-2 py-1.5 font-medium whitespace-nowrap', column.numeric && 'text-right')}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className="border-b border-line/60 last:border-0 hover:bg-surface-2/60">
              {columns.map((column, at) => (
                <td key={at} className={classes('px-2 py-1.5 align-top', column.numeric && 'text-right tabular-nums')}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
