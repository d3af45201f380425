import { Doc } from '../bson/doc';
import type { Value } from '../bson/value';

/** Commands since the start and their durations: for `top` and `serverStatus`. */

const kinds = ['queries', 'getmore', 'insert', 'update', 'remove', 'commands'] as const;
type Kind = (typeof kinds)[number];

const kindOf: Readonly<Record<string, Kind>> = {
  find: 'queries',
  getmore: 'getmore',
  insert: 'insert',
  update: 'update',
  findandmodify: 'update',
  delete: 'remove',
};
const writing = new Set<Kind>(['insert', 'update', 'remove']);

interface Count {
  time: number;
  count: number;
}
type Counts = Record<Kind, Count>;
const none = (): Counts =>
  Object.fromEntries(kinds.map((k) => [k, { time: 0, count: 0 }])) as Counts;
const sum = (counts: Counts, of: (k: Kind) => boolean): Count =>
  kinds
    .filter(of)
    .reduce<Count>(
      (total, k) => ({ time: total.time + counts[k].time, count: total.count + counts[k].count }),
      { time: 0, count: 0 },
    );
const shown = ({ time, count }: Count): Doc =>
  Doc.of({ time: BigInt(Math.round(time)), count: BigInt(count) });

export class Usage {
  private readonly byNamespace = new Map<string, Counts>();
  private readonly all = none();

  count(command: string, namespace: string, ms: number): void {
    const kind = kindOf[command] ?? 'commands';
    let counts = this.byNamespace.get(namespace);
    if (!counts) this.byNamespace.set(namespace, (counts = none()));
    for (const c of [counts, this.all]) {
      c[kind].time += ms * 1000;
      c[kind].count++;
    }
  }
  /** The `totals` of `top`, in microseconds. */
  totals(): Doc {
    const out: Record<string, Value> = { note: 'all times in microseconds' };
    for (const [namespace, counts] of [...this.byNamespace].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const each = Object.fromEntries(kinds.map((k) => [k, shown(counts[k])]));
      out[namespace] = Doc.of({
        total: shown(sum(counts, () => true)),
        readLock: shown(sum(counts, (k) => !writing.has(k))),
        writeLock: shown(sum(counts, (k) => writing.has(k))),
        ...each,
      });
    }
    return Doc.of(out);
  }
  opcounters(): Doc {
    const { insert, queries, update, remove, getmore, commands } = this.all;
    const counts = { insert, query: queries, update, delete: remove, getmore, command: commands };
    return Doc.of(
      Object.fromEntries(Object.entries(counts).map(([name, { count }]) => [name, BigInt(count)])),
    );
  }
}
