import { describe } from '../../../lib/design/transform-name';
import type { MappingResult } from '../../../lib/validation/mapping';
import { counted } from '../../format';
import { CodeBlock } from '../../text/code-block';
import { mqlText } from '../../text/mql-text';
import { ResultTable } from '../../text/result-table';
import { sqlText } from '../../text/sql-text';
import { Badge } from '../../ui/badge';

interface MappingProps {
  readonly mapping: MappingResult;
  readonly open: boolean;
  readonly toggle: () => void;
  /** Of the line that opens it. */
  readonly id: string;
}

export function MappingSection({ mapping, open, toggle, id }: MappingProps) {
  const { verdict } = mapping;
  const retyped = Object.entries(mapping.transforms);
  return (
    <section className="border-b border-line last:border-0">
      <button type="button" id={id} aria-expanded={open} onClick={toggle} className="flex w-full scroll-mt-14 flex-wrap items-center gap-2 px-3 py-2 text-left hover:bg-surface-2">
        <Badge tone={verdict.kind === 'equal' ? 'good' : 'bad'}>{verdict.kind === 'equal' ? 'equal' : verdict.kind.replaceAll('_', ' ')}</Badge>
        <span className="font-medium">{mapping.name}</span>
        <span className="text-[13px] text-muted">{mapping.description}</span>
        <span className="ml-auto text-xs text-muted">{verdict.detail}</span>
      </button>
      {open ? (
        <div className="grid gap-2 p-3 pt-0 lg:grid-cols-2">
          <div className="min-w-0 space-y-1">
            <p className="text-xs text-muted">SQL over the source{retyped.length > 0 ? `; compared after ${retyped.map(([name, transform]) => `${name}: ${describe(transform)}`).join(', ')}` : ''}</p>
            <CodeBlock text={sqlText(mapping.sql)} label="SQL" />
          </div>
          <div className="min-w-0 space-y-1">
            <p className="text-xs text-muted">MQL over the documents</p>
            <CodeBlock text={mqlText(mapping)} label="MQL" />
          </div>
          {verdict.kind !== 'equal' ? <Difference verdict={verdict} columns={verdict.mapping.map((name, at) => name ?? `column ${at + 1}`)} /> : null}
        </div>
      ) : null}
    </section>
  );
}

/** The rows that only one side has. */
function Difference({ verdict, columns }: { readonly verdict: Pick<MappingResult['verdict'], 'onlyExpected' | 'onlyActual' | 'expectedRows' | 'actualRows'>; readonly columns: readonly string[] }) {
  return (
    <div className="col-span-full grid gap-2 lg:grid-cols-2">
      <div>
        <p className="text-xs text-muted">Only in the source ({counted(verdict.expectedRows, 'row')} in all)</p>
        <ResultTable label="Rows only in the source" columns={columns} rows={verdict.onlyExpected} />
      </div>
      <div>
        <p className="text-xs text-muted">Only in the documents ({counted(verdict.actualRows, 'row')} in all)</p>
        <ResultTable label="Rows only in the documents" columns={columns} rows={verdict.onlyActual} />
      </div>
    </div>
  );
}
