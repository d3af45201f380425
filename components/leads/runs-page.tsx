'use client';
import { useState } from 'react';
import { number, stageLabel, when } from '../format';
import { useRuns, useRunSteps } from '../queries';
import { Page } from '../shell/page';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Card } from '../ui/card';
import { Dialog } from '../ui/dialog';
import { EmptyNote, ErrorNote, Loading } from '../ui/notes';
import { PlainTable } from '../ui/plain-table';

/** What the agents did: cost, tokens, retries, and every step of their transcripts. */
export function RunsPage() {
  const [page, setPage] = useState(1);
  const [open, setOpen] = useState<string | null>(null);
  const runs = useRuns({ page, pageSize: 50 });
  const steps = useRunSteps(open);
  return (
    <Page title="Agent runs">
      <Card padded={false}>
        {runs.isPending ? <Loading what="agent runs" /> : null}
        {runs.error ? <ErrorNote error={runs.error} /> : null}
        {runs.data?.total === 0 ? <EmptyNote>No agent has run yet.</EmptyNote> : null}
        {runs.data && runs.data.total > 0 ? (
          <PlainTable
            label="Agent runs"
            rows={runs.data.rows}
            rowKey={(row) => row.id}
            columns={[
              { head: 'Agent', cell: (row) => row.agent },
              { head: 'Database', cell: (row) => row.database },
              { head: 'Stage', cell: (row) => stageLabel[row.stage] },
              { head: 'Subject', cell: (row) => <span className="font-mono text-xs break-all">{row.subject}</span> },
              { head: 'State', cell: (row) => <span>{row.state === 'failed' ? <Badge tone="bad">failed</Badge> : row.state} {row.failure ? <span className="text-bad">{row.failure}</span> : null}</span> },
              { head: 'Started', cell: (row) => when(row.startedAt) },
              { head: 'Tokens in', numeric: true, cell: (row) => number(row.inputTokens) },
              { head: 'Tokens out', numeric: true, cell: (row) => number(row.outputTokens) },
              { head: 'Cost', numeric: true, cell: (row) => `$${row.costUsd.toFixed(3)}` },
              { head: 'Retries', numeric: true, cell: (row) => row.retries },
              { head: 'Transcript', cell: (row) => (row.steps > 0 ? <Button look="quiet" onClick={() => setOpen(row.id)}>{row.steps} steps</Button> : <span className="text-muted">none</span>) },
            ]}
          />
        ) : null}
        {runs.data && runs.data.total > 50 ? (
          <nav aria-label="Pages" className="flex justify-end gap-2 border-t border-line p-2">
            <Button disabled={page <= 1} onClick={() => setPage(page - 1)}>
              Previous
            </Button>
            <Button disabled={page * 50 >= runs.data.total} onClick={() => setPage(page + 1)}>
              Next
            </Button>
          </nav>
        ) : null}
      </Card>
      <Dialog open={open !== null} onClose={() => setOpen(null)} title="Transcript" wide>
        {steps.isPending ? <Loading what="the transcript" /> : null}
        {steps.error ? <ErrorNote error={steps.error} /> : null}
        <ol className="space-y-2">
          {steps.data?.steps.map((step) => (
            <li key={step.seq}>
              <p className="text-xs text-muted">
                {step.seq}. {step.kind.replaceAll('_', ' ')}
                {step.outputTokens ? `, ${number(step.outputTokens)} tokens` : ''}
              </p>
              <pre className="max-h-60 overflow-auto rounded-md border border-line bg-bg p-2 font-mono text-xs break-words whitespace-pre-wrap">{step.text}</pre>
            </li>
          ))}
        </ol>
      </Dialog>
    </Page>
  );
}
