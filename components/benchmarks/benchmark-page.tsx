'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { BarChart3, Play } from 'lucide-react';
import Link from 'next/link';
import type { BenchmarkDetail } from '../../lib/benchmarks/benchmark-api';
import { api } from '../api';
import { bytes, counted, number, stageLabel } from '../format';
import { useBenchmark, useSession } from '../queries';
import { Page } from '../shell/page';
import { SettingsDialog } from './settings-dialog';
import { StageState } from '../stage-state';
import { TasksMeter } from '../tasks-meter';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Card } from '../ui/card';
import { Select } from '../ui/field';
import { ErrorNote, Loading } from '../ui/notes';
import { PlainTable } from '../ui/plain-table';

export function BenchmarkPage({ id }: { readonly id: string }) {
  const benchmark = useBenchmark(id);
  const { data: user } = useSession();
  const leads = user?.role === 'admin' || user?.role === 'lead';
  const client = useQueryClient();
  const run = useMutation({
    mutationFn: () =>
      api<{ queued: number }>(`/api/benchmarks/${id}/run`, { method: 'POST', body: {} }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['benchmarks'] }),
  });
  if (benchmark.isPending) return <Loading what="the benchmark" of={benchmark} />;
  if (benchmark.error)
    return (
      <div className="p-4">
        <ErrorNote error={benchmark.error} retry={() => void benchmark.refetch()} />
      </div>
    );
  const { data } = benchmark;
  return (
    <Page
      above={[{ href: '/', label: 'Benchmarks' }]}
      title={data.name}
      actions={
        leads ? (
          <>
            <AgentChoice benchmark={data} />
            <SettingsDialog benchmark={data} />
            <Button
              icon={<Play className="size-4" />}
              disabled={run.isPending}
              onClick={() => run.mutate()}
            >
              Run pending stages
            </Button>
            <Link
              href={`/overview?benchmark=${id}`}
              className="inline-flex items-center gap-1.5 rounded-md border border-line bg-surface px-2.5 py-1 text-[13px] font-medium hover:bg-surface-2"
            >
              <BarChart3 className="size-4" aria-hidden /> Overview
            </Link>
          </>
        ) : null
      }
    >
      {run.error ? <ErrorNote error={run.error} /> : null}
      {run.data ? (
        <p role="status" className="text-[13px] text-muted">
          {run.data.queued === 0
            ? 'Nothing is pending: every stage has run on what is there.'
            : `The agents work on ${counted(run.data.queued, 'database')}.`}
        </p>
      ) : null}
      <Card title="Databases" padded={false}>
        <PlainTable
          label="Databases"
          rows={data.databaseRows}
          rowKey={(row) => row.id}
          columns={[
            {
              head: 'Database',
              cell: (row) => (
                <Link
                  className="font-medium text-accent hover:underline"
                  href={`/databases/${row.id}`}
                >
                  {row.name}
                </Link>
              ),
            },
            { head: 'Size', numeric: true, cell: (row) => bytes(row.bytes) },
            { head: 'Items', numeric: true, cell: (row) => number(row.items) },
            {
              head: 'Agents',
              cell: (row) =>
                row.currentStage ? (
                  <div>
                    <span className="text-xs text-muted">{stageLabel[row.currentStage.stage]}</span>
                    <StageState run={row.currentStage} label={stageLabel[row.currentStage.stage]} />
                  </div>
                ) : (
                  <span className="text-muted">not started</span>
                ),
            },
            { head: 'Tasks', cell: (row) => <TasksMeter tasks={row.tasks} /> },
            {
              head: 'State',
              cell: (row) =>
                row.finalisedAt ? <Badge tone="good">finalised</Badge> : <Badge>in review</Badge>,
            },
          ]}
        />
      </Card>
      {data.problems.length > 0 ? (
        <Card title={`Import report: ${counted(data.problems.length, 'finding')}`}>
          <ul className="list-disc space-y-1 pl-5">
            {data.problems.slice(0, 100).map((problem, at) => (
              <li key={at}>
                <Badge tone="warn">{problem.kind.replaceAll('_', ' ')}</Badge>{' '}
                <span className="wrap-anywhere">
                  {problem.subject}: {problem.detail}
                </span>
              </li>
            ))}
          </ul>
        </Card>
      ) : null}
      <Card title="Question files">
        <ul className="space-y-1 text-[13px]">
          {data.questionFiles.map((file) => (
            <li key={file.split}>
              <span className="font-medium">{file.split}.json</span>, {counted(file.items, 'item')}{' '}
              <code className="ml-2 font-mono text-xs break-all text-muted">
                sha256 {file.sha256}
              </code>
            </li>
          ))}
        </ul>
      </Card>
    </Page>
  );
}

function AgentChoice({ benchmark }: { readonly benchmark: BenchmarkDetail }) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (agent: string) =>
      api(`/api/benchmarks/${benchmark.id}`, { method: 'PATCH', body: { agent } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['benchmarks'] }),
  });
  return (
    <label className="flex items-center gap-2 text-[13px] text-muted">
      Agent
      <Select
        value={benchmark.agent}
        disabled={change.isPending}
        onChange={(event) => change.mutate(event.target.value)}
      >
        <option value="builtin">builtin</option>
        <option value="claude">claude (conceptual design)</option>
      </Select>
    </label>
  );
}
