'use client';
import { useEffect, useState, type RefObject } from 'react';
import type { LeaseInfo } from '../../lib/review/lease-api';
import { api } from '../api';

/**
 * Holds a task while it is on screen: taken on arrival, renewed, given back on leaving. A task that
 * was decided (`decided`, set before `wanted` ends) is not given back: its lease ends with the
 * decision, in one transaction. Whoever gave it back beside the decision would offer it to
 * everybody until the decision is saved.
 */
export function useLease(
  taskId: string,
  wanted: boolean,
  decided: RefObject<boolean>,
): { readonly held: boolean; readonly error: unknown } {
  const [held, setHeld] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (!wanted) return;
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const renew = async (): Promise<void> => {
      try {
        const { lease } = await api<{ lease: LeaseInfo }>(`/api/tasks/${taskId}/lease`, {
          method: 'POST',
          body: {},
        });
        if (stopped) return;
        setHeld(true);
        setError(null);
        timer = setTimeout(() => void renew(), lease.heartbeatSeconds * 1000);
      } catch (failure) {
        if (stopped) return;
        setHeld(false);
        setError(failure);
        timer = setTimeout(() => void renew(), 10_000);
      }
    };
    void renew();
    const release = (): void =>
      void (decided.current || navigator.sendBeacon(`/api/tasks/${taskId}/lease/release`));
    window.addEventListener('pagehide', release);
    return () => {
      stopped = true;
      clearTimeout(timer);
      window.removeEventListener('pagehide', release);
      release();
      setHeld(false);
    };
  }, [taskId, wanted, decided]);
  return { held, error };
}
