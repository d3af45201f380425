'use client';
import { useMutation } from '@tanstack/react-query';
import Link from 'next/link';
import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import type { AuditVerdict, Overview } from '../../lib/benchmarks/overview-api';
import { api } from '../api';
import { counted, gateLabel, number } from '../format';
import { useBenchmarks, useOverview } from '../queries';
import { Page } from '../shell/page';
import { StageState } from '../stage-state';
import { TasksMeter } from '../tasks-meter';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Card } from '../ui/card';
import { Select } from '../ui/field';
import { EmptyNote, ErrorNote, Loading } from '../ui/notes';
import { PlainTable } from '../ui/plain-table';

/** Mean minutes per database that the paper's reviewers estimated (Table 5); ours are measured. */
const PAPER_MINUTES: Readonly<Record<string, number>> = {
  conceptual_design: 12.5,
  collection_validation: 3.4,
  table_validation: 6.4,
  cross_validation: 4.7,
};

export function OverviewPage() {
  const router = useRouter();
  const path = usePathname();
  const search = useSearchParams();
  const benchmarks = useBenchmarks();
  const id = search.get('benchmark') ?? benchmarks.data?.[0]?.id;
  if (benchmarks.isPending) return <Loading what="the benchmarks" of={benchmarks} />;
  return (
    <Page
      title="Overview"
      actions={
        <Select
          aria-label="Benchmark"
          value={id ?? ''}
          onChange={(event) => router.replace(`${path}?benchmark=${event.target.value}`)}
        >
          {benchmarks.data?.map((row) => (
            <option key={row.id} value={row.id}>
              {row.name}
            </option>
          ))}
        </Select>
      }
    >
      {benchmarks.error ? <ErrorNote error={benchmarks.error} /> : null}
      {id ? <BenchmarkOverview id={id} /> : <EmptyNote>No benchmark yet.</EmptyNote>}
    </Page>
  );
}

function BenchmarkOverview({ id }: { readonly id: string }) {
  const overview = useOverview(id);
  if (overview.isPending) return <Loading what="the overview" of={overview} />;
  if (overview.error)
    return <ErrorNote error={overview.error} retry={() => void overview.refetch()} />;
  const { databases, reviewers, burnDown, forecast } = overview.data;
  const gates = databases[0]?.gates.map((gate) => gate.gate) ?? [];
  return (
    <>
      <Card
        title="Databases"
        padded={false}
        actions={
          <a
            className="text-[13px] text-accent hover:underline"
            href={`/api/benchmarks/${id}/effort.csv`}
          >
            Effort as CSV
          </a>
        }
      >
        <PlainTable
          label="Databases"
          rows={databases}
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
            {
              head: 'Agents',
              cell: (row) =>
                row.currentStage ? <StageState run={row.currentStage} label={row.name} /> : '–',
            },
            { head: 'Tasks', cell: (row) => <TasksMeter tasks={row.tasks} /> },
            {
              head: 'Translated',
              numeric: true,
              cell: (row) =>
                row.translated === null ? '–' : `${number(row.translated)} of ${number(row.items)}`,
            },
            { head: 'Untranslated', numeric: true, cell: (row) => row.untranslated ?? '–' },
            { head: 'Excluded', numeric: true, cell: (row) => row.excluded },
            { head: 'Source defects', numeric: true, cell: (row) => row.sourceDefects },
            {
              head: 'Minutes',
              numeric: true,
              cell: (row) => row.gates.reduce((sum, gate) => sum + gate.minutes, 0).toFixed(1),
            },
            { head: 'Agent cost', numeric: true, cell: (row) => `$${row.costUsd.toFixed(2)}` },
            {
              head: 'State',
              cell: (row) =>
                row.finalisedAt ? <Badge tone="good">finalised</Badge> : <Badge>in review</Badge>,
            },
          ]}
        />
      </Card>
      <div className="grid items-start gap-3 lg:grid-cols-2">
        <Card title="Measured minutes per gate and database" padded={false}>
          <PlainTable
            label="Minutes per gate"
            rows={gates}
            rowKey={(gate) => gate}
            columns={[
              { head: 'Gate', cell: (gate) => gateLabel[gate] },
              {
                head: 'Mean here',
                numeric: true,
                cell: (gate) =>
                  (
                    databases.reduce(
                      (sum, row) =>
                        sum + (row.gates.find((entry) => entry.gate === gate)?.minutes ?? 0),
                      0,
                    ) / Math.max(1, databases.length)
                  ).toFixed(1),
              },
              {
                head: 'Paper, Table 5 (estimated)',
                numeric: true,
                cell: (gate) => PAPER_MINUTES[gate]?.toFixed(1) ?? '–',
              },
            ]}
          />
        </Card>
        <Card title="Reviewers" padded={false}>
          {reviewers.length === 0 ? <EmptyNote>Nobody has decided anything yet.</EmptyNote> : null}
          {reviewers.length > 0 ? (
            <PlainTable
              label="Reviewers"
              rows={reviewers}
              rowKey={(row) => row.id}
              columns={[
                { head: 'Name', cell: (row) => row.name },
                { head: 'Decisions', numeric: true, cell: (row) => number(row.decisions) },
                {
                  head: 'Approved',
                  numeric: true,
                  cell: (row) =>
                    row.decisions ? `${Math.round((100 * row.approved) / row.decisions)} %` : '–',
                },
                { head: 'Minutes', numeric: true, cell: (row) => row.minutes.toFixed(1) },
                {
                  head: 'Median seconds',
                  numeric: true,
                  cell: (row) => row.dwellSeconds?.toFixed(0) ?? '–',
                },
                { head: 'Holding', numeric: true, cell: (row) => row.holding },
              ]}
            />
          ) : null}
        </Card>
      </div>
      <div className="grid items-start gap-3 lg:grid-cols-2">
        <BurnDown days={burnDown} forecast={forecast} />
        <AuditTrail benchmarkId={id} />
      </div>
    </>
  );
}

function AuditResult({ verdict }: { readonly verdict: AuditVerdict | undefined }) {
  if (!verdict)
    return (
      <p className="text-muted">
        Every decision is an event whose hash includes the hash of the previous event.
      </p>
    );
  if (!verdict.ok) return <p className="text-bad">{verdict.broken}</p>;
  return (
    <p className="text-good">
      {counted(verdict.events, 'event')}, valid.{' '}
      <code className="font-mono text-xs break-all">{verdict.head}</code>
    </p>
  );
}

function BurnDown({
  days,
  forecast,
}: {
  readonly days: Overview['burnDown'];
  readonly forecast: string | null;
}) {
  const mostLeft = Math.max(1, ...days.map((day) => day.remaining));
  return (
    <Card
      title="Burn-down"
      actions={
        <span className="text-[13px] text-muted">
          {forecast ? `at this pace done on ${forecast}` : 'no pace yet'}
        </span>
      }
    >
      {days.length === 0 ? <p className="text-muted">No decisions yet.</p> : null}
      <ul className="space-y-1">
        {days.slice(-14).map((day) => (
          <li
            key={day.day}
            className="grid grid-cols-[6rem_1fr_auto] items-center gap-2 text-[13px]"
          >
            <span className="text-muted">{day.day}</span>
            <span
              className="h-2 rounded bg-accent-strong"
              style={{ width: `${(100 * day.remaining) / mostLeft}%` }}
            />
            <span className="tabular-nums">
              {number(day.remaining)} left, {number(day.decided)} decided
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function AuditTrail({ benchmarkId: id }: { readonly benchmarkId: string }) {
  const audit = useMutation({
    mutationFn: () => api<AuditVerdict>(`/api/benchmarks/${id}/audit/verify`),
  });
  return (
    <Card
      title="Audit trail"
      actions={
        <Button disabled={audit.isPending} onClick={() => audit.mutate()}>
          {audit.isPending ? 'Verifying…' : 'Verify the chain'}
        </Button>
      }
    >
      {audit.error ? <ErrorNote error={audit.error} /> : null}
      <AuditResult verdict={audit.data} />
      <a
        className="mt-2 inline-block text-[13px] text-accent hover:underline"
        href={`/api/benchmarks/${id}/decisions.csv`}
      >
        Decisions as CSV
      </a>
    </Card>
  );
}
