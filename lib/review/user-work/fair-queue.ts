/** A piece of work of one user that waits for a place. */
interface Waiting {
  readonly userId: string;
  readonly start: () => void;
}

/** The user has as much waiting as one may have. */
export class QueueFull extends Error {}

/**
 * Gives out a fixed number of places. A user has one place at a time while others wait, and users
 * take turns: whoever asks for much waits behind whoever asks for little.
 */
export class FairQueue {
  readonly #running = new Map<string, number>();
  #free: number;
  /** In the order in which they asked. */
  #waiting: Waiting[] = [];

  constructor(
    places: number,
    private readonly maxWaiting: number,
  ) {
    this.#free = places;
  }

  /**
   * Waits for a place. The caller gives it back.
   * @throws QueueFull; the reason of `signal` when it is aborted while waiting
   */
  async take(userId: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const own = this.#waiting.filter((waiting) => waiting.userId === userId).length;
    if (own >= this.maxWaiting) throw new QueueFull();
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason as Error);
      };
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiting = { userId, start };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
      this.#next();
    });
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#free++;
      this.#count(userId, -1);
      this.#next();
    };
  }

  #next(): void {
    while (this.#free > 0) {
      // One place a user: the last free one is then there for whoever comes.
      const index = this.#waiting.findIndex(({ userId }) => !this.#running.has(userId));
      const [next] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (!next) return;
      this.#free--;
      this.#count(next.userId, 1);
      next.start();
    }
  }

  #count(userId: string, change: number): void {
    const running = (this.#running.get(userId) ?? 0) + change;
    if (running > 0) this.#running.set(userId, running);
    else this.#running.delete(userId);
  }
}
