/** Raw documents one after another. */
interface Segment {
  readonly buffer: Buffer;
  end: number;
}
/** A collection's documents in memory. */
export interface Cached {
  readonly changes: number;
  readonly segments: Segment[];
  lastRid: number;
  bytes: number;
  scans: number;
}

const UNIT = 1024;

/** How much each of the threads holds that keep documents in memory: they share one budget. */
export class CacheShares {
  private readonly held: Int32Array;
  static allocate(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(4 * threads);
  }
  constructor(
    shared = CacheShares.allocate(1),
    private readonly own = 0,
  ) {
    this.held = new Int32Array(shared);
    // A thread that takes the place of one that ended holds nothing yet.
    this.hold(0);
  }
  hold(bytes: number): void {
    if (this.own < this.held.length) Atomics.store(this.held, this.own, Math.ceil(bytes / UNIT));
  }
  /** What the others leave of a budget, and never less than a fair share of it. */
  roomOf(budget: number): number {
    let others = 0;
    for (let i = 0; i < this.held.length; i++)
      if (i !== this.own) others += Atomics.load(this.held, i) * UNIT;
    return Math.max(budget - others, budget / this.held.length);
  }
}

/**
 * Which collections' documents are held in memory, and for how much. The least recently scanned
 * goes first.
 */
export class CacheBudget {
  private readonly entries = new Map<number, Cached>();
  private used = 0;
  constructor(
    private readonly limit: number,
    private readonly shares: CacheShares,
  ) {}
  get room(): number {
    return this.shares.roomOf(this.limit);
  }
  get(id: number): Cached | undefined {
    const entry = this.entries.get(id);
    if (entry) {
      this.entries.delete(id);
      this.entries.set(id, entry);
    }
    return entry;
  }
  put(id: number, entry: Cached): void {
    this.drop(id);
    this.entries.set(id, entry);
    this.grew(id, entry.bytes);
  }
  /** An entry, which now is the most recent one, takes more. */
  grew(id: number, by: number): void {
    this.used += by;
    this.fit(id);
  }
  drop(id: number): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    this.entries.delete(id);
    this.used -= entry.bytes;
    this.shares.hold(this.used);
  }
  /**
   * Lets go of what there is no room for, perhaps because another thread has taken its share since.
   */
  fit(except?: number): void {
    const { room } = this;
    for (const id of this.entries.keys()) {
      if (this.used <= room) break;
      if (id !== except) this.drop(id);
    }
    this.shares.hold(this.used);
  }
}
