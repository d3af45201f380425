import type { QueryResult } from '../../sqlite/query/query-process';
import type { Value } from '../../results/value';
import type { CheckedQuery } from './checked-query';

/**
 * What this process has already found out about sources and migrations. Both never change (a
 * migration's database is named by what went into it), so that nothing need be run twice. Bounded:
 * what was used longest ago is forgotten.
 */
export class KnownResults {
  readonly #rows = new Bounded<QueryResult>(64 * MB, 16 * MB);
  readonly #checks = new Bounded<CheckedQuery>(96 * MB, 96 * MB);

  /** Rows of a source query: of the same file, SQL and limit, they are the same. */
  async sourceRows(key: string, run: () => Promise<QueryResult>): Promise<QueryResult> {
    const known = this.#rows.get(key);
    if (known) return known;
    const result = await run();
    this.#rows.set(key, result, rowsBytes(result.rows));
    return result;
  }

  checked(key: string): CheckedQuery | undefined {
    return this.#checks.get(key);
  }

  /** Expected rows are kept as far as they are small; their number and digest always are. */
  keep(key: string, checked: CheckedQuery): void {
    const bytes = rowsBytes(checked.expected?.rows ?? []);
    if (bytes <= MOST_ROW_BYTES || !checked.expected)
      this.#checks.set(key, checked, CHECK_BYTES + bytes);
    else
      this.#checks.set(
        key,
        { ...checked, expected: { ...checked.expected, rows: undefined } },
        CHECK_BYTES,
      );
  }
}

const MB = 1024 * 1024;
const MOST_ROW_BYTES = 64 * 1024;
/** Of a verdict and its differences, about. */
const CHECK_BYTES = 2048;

/** Values by key, as many as fit; those used last stay. */
class Bounded<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly bytes: number }>();
  #bytes = 0;

  constructor(
    private readonly most: number,
    /** What is larger than this alone is not worth the place of all others. */
    private readonly largest: number,
  ) {}

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: T, bytes: number): void {
    this.#drop(key);
    if (bytes > this.largest) return;
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.most) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}

/** About what rows take in memory. */
function rowsBytes(rows: readonly (readonly Value[])[]): number {
  let bytes = 0;
  for (const row of rows) for (const value of row) bytes += 24 + bytesBeside(value);
  return bytes;
}

/** What a value takes beside its place in the row, about. */
function bytesBeside(value: Value): number {
  if (typeof value === 'string') return 2 * value.length;
  if (value instanceof Uint8Array) return value.length;
  return Array.isArray(value) ? 64 * value.length : 0;
}
