import { useQuery } from '@tanstack/react-query';
import { describe } from '../../../lib/design/model/transform-kind';
import type { FirstRows } from '../../../lib/validation/first-rows';
import type { MappingResult } from '../../../lib/validation/mapping';
import { api, query } from '../../api';
import { counted, number } from '../../format';
import { CodeBlock } from '../../text/code-block';
import { printExtendedMql } from '../../../lib/mql/print-extended-json';
import { ResultTable } from '../../text/result-table';
import { sqlText } from '../../text/sql-text';
import { Badge } from '../../ui/badge';
import { ErrorNote, Loading } from '../../ui/notes';

interface MappingProps {
  readonly taskId: string;
  readonly mapping: MappingResult;
  readonly open: boolean;
  readonly toggle: () => void;
  /** Of the line that opens it. */
  readonly id: string;
}

export function MappingSection({ taskId, mapping, open, toggle, id }: MappingProps) {
  const { verdict } = mapping;
  const retyped = Object.entries(mapping.transforms);
  return (
    <section className="border-b border-line last:border-0">
      <button
        type="button"
        id={id}
        aria-expanded={open}
        onClick={toggle}
        className="flex w-full scroll-mt-14 flex-wrap items-center gap-2 px-3 py-2 text-left hover:bg-surface-2"
      >
        <Badge tone={verdict.kind === 'equal' ? 'good' : 'bad'}>
          {verdict.kind === 'equal' ? 'equal' : verdict.kind.replaceAll('_', ' ')}
        </Badge>
        <span className="font-medium">{mapping.name}</span>
        <span className="text-[13px] text-muted">{mapping.description}</span>
        <span className="ml-auto text-xs text-muted">{verdict.detail}</span>
      </button>
      {open ? (
        <div className="grid gap-2 p-3 pt-0 lg:grid-cols-2">
          <div className="min-w-0 space-y-1">
            <p className="text-xs text-muted">
              SQL over the source
              {retyped.length > 0
                ? '; compared after ' +
                  `${retyped.map(([name, transform]) => `${name}: ${describe(transform)}`).join(', ')}`
                : ''}
            </p>
            <CodeBlock text={sqlText(mapping.sql)} label="SQL" />
          </div>
          <div className="min-w-0 space-y-1">
            <p className="text-xs text-muted">MQL over the documents</p>
            <CodeBlock text={printExtendedMql(mapping)} label="MQL" />
          </div>
          {verdict.kind === 'equal' ? (
            <FirstRowsTable taskId={taskId} mapping={mapping} />
          ) : (
            <Difference
              verdict={verdict}
              columns={verdict.mapping.map((name, at) => name ?? `column ${at + 1}`)}
            />
          )}
        </div>
      ) : null}
    </section>
  );
}

/**
 * What both sides begin with, row beside row: nothing of it is kept, so it is asked when a reviewer
 * looks.
 */
function FirstRowsTable({
  taskId,
  mapping: { name, verdict },
}: {
  readonly taskId: string;
  readonly mapping: MappingResult;
}) {
  const answer = useQuery({
    queryKey: ['mapping rows', taskId, name],
    queryFn: ({ signal }) =>
      api<FirstRows>(`/api/tasks/${taskId}/mapping-rows${query({ mapping: name })}`, { signal }),
    staleTime: 30_000,
    retry: false,
  });
  if (answer.error)
    return (
      <div className="col-span-full">
        <ErrorNote error={answer.error} retry={() => void answer.refetch()} />
      </div>
    );
  if (answer.isPending)
    return (
      <div className="col-span-full">
        <Loading what="the first rows" />
      </div>
    );
  const { columns, rows } = answer.data;
  if (rows.length === 0)
    return <p className="col-span-full text-[13px] text-muted">Neither side has rows.</p>;
  const apart = rows.filter(({ source }) => source === null).length;
  const shown =
    rows.length < verdict.expectedRows
      ? `the first ${number(rows.length)} of ${counted(verdict.expectedRows, 'row')}`
      : counted(rows.length, 'row');
  return (
    <div className="col-span-full grid gap-2 lg:grid-cols-2">
      {apart > 0 ? (
        <p role="alert" className="col-span-full text-[13px] text-bad">
          {counted(apart, 'row')} of these equal{apart === 1 ? 's' : ''} none of the source any
          more: something changed since this was validated. Ask for the validation to run again.
        </p>
      ) : null}
      <div className="min-w-0 space-y-1">
        <p className="text-xs text-muted">In the source: {shown}, as the documents show them</p>
        <ResultTable
          label={`Source rows of ${name}`}
          columns={columns}
          rows={rows.map(({ source }) => source ?? columns.map(() => NO_ROW))}
        />
      </div>
      <div className="min-w-0 space-y-1">
        <p className="text-xs text-muted">
          In the documents: {shown}, each beside the row that it equals
        </p>
        <ResultTable
          label={`Document rows of ${name}`}
          columns={columns}
          rows={rows.map(({ document }) => document)}
        />
      </div>
    </div>
  );
}

const NO_ROW = '—';

/** The rows that only one side has. */
function Difference({
  verdict,
  columns,
}: {
  readonly verdict: Pick<
    MappingResult['verdict'],
    'onlyExpected' | 'onlyActual' | 'expectedRows' | 'actualRows'
  >;
  readonly columns: readonly string[];
}) {
  return (
    <div className="col-span-full grid gap-2 lg:grid-cols-2">
      <div>
        <p className="text-xs text-muted">
          Only in the source ({counted(verdict.expectedRows, 'row')} in all)
        </p>
        <ResultTable
          label="Rows only in the source"
          columns={columns}
          rows={verdict.onlyExpected}
        />
      </div>
      <div>
        <p className="text-xs text-muted">
          Only in the documents ({counted(verdict.actualRows, 'row')} in all)
        </p>
        <ResultTable
          label="Rows only in the documents"
          columns={columns}
          rows={verdict.onlyActual}
        />
      </div>
    </div>
  );
}
