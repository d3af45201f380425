import { AppError } from '../../app-error';
import { FairQueue, QueueFull } from './fair-queue';
import type { DoUserWork, UserWork, WorkKind } from './work';
import { WorkProcess } from './work-process';

/** Processes at the same time: one user's work leaves the other for everybody else. */
const PROCESSES = 2;
/** Pieces of one user that may wait, beside the one that runs. */
const MOST_WAITING = 4;
/**
 * A check runs a query on both sides, each within its own limit of a minute; an estimate reads
 * nothing.
 */
const LIMIT_MS: Readonly<Record<WorkKind, number>> = {
  check: 150_000,
  what_if: 30_000,
  design_figures: 30_000,
};

class UserWorkers {
  readonly #queue = new FairQueue(PROCESSES, MOST_WAITING);
  readonly #idle = Array.from({ length: PROCESSES }, () => new WorkProcess());

  constructor() {
    for (const worker of this.#idle) worker.warm();
  }

  async run(userId: string, kind: WorkKind, input: unknown, signal: AbortSignal): Promise<unknown> {
    const giveBack = await this.#queue.take(userId, signal).catch((error: unknown) => {
      if (!(error instanceof QueueFull)) throw error;
      throw new AppError(
        'rate_limited',
        `${MOST_WAITING} of your checks are waiting already`,
        'Wait until they are done, then try again.',
      );
    });
    const worker = this.#idle.pop()!;
    try {
      return await worker.run(kind, input, LIMIT_MS[kind], signal);
    } finally {
      this.#idle.push(worker);
      giveBack();
    }
  }
}

// On globalThis, because the bundler may give each route its own copy of this module.
const holder = globalThis as typeof globalThis & { aptmqlUserWorkers?: UserWorkers };

/**
 * Does users' work in processes of its own, so that nothing that a user sends stops the application
 * for others: each piece has a limit of time and memory, and a user's pieces run one after the
 * other.
 *
 * @throws AppError of the work itself; `too_large` beyond its limits; `rate_limited`
 */
export const runUserWork: DoUserWork = async (userId, kind, input, signal) => {
  const workers = (holder.aptmqlUserWorkers ??= new UserWorkers());
  return (await workers.run(userId, kind, input, signal)) as UserWork[typeof kind]['output'];
};
