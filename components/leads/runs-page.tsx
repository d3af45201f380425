'use client';
import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import { useState } from 'react';
import { query } from '../api';
import { counted, number, stageLabel, when } from '../format';
import { useBenchmarks, useRuns, useRunSteps } from '../queries';
import { Page } from '../shell/page';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Card } from '../ui/card';
import { Dialog } from '../ui/dialog';
import { BenchmarkChoice } from '../benchmarks/benchmark-choice';
import { EmptyNote, ErrorNote, Loading } from '../ui/notes';
import { PlainTable } from '../ui/plain-table';

const PAGE_SIZE = 50;

/**
 * What the agents did: cost, tokens, retries, and every step of their transcripts; the filter lives
 * in the address.
 */
export function RunsPage() {
  const router = useRouter();
  const path = usePathname();
  const search = useSearchParams();
  const benchmarkId = search.get('benchmark') ?? '';
  const page = Number(search.get('page') ?? 1) || 1;
  const go = (to: { readonly benchmark: string; readonly page: number }): void =>
    router.replace(
      `${path}${query({ benchmark: to.benchmark, page: to.page > 1 ? to.page : '' })}`,
    );
  const benchmarks = useBenchmarks();
  const [open, setOpen] = useState<string | null>(null);
  const runs = useRuns({ benchmarkId, page, pageSize: PAGE_SIZE });
  const steps = useRunSteps(open);
  return (
    <Page
      title="Agent runs"
      actions={
        <BenchmarkChoice
          benchmarks={benchmarks.data}
          value={benchmarkId}
          onChange={(benchmark) => go({ benchmark, page: 1 })}
        />
      }
    >
      <Card padded={false}>
        {runs.isPending ? <Loading what="agent runs" of={runs} /> : null}
        {runs.error ? <ErrorNote error={runs.error} /> : null}
        {runs.data?.total === 0 ? (
          <EmptyNote>
            {benchmarkId ? 'No agent has run on this benchmark yet.' : 'No agent has run yet.'}
          </EmptyNote>
        ) : null}
        {runs.data && runs.data.total > 0 ? (
          <PlainTable
            label="Agent runs"
            rows={runs.data.rows}
            rowKey={(row) => row.id}
            columns={[
              { head: 'Agent', cell: (row) => row.agent },
              {
                head: 'Benchmark',
                cell: (row) => <span className="wrap-anywhere">{row.benchmark}</span>,
              },
              { head: 'Database', cell: (row) => row.database },
              { head: 'Stage', cell: (row) => stageLabel[row.stage] },
              {
                head: 'Subject',
                cell: (row) => (
                  <span className="font-mono text-xs wrap-anywhere">{row.subject}</span>
                ),
              },
              {
                head: 'State',
                cell: (row) => (
                  <span>
                    {row.state === 'failed' ? <Badge tone="bad">failed</Badge> : row.state}{' '}
                    {row.failure ? (
                      <span className="text-bad wrap-anywhere">{row.failure}</span>
                    ) : null}
                  </span>
                ),
              },
              {
                head: 'Started',
                cell: (row) => <span className="whitespace-nowrap">{when(row.startedAt)}</span>,
              },
              { head: 'Tokens in', numeric: true, cell: (row) => number(row.inputTokens) },
              { head: 'Tokens out', numeric: true, cell: (row) => number(row.outputTokens) },
              { head: 'Cost', numeric: true, cell: (row) => `$${row.costUsd.toFixed(3)}` },
              { head: 'Retries', numeric: true, cell: (row) => row.retries },
              {
                head: 'Transcript',
                cell: (row) =>
                  row.steps > 0 ? (
                    <Button look="quiet" onClick={() => setOpen(row.id)}>
                      {counted(row.steps, 'step')}
                    </Button>
                  ) : (
                    <span className="text-muted">none</span>
                  ),
              },
            ]}
          />
        ) : null}
        {runs.data && runs.data.total > PAGE_SIZE ? (
          <nav aria-label="Pages" className="flex justify-end gap-2 border-t border-line p-2">
            <Button
              disabled={page <= 1}
              onClick={() => go({ benchmark: benchmarkId, page: page - 1 })}
            >
              Previous
            </Button>
            <Button
              disabled={page * PAGE_SIZE >= runs.data.total}
              onClick={() => go({ benchmark: benchmarkId, page: page + 1 })}
            >
              Next
            </Button>
          </nav>
        ) : null}
      </Card>
      <Dialog open={open !== null} onClose={() => setOpen(null)} title="Transcript" wide>
        {steps.isPending ? <Loading what="the transcript" of={steps} /> : null}
        {steps.error ? <ErrorNote error={steps.error} /> : null}
        <ol className="space-y-2">
          {steps.data?.steps.map((step) => (
            <li key={step.seq}>
              <p className="text-xs text-muted">
                {step.seq}. {step.kind.replaceAll('_', ' ')}
                {step.outputTokens ? `, ${counted(step.outputTokens, 'token')}` : ''}
              </p>
              <pre className="max-h-60 overflow-auto rounded-md border border-line bg-bg p-2 font-mono text-xs wrap-anywhere whitespace-pre-wrap">
                {step.text}
              </pre>
            </li>
          ))}
        </ol>
      </Dialog>
    </Page>
  );
}
