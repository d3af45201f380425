/** The numbers of the one predicate that queue, dashboard and export share. */
export interface TaskCounts {
  /** Never decided, or answered by the agent since. */
  readonly open: number;
  /** Decided, but what was decided on has changed since. */
  readonly stale: number;
  /** An agent answers a request, or catches up with a changed dependency. */
  readonly waiting: number;
  /** Decided, and the decision counts. */
  readonly done: number;
}

export const taskStates = ['open', 'stale', 'waiting', 'done', 'closed'] as const;

export type TaskState = (typeof taskStates)[number];
