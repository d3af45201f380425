import { useEffect, useRef } from 'react';
import type { VersionDetail } from '../../lib/artefacts/artefact-api';
import type { TaskDetail } from '../../lib/review/task-api';
import { api } from '../api';

/** A version counts as seen after it has been on screen for this long. */
const SEEN_AFTER_MS = 3000;

/**
 * The version to compare with: the last one that this reviewer saw, where a newer one has come
 * since (`unseen`), else the one before. Reports the version on screen as seen after a while.
 */
export function useUnseenVersion(task: TaskDetail): {
  readonly before: VersionDetail | null;
  readonly unseen: boolean;
} {
  const openedVersion = useRef(task.current.id);
  useEffect(() => {
    const report = (): void => {
      const body = { versionId: openedVersion.current };
      // A lost report shows the same difference once more, which does no harm.
      void api(`/api/tasks/${task.id}/seen`, { method: 'POST', body }).catch(() => undefined);
    };
    const timer = setTimeout(report, SEEN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [task.id]);

  // After the report the server no longer calls the version unseen; on screen it stays so.
  const lastSeen = useRef(task.lastSeen);
  if (task.lastSeen) lastSeen.current = task.lastSeen;
  const unseen = lastSeen.current !== null && lastSeen.current.id !== task.current.id;
  return { before: unseen ? lastSeen.current : task.earlier, unseen };
}
