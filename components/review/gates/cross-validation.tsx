'use client';
import type { CrossValidation } from '../../../lib/validation/cross-validation';
import { number } from '../../format';
import { CodeBlock } from '../../text/code-block';
import { mqlText } from '../../text/mql-text';
import { TypedValue } from '../../text/result-table';
import { Badge } from '../../ui/badge';
import { Card } from '../../ui/card';
import { PlainTable } from '../../ui/plain-table';
import type { GateProps } from '../gate-props';

export function CrossValidationGate({ content }: GateProps<CrossValidation>) {
  return (
    <div className="space-y-3">
      {[...content.references]
        .sort((a, b) => Number(a.holds) - Number(b.holds))
        .map((reference) => (
          <Card key={reference.relationship} title={<code className="font-mono text-[13px] break-words">{reference.relationship}</code>} actions={<Badge tone={reference.holds ? 'good' : 'bad'}>{reference.holds ? 'holds' : 'violated'}</Badge>}>
            <p className="mb-2 text-[13px]">
              <code className="font-mono">{reference.from}</code> against <code className="font-mono">{reference.to}</code>: {number(reference.distinctValues)} distinct values; {number(reference.violations)} violate it in the documents, {number(reference.sourceViolations)} in the source.{' '}
              {reference.holds && reference.violations > 0 ? 'The source’s own orphans were kept as they are.' : ''}
            </p>
            <div className="grid gap-2 lg:grid-cols-2">
              <CodeBlock label="Referring side" text={mqlText({ collection: reference.from.split('.')[0]!, pipeline: reference.fromPipeline })} />
              <CodeBlock label="Target side" text={mqlText({ collection: reference.to.split('.')[0]!, pipeline: reference.toPipeline })} />
            </div>
            {reference.samples.length > 0 ? (
              <div className="mt-2">
                <PlainTable
                  label={`Violations of ${reference.relationship}`}
                  rows={reference.samples}
                  rowKey={(row) => JSON.stringify(row)}
                  columns={[
                    { head: 'Violating value', cell: (row) => row.value.map((value, at) => <TypedValue key={at} value={value} />) },
                    { head: 'Found', cell: (row) => (row.side === 'both' ? 'in the source too' : row.side) },
                  ]}
                />
              </div>
            ) : null}
          </Card>
        ))}
    </div>
  );
}
