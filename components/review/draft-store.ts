'use client';
import { useEffect, useRef } from 'react';
import { api } from '../api';

/** Keeps what a reviewer is writing on the server, a second after the last keystroke. */
export function useDraft(taskId: string, text: string, initial: string): void {
  const saved = useRef(initial);
  useEffect(() => {
    if (text === saved.current) return;
    const timer = setTimeout(() => {
      saved.current = text;
      // A draft that cannot be saved now is saved with the next keystroke; the decision itself carries the text.
      void api(`/api/tasks/${taskId}/draft`, { method: 'PUT', body: { text } }).catch(() => (saved.current = ''));
    }, 1000);
    return () => clearTimeout(timer);
  }, [taskId, text]);
}
