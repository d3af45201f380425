'use client';
import { useEffect } from 'react';

const IDLE_MS = 60_000;

/**
 * Measures the time a task is looked at: from when it is visible and focused until the page is
 * left, hidden, blurred, or nothing happens for 60 s. Sent as intervals; totals are derived on the
 * server.
 */
export function useEffort(taskId: string, active: boolean): void {
  useEffect(() => {
    if (!active) return;
    let startedAt: Date | null = null;
    let lastInput = Date.now();
    const begin = (): void => {
      lastInput = Date.now();
      if (!startedAt && document.visibilityState === 'visible' && document.hasFocus())
        startedAt = new Date();
    };
    const finish = (end: 'blur' | 'idle' | 'unload' | 'next', at = new Date()): void => {
      if (!startedAt || at <= startedAt) return;
      const span = {
        id: crypto.randomUUID(),
        taskId,
        startedAt: startedAt.toISOString(),
        endedAt: at.toISOString(),
        end,
      };
      startedAt = null;
      navigator.sendBeacon('/api/effort', JSON.stringify({ spans: [span] }));
    };
    const onBlur = (): void => finish('blur');
    const onVisibility = (): void =>
      document.visibilityState === 'visible' ? begin() : finish('blur');
    const onUnload = (): void => finish('unload');
    const idle = setInterval(() => {
      if (Date.now() - lastInput > IDLE_MS) finish('idle', new Date(lastInput + IDLE_MS));
    }, 5_000);
    begin();
    const inputs = ['pointermove', 'keydown', 'wheel', 'pointerdown'] as const;
    for (const name of inputs) window.addEventListener(name, begin, { passive: true });
    window.addEventListener('focus', begin);
    window.addEventListener('blur', onBlur);
    window.addEventListener('pagehide', onUnload);
    document.addEventListener('visibilitychange', onVisibility);
    return () => {
      finish('next');
      clearInterval(idle);
      for (const name of inputs) window.removeEventListener(name, begin);
      window.removeEventListener('focus', begin);
      window.removeEventListener('blur', onBlur);
      window.removeEventListener('pagehide', onUnload);
      document.removeEventListener('visibilitychange', onVisibility);
    };
  }, [taskId, active]);
}
