'use client';
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Page } from '../lib/api-fields';
import type { SessionResponse, UserRow } from '../lib/auth/account-api';
import type {
  BenchmarkDetail,
  BenchmarkRow,
  DatabaseDetail,
  FinaliseReport,
  ImportRow,
} from '../lib/benchmarks/benchmark-api';
import type { Overview, RunRow, StepRow } from '../lib/benchmarks/overview-api';
import type { LiveEvent } from '../lib/pipeline/live-events';
import type { BundleRow } from '../lib/releases/release-api';
import type { TaskRow } from '../lib/review/queue-api';
import type { TaskDetail } from '../lib/review/task-api';
import { api, query } from './api';

export const useSession = () =>
  useQuery({
    queryKey: ['session'],
    queryFn: () => api<SessionResponse>('/api/session').then(({ user }) => user),
    staleTime: 60_000,
  });

export const useBenchmarks = () =>
  useQuery({
    queryKey: ['benchmarks'],
    queryFn: () =>
      api<{ benchmarks: BenchmarkRow[] }>('/api/benchmarks').then(({ benchmarks }) => benchmarks),
  });

export const useBenchmark = (id: string) =>
  useQuery({
    queryKey: ['benchmarks', id],
    queryFn: () =>
      api<{ benchmark: BenchmarkDetail }>(`/api/benchmarks/${id}`).then(
        ({ benchmark }) => benchmark,
      ),
  });

export const useImports = (enabled: boolean) =>
  useQuery({
    queryKey: ['imports'],
    queryFn: () => api<{ imports: ImportRow[] }>('/api/imports').then(({ imports }) => imports),
    enabled,
  });

// Nothing tells of a worker that has gone: what waits is asked for again.
const WAITING_MS = 10_000;

export const useDatabase = (id: string) =>
  useQuery({
    queryKey: ['databases', id],
    queryFn: () =>
      api<{ database: DatabaseDetail }>(`/api/databases/${id}`).then(({ database }) => database),
    refetchInterval: ({ state }) =>
      state.data &&
      (state.data.workerSilence ||
        state.data.tasks.waiting > 0 ||
        state.data.stages.some(({ run }) => run?.state === 'queued' || run?.state === 'running'))
        ? WAITING_MS
        : false,
  });

export const useFinaliseReport = (id: string) =>
  useQuery({
    queryKey: ['databases', id, 'finalise'],
    queryFn: () =>
      api<{ report: FinaliseReport }>(`/api/databases/${id}/finalise`).then(({ report }) => report),
  });

export const useTask = (id: string) =>
  useQuery({
    queryKey: ['tasks', id],
    queryFn: () => fetchTask(id),
    staleTime: 5_000,
    refetchInterval: ({ state }) => (state.data?.state === 'waiting' ? WAITING_MS : false),
  });
export const fetchTask = (id: string): Promise<TaskDetail> =>
  api<{ task: TaskDetail }>(`/api/tasks/${id}`).then(({ task }) => task);

export const useQueue = (
  filters: Readonly<Record<string, string | number | undefined>>,
): UseQueryResult<Page<TaskRow>> =>
  useQuery({
    queryKey: ['queue', filters],
    queryFn: () => api<Page<TaskRow>>(`/api/queue${query(filters)}`),
    placeholderData: (before) => before,
  });

export const useOverview = (benchmarkId: string) =>
  useQuery({
    queryKey: ['overview', benchmarkId],
    queryFn: () => api<Overview>(`/api/benchmarks/${benchmarkId}/overview`),
  });

export const useBundles = () =>
  useQuery({
    queryKey: ['bundles'],
    queryFn: () => api<{ bundles: BundleRow[] }>('/api/bundles').then(({ bundles }) => bundles),
    refetchInterval: (state) =>
      state.state.data?.some((bundle) => bundle.state === 'queued' || bundle.state === 'running')
        ? 2_000
        : false,
  });

export const useUsers = () =>
  useQuery({
    queryKey: ['users'],
    queryFn: () => api<{ users: UserRow[] }>('/api/users').then(({ users }) => users),
  });

export const useRuns = (filters: Readonly<Record<string, string | number | undefined>>) =>
  useQuery({
    queryKey: ['runs', filters],
    queryFn: () => api<Page<RunRow>>(`/api/runs${query(filters)}`),
    placeholderData: (before) => before,
  });

export const useRunSteps = (id: string | null) =>
  useQuery({
    queryKey: ['runs', id],
    queryFn: () => api<{ run: RunRow; steps: StepRow[] }>(`/api/runs/${id}`),
    enabled: id !== null,
  });

/**
 * Keeps what is on screen current: the server says what changed, and the queries about it are asked
 * again. After a reconnect everything is asked again, because events are not replayed.
 */
export function useLiveEvents(): void {
  const client = useQueryClient();
  useEffect(() => {
    const source = new EventSource('/api/events');
    const waiting = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Progress comes many times a second; once a second is enough for people and kind to the
    // server.
    const refresh = (key: readonly string[]): void => {
      waiting.add(JSON.stringify(key));
      timer ??= setTimeout(() => {
        timer = undefined;
        for (const text of waiting)
          void client.invalidateQueries({ queryKey: JSON.parse(text) as string[] });
        waiting.clear();
      }, 1000);
    };
    let connectedBefore = false;
    source.onmessage = ({ data }: MessageEvent<string>) => {
      const event = JSON.parse(data) as LiveEvent;
      switch (event.type) {
        case 'hello':
          if (connectedBefore) void client.invalidateQueries();
          connectedBefore = true;
          break;
        case 'stage':
        case 'tasks':
          refresh(['databases', event.databaseId]);
          refresh(['benchmarks']);
          refresh(['queue']);
          refresh(['overview', event.benchmarkId]);
          break;
        case 'task':
          refresh(['queue']);
          refresh(['databases', event.databaseId]);
          break;
        case 'import':
          refresh(['imports']);
          if (event.state === 'done') refresh(['benchmarks']);
          break;
        case 'bundle':
          refresh(['bundles']);
          break;
        case 'benchmark':
          refresh(['benchmarks']);
          break;
      }
    };
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [client]);
}
