'use client';
import { useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import type { DecideResponse } from '../../lib/review/decision-api';
import { api, RequestFailed } from '../api';
import { useSession } from '../queries';
import { isSigningInAgain } from '../session/sign-in-again';
import { forgetPending, keepPending, readPending, type Pending } from './pending-store';

export interface Refused {
  readonly taskId: string;
  readonly title: string;
  readonly error: RequestFailed;
}
export interface Saved {
  readonly taskId: string;
  readonly title: string;
  readonly decisionId: string;
  readonly verdict: string;
}

interface Saver {
  readonly pending: number;
  /** Whether a decision on this task is on its way. */
  isPending(taskId: string): boolean;
  /** The server cannot be reached; it is tried again by itself. */
  readonly offline: boolean;
  readonly refused: readonly Refused[];
  readonly last: Saved | null;
  submit(decision: Pick<Pending, 'taskId' | 'title' | 'body'>): void;
  /** Takes a decision back: the last one, or an earlier one that still stands. */
  undo(saved: Saved): Promise<void>;
  dismiss(taskId: string): void;
}

const SaverContext = createContext<Saver | null>(null);
const LAST = 'aptmql.last-decision';
const RETRY_MS = [500, 1000, 2000, 5000, 10_000];

export function useDecisionSaver(): Saver {
  const saver = useContext(SaverContext);
  if (!saver) throw new Error('there is no DecisionSaver above');
  return saver;
}

export function DecisionSaver({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const [queue, setQueue] = useState<readonly Pending[]>([]);
  const [offline, setOffline] = useState(false);
  const [refused, setRefused] = useState<readonly Refused[]>([]);
  const [last, setLast] = useState<Saved | null>(null);
  const busy = useRef(false);

  // The offer to undo survives a reload of the tab; it is nobody else's.
  const userId = useSession().data?.id;
  useEffect(() => {
    if (!userId) return;
    setLast(readLast(userId));
    // What was not saved before a reload or before the session ended, by the same person.
    setQueue(readPending().filter((entry) => entry.by === userId));
  }, [userId]);
  const remember = useCallback(
    (saved: Saved | null) => {
      setLast(saved);
      if (userId) writeLast(userId, saved);
    },
    [userId],
  );

  const remove = useCallback((key: string) => {
    forgetPending(key);
    setQueue((before) => before.filter((entry) => entry.body.idempotencyKey !== key));
  }, []);

  useEffect(() => {
    const next = queue[0];
    if (!next || busy.current) return;
    busy.current = true;
    const send = async (): Promise<void> => {
      let taken = false;
      for (let attempt = 0; ; attempt++) {
        try {
          const { decision } = await decideOnce(next, taken);
          remember({
            taskId: next.taskId,
            title: next.title,
            decisionId: decision.id,
            verdict: decision.verdict,
          });
          break;
        } catch (error) {
          // Sent again after the next sign-in; the page is left for it.
          if (error instanceof RequestFailed && error.status === 401) return;
          // An outage or a long pause outlasted the lease: taken again, if nobody else has it.
          if (error instanceof RequestFailed && error.code === 'lease_lost' && !taken) {
            taken = true;
            continue;
          }
          const passing =
            error instanceof RequestFailed && (error.status === 0 || error.status >= 500);
          if (!passing) {
            // What was begun there is still kept, and shown again.
            void client.resetQueries({ queryKey: ['tasks', next.taskId] });
            setRefused((before) => [
              ...before,
              {
                taskId: next.taskId,
                title: next.title,
                error:
                  error instanceof RequestFailed
                    ? error
                    : new RequestFailed(String(error), 0, 'internal', ''),
              },
            ]);
            break;
          }
          setOffline(true);
          await connectedOr(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]!);
        }
      }
      setOffline(false);
      // Whoever stays on the task sees what became of it as soon as the decision is saved.
      await client.invalidateQueries({ queryKey: ['tasks', next.taskId] });
      busy.current = false;
      remove(next.body.idempotencyKey);
      void client.invalidateQueries({ queryKey: ['queue'] });
      void client.invalidateQueries({ queryKey: ['databases'] });
    };
    void send();
  }, [queue, client, remove, remember]);

  useEffect(() => {
    const warn = (event: BeforeUnloadEvent): void => {
      if (queue.length > 0 && !isSigningInAgain()) event.preventDefault();
    };
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [queue.length]);

  const saver = useMemo<Saver>(
    () => ({
      pending: queue.length,
      isPending: (taskId) => queue.some((entry) => entry.taskId === taskId),
      offline,
      refused,
      last,
      submit(decision) {
        if (!userId) throw new Error('nobody is signed in to decide');
        const address = window.location.pathname + window.location.search;
        const entry: Pending = { ...decision, by: userId, madeAt: Date.now(), address };
        keepPending(entry); // at once: the claim that follows leaves it out
        setQueue((before) => [...before, entry]);
      },
      async undo(saved) {
        try {
          await api<DecideResponse>(`/api/decisions/${saved.decisionId}/undo`, {
            method: 'POST',
            body: { idempotencyKey: crypto.randomUUID() },
          });
        } finally {
          // Also when the server refuses: then a later decision has taken its place, and there is
          // nothing to offer.
          if (last?.decisionId === saved.decisionId) remember(null);
          void client.invalidateQueries({ queryKey: ['tasks'] });
          void client.invalidateQueries({ queryKey: ['queue'] });
        }
      },
      dismiss: (taskId) =>
        setRefused((before) => before.filter((entry) => entry.taskId !== taskId)),
    }),
    [queue, offline, refused, last, client, remember, userId],
  );
  return <SaverContext value={saver}>{children}</SaverContext>;
}

/**
 * `take`: leases the task first. What that cannot help (somebody else has decided) leaves no lease
 * behind.
 */
async function decideOnce({ taskId, body }: Pending, take: boolean): Promise<DecideResponse> {
  if (take) await api(`/api/tasks/${taskId}/lease`, { method: 'POST', body: {} });
  try {
    return await api<DecideResponse>(`/api/tasks/${taskId}/decisions`, { method: 'POST', body });
  } catch (error) {
    if (take && error instanceof RequestFailed && error.code === 'lease_lost')
      navigator.sendBeacon(`/api/tasks/${taskId}/lease/release`);
    throw error;
  }
}

/** Waits, no longer than until the browser says that it is connected again. */
const connectedOr = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer);
      window.removeEventListener('online', go);
      resolve();
    };
    const timer = setTimeout(go, ms);
    window.addEventListener('online', go);
  });

function readLast(userId: string): Saved | null {
  try {
    const { by, saved } = JSON.parse(sessionStorage.getItem(LAST) ?? '{}') as {
      by?: string;
      saved?: Saved;
    };
    return by === userId && saved ? saved : null;
  } catch {
    return null;
  }
}
const writeLast = (userId: string, saved: Saved | null): void =>
  saved
    ? sessionStorage.setItem(LAST, JSON.stringify({ by: userId, saved }))
    : sessionStorage.removeItem(LAST);
