import type { ComputedField } from '../design/model/document-design';
import type { Value } from '../results/value';
import { foldText } from '../sqlite/schema/fold-text';

/**
 * An aggregate as SQLite computes it (https://www.sqlite.org/lang_aggfunc.html), over values one at
 * a time.
 */
export class SqlAggregate {
  #count = 0;
  #integers = 0n;
  #reals = 0;
  #onlyIntegers = true;
  readonly #extremes = new Map<(text: string) => string, Value>();

  constructor(private readonly kind: ComputedField['aggregate']) {}

  add(value: Value): void {
    if (value === null) return;
    this.#count++;
    if (this.kind === 'sum' || this.kind === 'avg') this.#addNumber(asNumber(value));
    else if (this.kind !== 'count')
      for (const collate of COLLATIONS) this.#addExtreme(value, collate);
  }

  /** The result; several where it depends on the column's collation. */
  results(): Value[] {
    if (this.kind === 'count') return [BigInt(this.#count)];
    if (this.#count === 0) return [null];
    const sum = Number(this.#integers) + this.#reals;
    if (this.kind === 'avg') return [sum / this.#count];
    if (this.kind === 'sum') return [this.#onlyIntegers ? this.#integers : sum];
    return [...this.#extremes.values()];
  }

  #addNumber(number: bigint | number): void {
    if (typeof number === 'bigint') this.#integers += number;
    else {
      this.#reals += number;
      this.#onlyIntegers = false;
    }
  }

  #addExtreme(value: Value, collate: (text: string) => string): void {
    const known = this.#extremes.get(collate);
    const order =
      known === undefined ? -1 : compare(value, known, collate) * (this.kind === 'min' ? 1 : -1);
    if (order < 0) this.#extremes.set(collate, value);
  }
}

/** BINARY, NOCASE and RTRIM; the documents do not say which one the source's column has. */
const COLLATIONS = (['BINARY', 'NOCASE', 'RTRIM'] as const).map(
  (collation) => (text: string) => foldText(text, collation),
);

/** Text counts as the number that it begins with: an integer only when it is one altogether. */
function asNumber(value: Value): bigint | number {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value);
  if (/^\s*[-+]?\d{1,18}\s*$/.test(text)) return BigInt(text.trim());
  return Number(/^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)/i.exec(text)?.[1] ?? 0);
}

const rank = (value: Value): number => {
  if (typeof value === 'bigint' || typeof value === 'number') return 0;
  return typeof value === 'string' ? 1 : 2;
};

/** SQLite's order: numbers, text, blobs. */
function compare(a: Value, b: Value, collate: (text: string) => string): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === 'string')
    return Buffer.compare(Buffer.from(collate(a)), Buffer.from(collate(b as string)));
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array);
  const [x, y] = [a as number | bigint, b as number | bigint];
  return x < y ? -1 : Number(x > y);
}
