import { unsupported } from '../errors';

/** How many indexes are counted: whatever is beyond has no figures, and is said to have none. */
const SLOTS = 65_536;

/**
 * How often each index was used, counted in memory that all threads share. A collection's index of
 * `_id` has no row of its own, so that it goes by the collection's number.
 */
export class IndexUse {
  private readonly counts: BigInt64Array;
  /** When counting began, in milliseconds; 0: when the server started. */
  private readonly starts: BigInt64Array;
  private readonly started: BigInt64Array;

  constructor(readonly memory: SharedArrayBuffer = IndexUse.allocate()) {
    this.counts = new BigInt64Array(memory, 8, 2 * SLOTS);
    this.starts = new BigInt64Array(memory, 8 + 16 * SLOTS, 2 * SLOTS);
    this.started = new BigInt64Array(memory, 0, 1);
  }
  static allocate(): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(8 + 32 * SLOTS);
    new BigInt64Array(memory, 0, 1)[0] = BigInt(Date.now());
    return memory;
  }
  private slot(kind: 'index' | 'collection', id: number): number {
    return id < SLOTS ? id + (kind === 'index' ? 0 : SLOTS) : -1;
  }
  used(kind: 'index' | 'collection', id: number): void {
    const slot = this.slot(kind, id);
    if (slot >= 0) Atomics.add(this.counts, slot, 1n);
  }
  created(kind: 'index' | 'collection', id: number): void {
    const slot = this.slot(kind, id);
    if (slot < 0) return;
    Atomics.store(this.counts, slot, 0n);
    Atomics.store(this.starts, slot, BigInt(Date.now()));
  }
  read(kind: 'index' | 'collection', id: number): { ops: bigint; since: number } {
    const slot = this.slot(kind, id);
    if (slot < 0) throw unsupported(`counting the use of more than ${SLOTS} indexes`);
    return {
      ops: Atomics.load(this.counts, slot),
      since: Number(Atomics.load(this.starts, slot) || Atomics.load(this.started, 0)),
    };
  }
}
