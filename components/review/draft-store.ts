'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { EMPTY_DRAFT, type Draft, type TaskDetail } from '../../lib/review/task-api';
import { api } from '../api';

export interface DraftStore {
  readonly draft: Draft;
  change(part: Partial<Draft>): void;
}

/** Browsers take so much with a page that goes away. */
const MOST_WITH_UNLOAD = 60_000;

/**
 * What a reviewer is writing at a task: kept on the server a second after the last change, and when
 * the page goes away. `open` is false once it is decided: the decision carried it.
 */
export function useDraft(task: TaskDetail, open: boolean): DraftStore {
  const client = useQueryClient();
  const [draft, setDraft] = useState(task.draft ?? EMPTY_DRAFT);
  const latest = useRef(draft);
  const unsaved = useRef<Draft | null>(null);
  const { id } = task;
  const change = useCallback((part: Partial<Draft>): void => {
    latest.current = { ...latest.current, ...part };
    unsaved.current = latest.current;
    setDraft(latest.current);
  }, []);
  useEffect(() => {
    if (!open) {
      unsaved.current = null;
      client.setQueryData<TaskDetail>(['tasks', id], (known) => known && { ...known, draft: null });
    }
    const waiting = unsaved.current;
    if (!waiting) return;
    // Who comes back to the task before it is loaded again finds what was written.
    client.setQueryData<TaskDetail>(
      ['tasks', id],
      (known) => known && { ...known, draft: waiting },
    );
    const timer = setTimeout(() => {
      unsaved.current = null;
      // A draft that cannot be saved now is saved with the next change; the decision itself carries
      // it.
      void api(`/api/tasks/${id}/draft`, { method: 'PUT', body: waiting }).catch(
        () => (unsaved.current ??= waiting),
      );
    }, 1000);
    return () => clearTimeout(timer);
  }, [client, id, draft, open]);
  useEffect(() => {
    const save = (): void => {
      const body = unsaved.current && JSON.stringify(unsaved.current);
      unsaved.current = null;
      if (body)
        void fetch(`/api/tasks/${id}/draft`, {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body,
          keepalive: body.length < MOST_WITH_UNLOAD,
        }).catch(() => undefined);
    };
    window.addEventListener('pagehide', save);
    return () => {
      window.removeEventListener('pagehide', save);
      save();
    };
  }, [id]);
  return { draft, change };
}
