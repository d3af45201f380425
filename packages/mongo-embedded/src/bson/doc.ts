import type { Value } from './value';
import { pickElement, readElement, readValueAt, skipValue } from './decode';
import { afterRemoval, placeOf, storedPast, type Past } from './past';

/** A field name with its bytes at hand, for comparing against raw BSON without decoding. */
export class FieldName {
  readonly bytes: Buffer;
  constructor(readonly name: string) {
    this.bytes = Buffer.from(name, 'utf8');
  }
}

/**
 * A document: either raw BSON, read field by field on demand, or keys and values in order.
 *
 * Not a plain object, because those reorder integer-like keys. Never changed once it is visible to
 * anyone else: stages build new ones.
 */
export class Doc {
  private rawBytes: Buffer | undefined;
  private rawStart = 0;
  private keyList: string[] | undefined;
  private valueList: Value[] | undefined;
  private overlay: Overlay | undefined;
  private ownPast: Past | undefined;

  constructor(keys?: string[], values?: Value[]) {
    this.keyList = keys;
    this.valueList = values;
  }

  static fromRaw(bytes: Buffer, start = 0): Doc {
    const doc = new Doc();
    doc.rawBytes = bytes;
    doc.rawStart = start;
    return doc;
  }
  /**
   * A document that differs from another in some top-level fields (a missing value removes); built
   * when it is read whole.
   */
  static over(base: Doc, names: readonly string[], values: readonly Value[]): Doc {
    if (base.overlay && base.overlay.depth >= 8) base.decode();
    const doc = new Doc();
    doc.overlay = { base, names, values, depth: base.keyList ? 1 : (base.overlay?.depth ?? 0) + 1 };
    return doc;
  }
  static of(entries: Record<string, Value>): Doc {
    return new Doc(Object.keys(entries), Object.values(entries));
  }
  static empty(): Doc {
    return new Doc([], []);
  }

  get keys(): readonly string[] {
    if (!this.keyList) this.decode();
    return this.keyList as string[];
  }
  get values(): readonly Value[] {
    if (!this.valueList) this.decode();
    return this.valueList as Value[];
  }
  /**
   * What the server would remember of how this document was made; undefined: it was put together
   * from values.
   */
  get past(): Past | undefined {
    if (this.rawBytes) return storedPast;
    if (this.overlay && (this.overlay.values.includes(undefined) || this.overlay.base.past?.order))
      this.decode();
    return this.ownPast;
  }
  /** For the maker of a document only. */
  from(past: Past | undefined): this {
    this.ownPast = past;
    return this;
  }
  get size(): number {
    return this.keys.length;
  }
  /** The raw bytes when this document still is what was stored. */
  raw(): { bytes: Buffer; start: number; end: number } | undefined {
    const bytes = this.rawBytes;
    if (!bytes) return undefined;
    return { bytes, start: this.rawStart, end: this.rawStart + bytes.readInt32LE(this.rawStart) };
  }

  get(name: string): Value {
    if (!this.keyList) this.decode();
    const index = (this.keyList as string[]).indexOf(name);
    return index < 0 ? undefined : (this.valueList as Value[])[index];
  }

  /** Like `get`, without decoding other fields. */
  read(field: FieldName): Value {
    if (this.keyList) {
      const index = this.keyList.indexOf(field.name);
      return index < 0 ? undefined : (this.valueList as Value[])[index];
    }
    if (this.overlay) {
      const at = this.overlay.names.indexOf(field.name);
      return at < 0 ? this.overlay.base.read(field) : this.overlay.values[at];
    }
    const bytes = this.rawBytes as Buffer;
    const wanted = field.bytes;
    let at = this.rawStart + 4;
    for (;;) {
      const type = bytes[at] as number;
      if (type === 0) return undefined;
      const value = nameEnds(bytes, at + 1, wanted);
      if (value >= 0) return readValueAt(bytes, type, value);
      at = skipValue(bytes, type, afterName(bytes, at + 1));
    }
  }

  has(name: string): boolean {
    return this.keys.includes(name);
  }

  /** The chosen top-level fields, in this document's order, without decoding the others. */
  pick(names: ReadonlySet<string>): { keys: string[]; values: Value[] } {
    const keys: string[] = [];
    const values: Value[] = [];
    if (!this.keyList && this.rawBytes) {
      const bytes = this.rawBytes;
      let at = this.rawStart + 4;
      while (bytes[at] !== 0 && keys.length < names.size)
        at = pickElement(bytes, at, names, keys, values);
      return { keys, values };
    }
    const all = this.keys;
    for (let i = 0; i < all.length; i++) {
      const key = all[i] as string;
      if (names.has(key)) {
        keys.push(key);
        values.push((this.valueList as Value[])[i]);
      }
    }
    return { keys, values };
  }

  /**
   * Fills `values` with the first `count` of the wanted fields if the document has just those of
   * them, in this order; says whether it was so. Documents of a collection mostly have one shape,
   * whose key list they can share.
   */
  pickAs(wanted: readonly FieldName[], count: number, values: Value[]): boolean {
    const bytes = this.rawBytes;
    if (this.keyList || !bytes) return false;
    let found = 0;
    let at = this.rawStart + 4;
    while (found < wanted.length) {
      const type = bytes[at] as number;
      if (type === 0) break;
      let value = nameEnds(bytes, at + 1, (wanted[found] as FieldName).bytes);
      if (value < 0) {
        for (const other of wanted) if (nameEnds(bytes, at + 1, other.bytes) >= 0) return false;
        value = afterName(bytes, at + 1);
      } else {
        if (found === count) return false;
        values[found++] = readValueAt(bytes, type, value);
      }
      at = skipValue(bytes, type, value);
    }
    return found === count;
  }

  /** A copy that may be changed by `set` and `remove` until it is handed on. */
  copy(): MutableDoc {
    const out = new MutableDoc([...this.keys], [...this.values]);
    const { past } = this;
    return past?.order ? out.from({ ...past, bson: 'no' }) : out;
  }

  private decode(): void {
    if (this.overlay) {
      this.flatten(this.overlay);
      return;
    }
    const keys: string[] = [];
    const values: Value[] = [];
    const bytes = this.rawBytes as Buffer;
    let at = this.rawStart + 4;
    while (bytes[at] !== 0) at = readElement(bytes, at, keys, values);
    this.keyList = keys;
    this.valueList = values;
  }

  private flatten({ base, names, values }: Overlay): void {
    const out = base.copy();
    for (let i = 0; i < names.length; i++) out.set(names[i] as string, values[i]);
    this.keyList = out.keys as string[];
    this.valueList = out.values as Value[];
    this.overlay = undefined;
    const { past } = out;
    if (past) this.ownPast = { ...past, bson: this.ownPast?.bson ?? 'no' };
  }
}

/** What a value takes in memory, roughly as the server counts it. */
export function sizeOf(v: Value): number {
  if (typeof v === 'string') return 32 + v.length;
  if (Array.isArray(v)) return v.reduce<number>((n, item) => n + sizeOf(item), 32);
  if (!(v instanceof Doc)) return 16;
  const raw = v.raw();
  return raw
    ? raw.end - raw.start
    : v.values.reduce<number>((n, item) => n + 16 + sizeOf(item), 32);
}

/** Where a name ends and the value starts, if the name at `at` is this one; else -1. */
function nameEnds(bytes: Buffer, at: number, wanted: Buffer): number {
  const length = wanted.length;
  let i = 0;
  while (i < length && bytes[at + i] === wanted[i]) i++;
  return i === length && bytes[at + i] === 0 ? at + i + 1 : -1;
}

function afterName(bytes: Buffer, at: number): number {
  while (bytes[at] !== 0) at++;
  return at + 1;
}

interface Overlay {
  readonly base: Doc;
  readonly names: readonly string[];
  readonly values: readonly Value[];
  readonly depth: number;
}

export class MutableDoc extends Doc {
  private readonly k: string[];
  private readonly v: Value[];
  constructor(keys: string[] = [], values: Value[] = []) {
    super(keys, values);
    this.k = keys;
    this.v = values;
  }
  /** Replaces in place or appends; a missing value removes. */
  set(name: string, value: Value): this {
    const index = this.k.indexOf(name);
    if (value === undefined) {
      if (index >= 0) {
        this.from(afterRemoval(this.past, this.k, [name], 'no'));
        this.k.splice(index, 1);
        this.v.splice(index, 1);
      }
    } else if (index >= 0) this.v[index] = value;
    else if (this.past) {
      const { at, past } = placeOf(this.past, this.k, name);
      this.from(past);
      this.k.splice(at, 0, name);
      this.v.splice(at, 0, value);
    } else {
      this.k.push(name);
      this.v.push(value);
    }
    return this;
  }
  /** Appends a key known to be new. */
  append(name: string, value: Value): void {
    if (value === undefined) return;
    this.k.push(name);
    this.v.push(value);
  }
}
