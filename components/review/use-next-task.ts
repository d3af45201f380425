import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import type { ClaimResponse } from '../../lib/review/lease-api';
import { api } from '../api';
import { pendingTaskIds } from './pending-store';
import type { Skips } from './skipped-store';

/** A quarter of a lease's length. */
const HEARTBEAT_MS = 30_000;

/** Leases and loads the next task while this one is looked at. */
export function useNextTask(
  taskId: string,
  filters: Readonly<Record<string, string>>,
  skips: Skips,
  wanted: boolean,
): { take(): Promise<ClaimResponse> } {
  const client = useQueryClient();
  const ahead = useRef<Promise<ClaimResponse> | null>(null);
  const claim = useCallback((): Promise<ClaimResponse> => {
    const claimed = api<ClaimResponse>('/api/queue/claim', {
      method: 'POST',
      body: {
        ...filters,
        holding: [taskId],
        after: taskId,
        deciding: pendingTaskIds(),
        skipped: skips.list(),
      },
    });
    void claimed.then(
      (response) =>
        response.task ? client.setQueryData(['tasks', response.task.id], response.task) : undefined,
      () => (ahead.current = null),
    );
    return claimed;
  }, [client, filters, skips, taskId]);
  const taken = useRef(false);
  useEffect(() => {
    if (wanted) ahead.current ??= claim();
  }, [wanted, claim]);
  // What was leased ahead is kept as long as the task on screen is; where that fails, another one
  // is leased.
  useEffect(() => {
    const timer = setInterval(() => {
      const claimed = ahead.current;
      if (!claimed || taken.current) return;
      const renew = async (): Promise<void> => {
        const response = await claimed;
        if (response.task)
          await api(`/api/tasks/${response.task.id}/lease`, { method: 'POST', body: {} });
      };
      void renew().catch(() => {
        // the next one is claimed when it is needed
        if (ahead.current === claimed) ahead.current = null;
      });
    }, HEARTBEAT_MS);
    return () => clearInterval(timer);
  }, []);
  // Whoever goes elsewhere gives back what was leased ahead, so that a colleague can have it at
  // once.
  useEffect(() => {
    const giveBack = (): void => {
      const claimed = ahead.current;
      ahead.current = null;
      if (!taken.current)
        void claimed?.then(
          (response) =>
            response.task
              ? navigator.sendBeacon(`/api/tasks/${response.task.id}/lease/release`)
              : undefined,
          () => undefined,
        );
    };
    window.addEventListener('pagehide', giveBack);
    return () => {
      window.removeEventListener('pagehide', giveBack);
      giveBack();
    };
  }, []);
  return useMemo(
    () => ({
      async take() {
        const response = await (ahead.current ?? claim());
        taken.current = true;
        // An empty answer from a while ago may be outdated by now.
        return response.task ? response : claim();
      },
    }),
    [claim],
  );
}
