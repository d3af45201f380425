/**
 * What a query, or a workload, is expected to cost on a design (guidebook, section 3): an estimate
 * from the profile, never a measurement. `bench/cost-model.ts` compares it with the documents that
 * are really examined.
 */
export interface Cost {
  /** Documents fetched: by a scan, through an index, or by lookups. */
  readonly documents: number;
  /** Probes of another collection, one for each row that needs one. */
  readonly lookups: number;
  /** Entries of arrays taken apart: of embedded ones, and of those that lookups make. */
  readonly entries: number;
  /** BSON bytes of the documents fetched. */
  readonly bytes: number;
}

/**
 * One number to compare designs by, in units of one small document fetched. A probe descends an
 * index; an entry is a part of a document that is in memory already; a document of some KiB takes
 * as long to read as several small ones.
 */
const WEIGHT = { document: 1, lookup: 4, entry: 0.5, kib: 0.5 } as const;

export const score = ({ documents, lookups, entries, bytes }: Cost): number =>
  documents * WEIGHT.document +
  lookups * WEIGHT.lookup +
  entries * WEIGHT.entry +
  (bytes / 1024) * WEIGHT.kib;

export const NO_COST: Cost = { documents: 0, lookups: 0, entries: 0, bytes: 0 };
export const addCosts = (a: Cost, b: Cost, times = 1): Cost => ({
  documents: a.documents + b.documents * times,
  lookups: a.lookups + b.lookups * times,
  entries: a.entries + b.entries * times,
  bytes: a.bytes + b.bytes * times,
});

/** For what is kept and shown: an estimate has no decimals. */
export const roundCost = ({ documents, lookups, entries, bytes }: Cost): Cost => ({
  documents: Math.round(documents),
  lookups: Math.round(lookups),
  entries: Math.round(entries),
  bytes: Math.round(bytes),
});
