'use client';
import { useMutation } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import Link from 'next/link';
import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import { useState } from 'react';
import type { BenchmarkRow } from '../../lib/benchmarks/benchmark-api';
import type { GateName } from '../../lib/pipeline/stages/stage';
import { taskStates } from '../../lib/pipeline/task-state';
import type { ClaimResponse, EmptyQueue } from '../../lib/review/lease-api';
import type { TaskRow } from '../../lib/review/queue-api';
import { api } from '../api';
import { taskTone } from '../database/artefact-list';
import { counted, gateLabel, when } from '../format';
import { useBenchmark, useBenchmarks, useQueue, useSession } from '../queries';
import { pendingTaskIds } from '../review/pending-store';
import { skipsOf } from '../review/skipped-store';
import { useShortcuts } from '../review/use-shortcuts';
import { Page } from '../shell/page';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Card } from '../ui/card';
import { BenchmarkChoice } from '../benchmarks/benchmark-choice';
import { Input, Select } from '../ui/field';
import { EmptyNote, ErrorNote, Loading } from '../ui/notes';
import { PlainTable } from '../ui/plain-table';

const PAGE_SIZE = 50;

/**
 * What there is to review; its filters live in the address, so that they can be shared and survive
 * a reload.
 */
export function QueuePage() {
  const router = useRouter();
  const { get, set, page, query, suffix } = useFilters();
  const queue = useQueue({
    benchmarkId: get('benchmark'),
    databaseId: get('database'),
    gate: get('gate'),
    state: get('state') || 'actionable',
    search: get('search'),
    page,
    pageSize: PAGE_SIZE,
  });
  const benchmarks = useBenchmarks();
  const { data: user } = useSession();
  const skips = skipsOf(user?.id ?? '', query);
  const [empty, setEmpty] = useState<EmptyQueue | null>(null);
  const start = useMutation({
    mutationFn: () =>
      api<ClaimResponse>('/api/queue/claim', {
        method: 'POST',
        body: { ...query, deciding: pendingTaskIds(), skipped: skips.list() },
      }),
    onSuccess: (response) => {
      if (response.task) router.push(`/tasks/${response.task.id}${suffix}`);
      else setEmpty(response.empty);
    },
  });
  useShortcuts({ s: () => start.mutate() });
  return (
    <Page
      title="Queue"
      actions={
        <Button
          look="primary"
          icon={<Play className="size-4" />}
          shortcut="s"
          disabled={start.isPending}
          onClick={() => start.mutate()}
        >
          Start reviewing
        </Button>
      }
    >
      {start.error ? <ErrorNote error={start.error} /> : null}
      {empty ? (
        <div role="status" className="rounded-md border border-accent/40 bg-accent-soft p-3">
          {empty.message}{' '}
          {empty.reason === 'skipped' ? (
            <Button onClick={() => (skips.clear(), setEmpty(null), start.mutate())}>
              Review skipped tasks
            </Button>
          ) : null}
        </div>
      ) : null}
      <Card padded={false}>
        <FilterBar
          get={get}
          set={set}
          benchmarks={benchmarks.data}
          count={queue.data ? counted(queue.data.total, 'task') : ''}
        />
        {queue.isPending ? <Loading what="the queue" of={queue} /> : null}
        {queue.error ? (
          <div className="p-3">
            <ErrorNote error={queue.error} retry={() => void queue.refetch()} />
          </div>
        ) : null}
        {queue.data?.total === 0 ? <EmptyNote>No task matches these filters.</EmptyNote> : null}
        {queue.data && queue.data.rows.length > 0 ? (
          <Tasks rows={queue.data.rows} suffix={suffix} benchmarks={benchmarks.data ?? []} />
        ) : null}
        {queue.data && queue.data.total > PAGE_SIZE ? (
          <Pages
            page={page}
            of={Math.ceil(queue.data.total / PAGE_SIZE)}
            go={(to) => set('page', String(to))}
          />
        ) : null}
      </Card>
    </Page>
  );
}

interface Filters {
  /** Of the address; empty where it does not say. */
  readonly get: (name: string) => string;
  readonly set: (name: string, value: string) => void;
}

function useFilters() {
  const router = useRouter();
  const path = usePathname();
  const search = useSearchParams();
  const get = (name: string): string => search.get(name) ?? '';
  const set = (name: string, value: string): void => {
    const next = new URLSearchParams(search);
    if (value === '') next.delete(name);
    else next.set(name, value);
    if (name !== 'page') next.delete('page');
    if (name === 'benchmark') next.delete('database');
    router.replace(`${path}?${next.toString()}`);
  };
  const [benchmarkId, databaseId, gate] = [get('benchmark'), get('database'), get('gate')];
  return {
    get,
    set,
    page: Number(search.get('page') ?? 1) || 1,
    /** By which the next task is claimed. */
    query: {
      ...(benchmarkId && { benchmarkId }),
      ...(databaseId && { databaseId }),
      ...(gate && { gate }),
    },
    /** What takes the filters along to a task. */
    suffix: search.toString() ? `?${search.toString()}` : '',
  };
}

function FilterBar({
  get,
  set,
  benchmarks,
  count,
}: Filters & {
  readonly benchmarks: readonly BenchmarkRow[] | undefined;
  readonly count: string;
}) {
  const benchmark = get('benchmark') || (benchmarks?.length === 1 ? benchmarks[0]!.id : '');
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
      <BenchmarkChoice
        benchmarks={benchmarks}
        value={get('benchmark')}
        onChange={(id) => set('benchmark', id)}
      />
      {benchmark ? (
        <DatabaseChoice
          benchmark={benchmark}
          value={get('database')}
          onChange={(value) => set('database', value)}
        />
      ) : null}
      <Select
        aria-label="Gate"
        value={get('gate')}
        onChange={(event) => set('gate', event.target.value)}
      >
        <option value="">All gates</option>
        {(Object.keys(gateLabel) as GateName[]).map((gate) => (
          <option key={gate} value={gate}>
            {gateLabel[gate]}
          </option>
        ))}
      </Select>
      <Select
        aria-label="State"
        value={get('state')}
        onChange={(event) => set('state', event.target.value)}
      >
        <option value="">To do (open and stale)</option>
        {taskStates.map((state) => (
          <option key={state} value={state}>
            {state}
          </option>
        ))}
        <option value="all">all</option>
      </Select>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          set('search', String(new FormData(event.currentTarget).get('search') ?? ''));
        }}
      >
        <Input
          name="search"
          aria-label="Search tasks"
          placeholder="Search, Enter"
          defaultValue={get('search')}
          className="w-52"
        />
      </form>
      <span className="ml-auto text-[13px] text-muted">{count}</span>
    </div>
  );
}

function Pages({
  page,
  of,
  go,
}: {
  readonly page: number;
  readonly of: number;
  readonly go: (page: number) => void;
}) {
  return (
    <nav
      aria-label="Pages"
      className="flex items-center justify-end gap-2 border-t border-line p-2"
    >
      <Button disabled={page <= 1} onClick={() => go(page - 1)}>
        Previous
      </Button>
      <span className="text-[13px] text-muted">
        {page} of {of}
      </span>
      <Button disabled={page >= of} onClick={() => go(page + 1)}>
        Next
      </Button>
    </nav>
  );
}

function Tasks({
  rows,
  suffix,
  benchmarks,
}: {
  readonly rows: readonly TaskRow[];
  readonly suffix: string;
  readonly benchmarks: readonly BenchmarkRow[];
}) {
  return (
    <PlainTable
      label="Tasks"
      rows={rows}
      rowKey={(row) => row.id}
      columns={[
        {
          head: 'Benchmark',
          cell: (row) => (
            <span className="wrap-anywhere">
              {benchmarks.find((benchmark) => benchmark.id === row.benchmarkId)?.name ?? ''}
            </span>
          ),
        },
        { head: 'Database', cell: (row) => row.database },
        { head: 'Gate', cell: (row) => gateLabel[row.gate] },
        {
          head: 'Task',
          cell: (row) => (
            <Link className="text-accent hover:underline" href={`/tasks/${row.id}${suffix}`}>
              {row.title}
            </Link>
          ),
        },
        {
          head: 'State',
          cell: (row) => (
            <Badge tone={taskTone[row.state] ?? 'neutral'}>
              {row.state === 'waiting' ? 'with the agents' : row.state}
            </Badge>
          ),
        },
        {
          head: 'Decision',
          cell: (row) =>
            row.verdict ? (
              <span className="text-muted">
                {row.verdict.replaceAll('_', ' ')}
                {row.decidedBy ? `, ${row.decidedBy}` : ''}
                {row.decidedAt ? `, ${when(row.decidedAt)}` : ''}
              </span>
            ) : null,
        },
        { head: 'Locked by', cell: (row) => row.leasedBy ?? '' },
        { head: 'Comments', numeric: true, cell: (row) => row.comments || '' },
      ]}
    />
  );
}

function DatabaseChoice({
  benchmark,
  value,
  onChange,
}: {
  readonly benchmark: string;
  readonly value: string;
  readonly onChange: (id: string) => void;
}) {
  const { data } = useBenchmark(benchmark);
  return (
    <Select aria-label="Database" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">All databases</option>
      {data?.databaseRows.map((row) => (
        <option key={row.id} value={row.id}>
          {row.name}
        </option>
      ))}
    </Select>
  );
}
