import type { DecideInput } from '../../lib/review/decision-api';

/**
 * A decision on its way to the server. It is kept in the browser until the server has it, through
 * reloads and outages.
 */
export interface Pending {
  readonly taskId: string;
  readonly title: string;
  readonly body: DecideInput;
  /** Who made it: it is sent in nobody else's name. */
  readonly by: string;
  /** Milliseconds, for the order. */
  readonly madeAt: number;
  /** The page it was made on. */
  readonly address: string;
}

// An entry each: tabs that write at the same time do not overwrite one another's.
const PREFIX = 'aptmql.pending-decision.';

export function readPending(): Pending[] {
  const entries: Pending[] = [];
  for (const key of Object.keys(localStorage).filter((name) => name.startsWith(PREFIX))) {
    try {
      entries.push(JSON.parse(localStorage.getItem(key) ?? 'null') as Pending);
    } catch {
      // unreadable text of another version: nothing that could be sent
      localStorage.removeItem(key);
    }
  }
  return entries.filter((entry) => entry !== null).sort((a, b) => a.madeAt - b.madeAt);
}
export const keepPending = (entry: Pending): void =>
  localStorage.setItem(PREFIX + entry.body.idempotencyKey, JSON.stringify(entry));
export const forgetPending = (idempotencyKey: string): void =>
  localStorage.removeItem(PREFIX + idempotencyKey);

/**
 * Tasks that are decided here and whose decisions are not saved yet: no claim may answer with one
 * of them.
 */
export const pendingTaskIds = (): string[] => readPending().map((entry) => entry.taskId);
