import type { SqliteValue, Value } from '../../results/value';
import { DistinctSketch } from './distinct-sketch';
import { NumberTextFinder } from './number-format';
import type { ColumnProfile, StorageCounts } from './profile';
import { formatsOfInteger, formatsOfText, type ValueFormat } from './value-formats';

/** What one pass over a column's values says of it. */
export interface ColumnScan extends Omit<ColumnProfile, 'column' | 'invalidUtf8'> {
  /** False when some value was seen twice: only then is the column surely no key. */
  readonly mayBeKey: boolean;
  /**
   * True when a text holds U+FFFD: perhaps written so, perhaps put there for bytes that are no
   * text.
   */
  readonly suspectText: boolean;
  /**
   * True when JavaScript may order texts otherwise than SQLite does, so that `min` and `max` have
   * to be asked for.
   */
  readonly orderUnsure: boolean;
}

const MAX_HELD_CHARACTERS = 8_000_000;
const TOP_VALUES = 5;

/**
 * Collects one column's profile value by value. Distinct values are held up to a limit, and looked
 * at once each however often they occur; beyond the limit every value is looked at as it comes, and
 * distinct ones are estimated.
 */
export class ColumnProfiler {
  readonly #at = new Map<unknown, number>();
  readonly #values: Exclude<SqliteValue, null>[] = [];
  readonly #counts: number[] = [];
  readonly #stored = { null: 0, integer: 0, real: 0, text: 0, blob: 0 };
  readonly #seen = new SeenValues();
  #sketch: DistinctSketch | undefined;
  #heldCharacters = 0;
  #repeated = false;

  constructor(private readonly maxHeld: number) {}

  add(value: SqliteValue): void {
    if (value === null) {
      this.#stored.null++;
      return;
    }
    this.#stored[storageClass(value)]++;
    const key = keyOf(value);
    const at = this.#at.get(key);
    if (at !== undefined) {
      this.#counts[at]!++;
      this.#repeated = true;
    } else if (!this.#sketch) this.#hold(key, value);
    else {
      this.#sketch.add(key);
      this.#seen.add(value, 1);
    }
  }

  finish(): ColumnScan {
    this.#values.forEach((value, index) => this.#seen.add(value, this.#counts[index]!));
    const { stored, filled } = { stored: this.#stored as StorageCounts, filled: this.#seen.count };
    const top = this.#counts
      .map((count, index) => ({ value: shorten(this.#values[index]!), count }))
      .sort((a, b) => b.count - a.count);
    const seen = this.#seen;
    const numbers = seen.numberTexts.found();
    return {
      stored,
      distinct: this.#sketch ? this.#sketch.estimate() : this.#values.length,
      ...(this.#sketch ? { distinctEstimated: true } : {}),
      min: shorten(seen.min),
      max: shorten(seen.max),
      maxBytes: seen.maxBytes,
      meanBytes: filled > 0 ? seen.bytes / filled : 0,
      formats: seen.formatsOfAllTexts(stored.text),
      formatCounts: Object.fromEntries(seen.formats),
      ...(filled === stored.text && numbers ? { numbers } : {}),
      topValues: this.#repeated || top.length <= TOP_VALUES ? top.slice(0, TOP_VALUES) : [],
      trailingBlanks: seen.trailingBlanks,
      nonFinite: seen.nonFinite,
      mayBeKey: !this.#repeated && stored.null === 0,
      suspectText: seen.suspectText,
      orderUnsure: seen.orderUnsure,
    };
  }

  #hold(key: unknown, value: Exclude<SqliteValue, null>): void {
    this.#at.set(key, this.#values.length);
    this.#values.push(value);
    this.#counts.push(1);
    if (typeof value === 'string' || typeof value === 'object')
      this.#heldCharacters += value.length;
    if (this.#values.length < this.maxHeld && this.#heldCharacters < MAX_HELD_CHARACTERS) return;
    this.#sketch = new DistinctSketch();
    for (const held of this.#at.keys()) this.#sketch.add(held);
  }
}

/** Sums over values, each with the number of times that it occurs. */
class SeenValues {
  count = 0;
  bytes = 0;
  maxBytes = 0;
  trailingBlanks = 0;
  nonFinite = 0;
  suspectText = false;
  orderUnsure = false;
  min: SqliteValue = null;
  max: SqliteValue = null;
  readonly formats = new Map<ValueFormat, number>();
  readonly numberTexts = new NumberTextFinder();
  readonly #textFormats = new Map<ValueFormat, number>();

  add(value: Exclude<SqliteValue, null>, times: number): void {
    const bytes = bytesOf(value);
    this.count += times;
    this.bytes += bytes * times;
    if (bytes > this.maxBytes) this.maxBytes = bytes;
    if (this.min === null || isBefore(value, this.min)) this.min = value;
    if (this.max === null || isBefore(this.max, value)) this.max = value;
    if (typeof value === 'string') this.#addText(value, times);
    else if (typeof value === 'bigint')
      for (const format of formatsOfInteger(value)) bump(this.formats, format, times);
    else if (typeof value === 'number' && !Number.isFinite(value)) this.nonFinite += times;
  }

  formatsOfAllTexts(texts: number): ValueFormat[] {
    return texts === 0
      ? []
      : [...this.#textFormats].filter(([, n]) => n === texts).map(([format]) => format);
  }

  #addText(text: string, times: number): void {
    this.numberTexts.add(text);
    for (const format of formatsOfText(text)) {
      bump(this.formats, format, times);
      bump(this.#textFormats, format, times);
    }
    const last = text.charCodeAt(text.length - 1);
    if (last === 32 || last === 9) this.trailingBlanks += times;
    if (/[\ud800-\uffff]/.test(text)) {
      this.orderUnsure = true;
      this.suspectText ||= text.includes('\ufffd');
    }
  }
}

function storageClass(value: Exclude<SqliteValue, null>): keyof StorageCounts {
  switch (typeof value) {
    case 'bigint':
      return 'integer';
    case 'number':
      return 'real';
    case 'string':
      return 'text';
    default:
      return 'blob';
  }
}

/** Equal for values that SQLite calls equal: 1 and 1.0 are, '1' and 1 are not. */
function keyOf(value: Exclude<SqliteValue, null>): unknown {
  switch (typeof value) {
    case 'bigint': {
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : value;
    }
    case 'number':
      return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 2 ** 63
        ? BigInt(value)
        : value;
    case 'string':
      // Told apart from the blobs below, whatever a text says.
      return value.startsWith('\u0000') ? `\u0000t${value}` : value;
    default:
      return `\u0000b${Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1')}`;
  }
}

/** What BSON spends on a value, its name and type aside. */
function bytesOf(value: Exclude<SqliteValue, null>): number {
  switch (typeof value) {
    case 'bigint':
      return value >= -2147483648n && value <= 2147483647n ? 4 : 8;
    case 'number':
      return 8;
    case 'string':
      return Buffer.byteLength(value);
    default:
      return value.length;
  }
}

const rank = { bigint: 0, number: 0, string: 1, object: 2 } as const;

function isBefore(a: Exclude<SqliteValue, null>, b: Exclude<SqliteValue, null>): boolean {
  const [left, right] = [rank[typeof a as keyof typeof rank], rank[typeof b as keyof typeof rank]];
  if (left !== right) return left < right;
  return typeof a === 'object' ? Buffer.compare(a, b as Uint8Array) < 0 : a < b;
}

export const shorten = (value: Value): Value => {
  if (typeof value === 'string') return value.slice(0, 200);
  return value instanceof Uint8Array ? value.slice(0, 64) : value;
};

const bump = (counts: Map<ValueFormat, number>, format: ValueFormat, times: number): void => {
  counts.set(format, (counts.get(format) ?? 0) + times);
};
