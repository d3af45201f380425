import type { DatabaseDetail } from '../../lib/benchmarks/benchmark-api';
import type { IndexSuggestion } from '../../lib/translation/index-suggestions';
import { number } from '../format';
import { mqlKey } from '../review/gates/mql-key';
import { Card } from '../ui/card';
import { PlainTable } from '../ui/plain-table';

const SHOWN = 30;

/** Indexes that the last optimisation found missing, with the queries that they would serve. */
export function IndexSuggestions({ database }: { readonly database: DatabaseDetail }) {
  const report = database.stages.find(({ stage }) => stage === 'optimisation')?.run?.report;
  const suggestions = (report?.indexSuggestions ?? []) as readonly IndexSuggestion[];
  if (suggestions.length === 0) return null;
  return (
    <Card title={`Index suggestions (${suggestions.length})`} padded={false}>
      <PlainTable
        label="Index suggestions"
        rows={suggestions.slice(0, SHOWN)}
        rowKey={(row) => `${row.collection} ${JSON.stringify(row.key)}`}
        columns={[
          {
            head: 'Collection',
            cell: (row) => <code className="font-mono text-xs">{row.collection}</code>,
          },
          {
            head: 'Key',
            cell: (row) => <code className="font-mono text-xs">{mqlKey(row.key)}</code>,
          },
          { head: 'Why', cell: (row) => row.reason },
          {
            head: 'Items',
            cell: (row) => (
              <span title={row.questionIds.join(', ')}>
                {row.questionIds.length <= 4
                  ? row.questionIds.join(', ')
                  : `${row.questionIds.slice(0, 3).join(', ')} and ` +
                    `${row.questionIds.length - 3} more`}
              </span>
            ),
          },
          {
            head: 'Documents examined',
            numeric: true,
            cell: (row) =>
              row.documentsExamined
                ? `${number(row.documentsExamined.before)} → ${number(row.documentsExamined.after)}`
                : 'not counted',
          },
        ]}
      />
    </Card>
  );
}
