'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { BadgeCheck, ListChecks, Play, RotateCcw, Square } from 'lucide-react';
import Link from 'next/link';
import type {
  DatabaseDetail,
  FinaliseReport,
  MissingRow,
} from '../../lib/benchmarks/benchmark-api';
import { api } from '../api';
import { bytes, gateLabel, number, stageLabel, when } from '../format';
import { useDatabase, useFinaliseReport, useSession } from '../queries';
import { Page } from '../shell/page';
import { StageState } from '../stage-state';
import { TasksMeter } from '../tasks-meter';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Card } from '../ui/card';
import { ErrorNote, Loading } from '../ui/notes';
import { PlainTable } from '../ui/plain-table';
import { ArtefactList } from './artefact-list';
import { IndexSuggestions } from './index-suggestions';

export function DatabasePage({ id }: { readonly id: string }) {
  const database = useDatabase(id);
  const { data: user } = useSession();
  const leads = user?.role === 'admin' || user?.role === 'lead';
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: (what: 'run' | 'cancel' | 'retry') =>
      api(`/api/databases/${id}/${what}`, { method: 'POST', body: {} }),
    onSettled: () => client.invalidateQueries({ queryKey: ['databases', id] }),
  });
  if (database.isPending) return <Loading what="the database" of={database} />;
  if (database.error)
    return (
      <div className="p-4">
        <ErrorNote error={database.error} retry={() => void database.refetch()} />
      </div>
    );
  const { data } = database;
  const running = data.stages.some(
    ({ run }) => run?.state === 'running' || run?.state === 'queued',
  );
  const failed = data.stages.some(({ run }) => run?.state === 'failed');
  return (
    <Page
      above={[
        { href: '/', label: 'Benchmarks' },
        { href: `/benchmarks/${data.benchmarkId}`, label: data.benchmarkName },
      ]}
      title={
        <span className="flex items-center gap-2">
          {data.name}{' '}
          {data.finalisedAt ? <Badge tone="good">finalised {when(data.finalisedAt)}</Badge> : null}
        </span>
      }
      actions={
        <>
          {user && user.role !== 'consumer' ? (
            <Link
              href={`/queue?benchmark=${data.benchmarkId}&database=${id}`}
              className="inline-flex items-center gap-1.5 rounded-md border border-line bg-surface px-2.5 py-1 text-[13px] font-medium hover:bg-surface-2"
            >
              <ListChecks className="size-4" aria-hidden /> Review its tasks
            </Link>
          ) : null}
          {leads && failed ? (
            <Button
              icon={<RotateCcw className="size-4" />}
              disabled={act.isPending}
              onClick={() => act.mutate('retry')}
            >
              Retry the failed stage
            </Button>
          ) : null}
          {leads && running ? (
            <Button
              look="danger"
              icon={<Square className="size-3.5" />}
              disabled={act.isPending}
              onClick={() => act.mutate('cancel')}
            >
              Cancel
            </Button>
          ) : null}
          {leads && !running ? (
            <Button
              icon={<Play className="size-4" />}
              disabled={act.isPending}
              onClick={() => act.mutate('run')}
            >
              Run pending stages
            </Button>
          ) : null}
        </>
      }
    >
      {act.error ? <ErrorNote error={act.error} /> : null}
      {data.workerSilence ? (
        <p role="status" className="rounded-md border border-warn/40 bg-warn-soft p-3 text-warn">
          {data.workerSilence}
        </p>
      ) : null}
      <div className="grid items-start gap-3 lg:grid-cols-2">
        <Card title="Stages" padded={false}>
          <PlainTable
            label="Stages"
            rows={data.stages}
            rowKey={(row) => row.stage}
            columns={[
              {
                head: 'Stage',
                cell: (row) => <span className="whitespace-nowrap">{stageLabel[row.stage]}</span>,
              },
              {
                head: 'State',
                cell: (row) => <StageState run={row.run} label={stageLabel[row.stage]} />,
              },
              { head: 'Report', cell: (row) => <Report report={row.run?.report} /> },
            ]}
          />
        </Card>
        <div className="space-y-3">
          <Card title="Gates" padded={false}>
            <PlainTable
              label="Gates"
              rows={data.gates}
              rowKey={(row) => row.gate}
              columns={[
                {
                  head: 'Gate',
                  cell: (row) => (
                    <Link
                      className="hover:underline"
                      href={`/queue?benchmark=${data.benchmarkId}&database=${id}&gate=${row.gate}&state=all`}
                    >
                      {gateLabel[row.gate]}
                    </Link>
                  ),
                },
                { head: 'Tasks', cell: (row) => <TasksMeter tasks={row.tasks} /> },
                { head: 'Minutes', numeric: true, cell: (row) => row.minutes.toFixed(1) },
              ]}
            />
          </Card>
          <Finalise database={data} leads={leads} />
          <Card title="Source">
            <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-[13px]">
              <dt className="text-muted">SQLite file</dt>
              <dd>
                {bytes(data.bytes)},{' '}
                <code className="font-mono text-xs break-all">sha256 {data.sha256}</code>
              </dd>
              <dt className="text-muted">Items</dt>
              <dd>{number(data.items)}</dd>
              <dt className="text-muted">MongoDB database</dt>
              <dd className="font-mono text-xs break-all">
                {data.mongoDatabase ?? 'not migrated yet'}
              </dd>
            </dl>
          </Card>
        </div>
      </div>
      <IndexSuggestions database={data} />
      <ArtefactList database={data} />
    </Page>
  );
}

/** Numbers and flags of a stage's report; lists and objects are counted. */
function Report({ report }: { readonly report: Readonly<Record<string, unknown>> | undefined }) {
  const shown = Object.entries(report ?? {}).flatMap(([name, value]): [string, string][] => {
    const label = name.replace(/([A-Z])/g, ' $1').toLowerCase();
    if (typeof value === 'number') return [[label, number(value)]];
    if (typeof value === 'boolean') return [[label, value ? 'yes' : 'no']];
    if (Array.isArray(value) && value.length > 0) return [[label, String(value.length)]];
    return [];
  });
  return (
    <span className="flex flex-wrap gap-x-3 text-xs text-muted">
      {shown.map(([label, value]) => (
        <span key={label}>
          {label} <b className="font-medium text-text tabular-nums">{value}</b>
        </span>
      ))}
    </span>
  );
}

function Finalise({
  database,
  leads,
}: {
  readonly database: DatabaseDetail;
  readonly leads: boolean;
}) {
  const client = useQueryClient();
  const report = useFinaliseReport(database.id);
  const finalise = useMutation({
    mutationFn: () =>
      api<{ report: FinaliseReport }>(`/api/databases/${database.id}/finalise`, {
        method: 'POST',
        body: { idempotencyKey: crypto.randomUUID() },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: ['databases', database.id] }),
  });
  return (
    <Card
      title="Finalise"
      actions={
        leads && !database.finalisedAt ? (
          <Button
            look="primary"
            icon={<BadgeCheck className="size-4" />}
            disabled={!report.data?.ready || finalise.isPending}
            onClick={() => finalise.mutate()}
          >
            {finalise.isPending ? 'Finalising…' : 'Finalise'}
          </Button>
        ) : null
      }
    >
      {finalise.error ? <ErrorNote error={finalise.error} /> : null}
      {report.error ? <ErrorNote error={report.error} /> : null}
      {report.isPending ? <Loading what="what is missing" of={report} /> : null}
      {report.data?.missing.length === 0 ? (
        <p className="text-good">
          {database.finalisedAt
            ? 'Everything is approved and current.'
            : 'Every gate is approved and current.'}
        </p>
      ) : null}
      <ul className="list-disc space-y-1 pl-5">
        {report.data?.missing.map((row, index) => (
          <li key={index}>
            <Missing row={row} database={database} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** What is missing, with the way to it. */
function Missing({
  row: { what, taskId, gate },
  database,
}: {
  readonly row: MissingRow;
  readonly database: DatabaseDetail;
}) {
  if (taskId === null && gate === null) return what;
  const queue = `/queue?benchmark=${database.benchmarkId}&database=${database.id}&gate=${gate}`;
  return (
    <Link
      className="text-accent hover:underline"
      href={taskId === null ? queue : `/tasks/${taskId}`}
    >
      {what}
    </Link>
  );
}
