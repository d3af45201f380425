'use client';
import type { TableValidation } from '../../../lib/validation/table-validation';
import { number } from '../../format';
import { TypedValue } from '../../text/result-table';
import { Badge } from '../../ui/badge';
import { Card } from '../../ui/card';
import { PlainTable } from '../../ui/plain-table';
import type { GateProps } from '../gate-props';

export function TableValidationGate({ content }: GateProps<TableValidation>) {
  const groups = (['genuine_loss', 'intentional_transformation'] as const).map((name) => ({ name, flags: content.flags.filter((flag) => flag.class === name) })).filter((group) => group.flags.length > 0);
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap gap-2">
        <Badge>{number(content.rows)} source rows</Badge>
        <Badge tone={content.place ? 'neutral' : 'bad'}>{content.place ? `found in ${content.place}` : 'found nowhere'}</Badge>
        <Badge tone={content.rowsApart === 0 ? 'good' : 'bad'}>{content.rowsApart === 0 ? 'rows hold together' : `${number(content.rowsApart)} rows do not hold together`}</Badge>
      </div>
      {groups.map((group) => (
        <Card key={group.name} title={group.name === 'genuine_loss' ? 'Genuine loss' : 'Intentional transformations'} padded={false}>
          <PlainTable
            label={group.name}
            rows={group.flags}
            rowKey={(row) => row.column}
            columns={[
              { head: 'Column', cell: (row) => <code className="font-mono text-xs">{row.column}</code> },
              { head: 'Values', numeric: true, cell: (row) => number(row.values) },
              { head: 'Explanation', cell: (row) => row.explanation },
              {
                head: 'Samples',
                cell: (row) => (
                  <span className="flex flex-wrap gap-x-3">
                    {row.samples.slice(0, 8).map((value, at) => (
                      <TypedValue key={at} value={value} />
                    ))}
                  </span>
                ),
              },
            ]}
          />
        </Card>
      ))}
      <Card title="Columns" padded={false}>
        <PlainTable
          label="Columns"
          rows={content.columns}
          rowKey={(row) => row.column}
          columns={[
            { head: 'Column', cell: (row) => <code className="font-mono text-xs">{row.column}</code> },
            { head: 'Most likely destination', cell: (row) => <code className="font-mono text-xs">{row.destination ?? '–'}</code> },
            { head: 'Matched', numeric: true, cell: (row) => number(row.matched) },
            { head: 'Without a match', numeric: true, cell: (row) => (row.unmatched > 0 ? <Badge tone="bad">{number(row.unmatched)}</Badge> : 0) },
          ]}
        />
      </Card>
    </div>
  );
}
