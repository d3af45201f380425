/** A column of small numbers that grows; rows that were never set are 0. Four bytes a row. */
export class IdColumn {
  #ids = new Uint32Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  set(row: number, id: number): void {
    if (row >= this.#ids.length) {
      const larger = new Uint32Array(Math.max(row + 1, Math.ceil(this.#ids.length * 1.5)));
      larger.set(this.#ids);
      this.#ids = larger;
    }
    this.#ids[row] = id;
    if (row >= this.#length) this.#length = row + 1;
  }

  push(id: number): void {
    this.set(this.#length, id);
  }

  /** 0 beyond the last row that was set. */
  at(row: number): number {
    return row < this.#length ? this.#ids[row]! : 0;
  }

  /** The rows that were set, not copied. */
  get ids(): Uint32Array {
    return this.#ids.subarray(0, this.#length);
  }
}

/**
 * How often each id occurs: an array where there are many rows, so that a million values take four
 * megabytes.
 */
export class IdCounts {
  readonly #dense: Uint32Array | undefined;
  readonly #sparse = new Map<number, number>();
  readonly #distinct = new IdColumn();

  /** Every id is below `ids`. */
  constructor(column: IdColumn, ids: number) {
    if (column.length > ids / 16) this.#dense = new Uint32Array(ids);
    for (let row = 0; row < column.length; row++) {
      const id = column.at(row);
      const before = this.get(id);
      if (before === 0) this.#distinct.push(id);
      if (this.#dense) this.#dense[id] = before + 1;
      else this.#sparse.set(id, before + 1);
    }
  }

  get(id: number): number {
    return (this.#dense ? this.#dense[id] : this.#sparse.get(id)) ?? 0;
  }

  /** The ids that occur, each once. */
  get distinct(): Uint32Array {
    return this.#distinct.ids;
  }
}

/**
 * Hashes of rows whose cells lie in these columns, 53 bits each, sorted: two tables hold the same
 * bag of rows when these are the same, and what one lacks is found by going through both side by
 * side.
 */
export function rowHashes(columns: readonly IdColumn[], rows: number): Float64Array {
  const out = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    let [a, b] = [0x9e3779b9, 0x85ebca6b];
    for (const column of columns) {
      const id = column.at(row);
      a = Math.imul(a ^ id, 0x27d4eb2f);
      a ^= a >>> 15;
      b = Math.imul(b + id, 0x165667b1);
      b ^= b >>> 13;
    }
    a = Math.imul(a ^ (b >>> 7), 0x2545f491);
    out[row] = ((a ^ (a >>> 16)) >>> 0) * 0x200000 + (b >>> 11);
  }
  return out.sort();
}

/** How many of the wanted rows there are too few of. */
export function lackingRows(wanted: Float64Array, have: Float64Array): number {
  let [lacking, at] = [0, 0];
  for (const hash of wanted) {
    while (at < have.length && have[at]! < hash) at++;
    if (at < have.length && have[at] === hash) at++;
    else lacking++;
  }
  return lacking;
}
