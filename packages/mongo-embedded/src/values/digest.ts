/**
 * Percentiles as the server computes them: exactly for the values of an array and of a sliding
 * window, and by a t-digest for those of a group and of a growing window (T. Dunning, O. Ertl:
 * Computing extremely accurate quantiles using t-digests). Which digest comes out depends on the
 * order of the values, their number and the server's parameters.
 */

/** The position among n sorted values that a percentile names. */
const rankOf = (n: number, p: number): number =>
  p >= 1 ? n - 1 : Math.max(0, Math.ceil(n * p) - 1);

/** The value itself that is at a percentile; null of nothing. NaN counts as no value. */
export function discretePercentiles(
  values: readonly number[],
  ps: readonly number[],
): number[] | null {
  const sorted = Float64Array.from(values.filter((v) => v === v)).sort();
  return sorted.length === 0 ? null : ps.map((p) => sorted[rankOf(sorted.length, p)] as number);
}

/** The server's `internalQueryTdigestDelta`. */
const DELTA = 2000;
/**
 * How many values are sorted at once, in deltas: sources of the server show both, and which of them
 * 8.0 has is not known.
 */
const BUFFERS = [3, 5] as const;
const ROOT = 1 / Math.sqrt(2);
/** The server's digest starts its greatest value with the smallest positive double. */
const SMALLEST_GREATEST = 2.2250738585072014e-308;

/** Up to which share of all values a centroid may reach that begins after the share q. */
function limitAfter(q: number): number {
  const k = q <= 0.5 ? DELTA * ROOT * Math.sqrt(q) : DELTA - DELTA * ROOT * Math.sqrt(1 - q);
  const r = (1 + k) / DELTA;
  if (r <= 0.5) return 2 * r * r;
  const b = 1 - r;
  return 1 - 2 * b * b;
}

interface Centroid {
  weight: number;
  mean: number;
}
function joinValue(into: Centroid, v: number): void {
  into.weight += 1;
  into.mean += (v - into.mean) / into.weight;
}
/** The heavier one moves, which loses less to rounding. */
function joinCentroid(into: Centroid, other: Centroid): void {
  if (other.weight < into.weight) {
    into.weight += other.weight;
    into.mean += (other.mean - into.mean) * (other.weight / into.weight);
  } else {
    const weight = into.weight + other.weight;
    into.mean = other.mean + (into.mean - other.mean) * (into.weight / weight);
    into.weight = weight;
  }
}

class Digest {
  private buffer: number[] = [];
  private centroids: Centroid[] = [];
  private n = 0;
  private low = 0;
  private high = 0;
  private least = Infinity;
  private greatest = -Infinity;

  constructor(private readonly buffered: number) {}

  add(v: number): void {
    if (v !== v) return;
    if (v === Infinity) this.high++;
    else if (v === -Infinity) this.low++;
    else if (this.buffer.push(v) >= this.buffered) this.flush();
  }

  /**
   * null when there is no value; an error when the server's answer is none of the values' doing.
   */
  percentiles(ps: readonly number[], unanswerable: () => Error): number[] | null {
    this.flush();
    if (this.n + this.low + this.high === 0) return null;
    return ps.map((p) => this.percentile(p, unanswerable));
  }

  private flush(): void {
    const { buffer } = this;
    if (buffer.length === 0) return;
    const sorted = Float64Array.from(buffer).sort();
    this.buffer = [];
    this.n += sorted.length;
    this.least = Math.min(this.least, sorted[0] as number);
    this.greatest = Math.max(this.greatest, sorted[sorted.length - 1] as number);
    this.merge(sorted);
  }

  /**
   * Centroids and new values in one ascending row, neighbours put together as far as the scale
   * allows.
   */
  private merge(sorted: Float64Array): void {
    const { centroids, n } = this;
    const out: Centroid[] = [];
    let i = 0;
    let j = 0;
    const both = (): boolean => i < centroids.length && j < sorted.length;
    // Of equals, the centroid comes first.
    const valueIsNext = (): boolean =>
      j < sorted.length &&
      (i >= centroids.length || (centroids[i] as Centroid).mean > (sorted[j] as number));
    let before = 0;
    while (i < centroids.length || j < sorted.length) {
      // A centroid begun while there were both kinds ends where one of them does.
      const mixed = both();
      const current: Centroid = valueIsNext()
        ? { weight: 1, mean: sorted[j++] as number }
        : { ...(centroids[i++] as Centroid) };
      const limit = n * limitAfter(before / n);
      while (mixed ? both() : i < centroids.length || j < sorted.length) {
        const value = valueIsNext();
        if (before + current.weight + (value ? 1 : (centroids[i] as Centroid).weight) > limit)
          break;
        if (value) joinValue(current, sorted[j++] as number);
        else joinCentroid(current, centroids[i++] as Centroid);
      }
      out.push(current);
      before += current.weight;
    }
    this.centroids = out;
  }

  private percentile(p: number, unanswerable: () => Error): number {
    if (p >= 1) {
      if (this.high > 0) return Infinity;
      if (this.greatest < SMALLEST_GREATEST) throw unanswerable();
      return this.greatest;
    }
    if (p <= 0) {
      if (this.low > 0) return -Infinity;
      if (this.n === 0) throw unanswerable();
      return this.least;
    }
    const all = rankOf(this.n + this.low + this.high, p);
    if (all < this.low) return -Infinity;
    if (this.high > 0 && all >= this.n + this.low) return Infinity;
    return this.at(all - this.low, unanswerable);
  }

  /** The value of a rank, interpolated between the means of centroids. */
  private at(rank: number, unanswerable: () => Error): number {
    const { centroids } = this;
    let i = 0;
    let reached = 0;
    for (; i < centroids.length; i++) {
      reached += (centroids[i] as Centroid).weight;
      if (reached > rank) break;
    }
    const { weight, mean } = centroids[i] as Centroid;
    if (weight === 1) return mean;
    const before = centroids[i - 1];
    const after = centroids[i + 1];
    const inFirstHalf = reached - rank >= weight / 2;
    if (!inFirstHalf && !after && this.greatest < SMALLEST_GREATEST) throw unanswerable();
    const left = inFirstHalf ? (before?.mean ?? this.least) : mean;
    const right = inFirstHalf ? mean : (after?.mean ?? this.greatest);
    const leftWeight = inFirstHalf ? (before?.weight ?? 0) : weight;
    const rightWeight = inFirstHalf ? weight : (after?.weight ?? 0);
    const doubled = inFirstHalf
      ? leftWeight + 2 * rightWeight - 2 * (reached - 1 - rank)
      : leftWeight - 2 * (reached - 1 - rank);
    return Math.min(right, left + (right - left) * (doubled / (leftWeight + rightWeight)));
  }
}

/**
 * Percentiles of a group. What depends on how many values the server sorts at once has no answer
 * here.
 */
export class GroupPercentiles {
  private readonly digests = BUFFERS.map((buffer) => new Digest(buffer * DELTA));

  add(v: number): void {
    for (const digest of this.digests) digest.add(v);
  }

  /**
   * null when there is no value; an error when the server's answer is none of the values' doing, or
   * is not known.
   */
  percentiles(ps: readonly number[], unanswerable: () => Error): number[] | null {
    const [answer, ...others] = this.digests.map((digest) => digest.percentiles(ps, unanswerable));
    if (answer && others.some((other) => answer.some((v, i) => !Object.is(v, other?.[i]))))
      throw unanswerable();
    return answer ?? null;
  }
}
