import type { Doc } from '../bson/doc';
import { rankOf } from './compare';
import { simpleCollation, type Collation } from './collation';
import { Decimal } from '../bson/decimal';
import {
  Binary,
  Code,
  DateTime,
  DbPointer,
  Double,
  Marker,
  ObjectId,
  Regex,
  Symbol_,
  Timestamp,
  type Numeric,
  type Value,
} from '../bson/value';

/** A number as a key: equal numbers of any type give the same one, different ones never do. */
function numberKey(value: Numeric): number | string {
  if (typeof value === 'number') return value;
  if (value instanceof Double) return value.value;
  if (typeof value === 'bigint') {
    const near = Number(value);
    return BigInt(near) === value ? near : `n${value}`;
  }
  const near = value.toNumber();
  if (value.compareDouble(near) === 0) return near;
  if (value.isInteger) return `n${value.toBigInt()}`;
  let { coefficient, exponent } = value;
  while (coefficient % 10n === 0n && coefficient !== 0n) {
    coefficient /= 10n;
    exponent++;
  }
  return `d${value.negative ? '-' : ''}${coefficient}e${exponent}`;
}

/** A text that two values share exactly when they are equal in BSON's order. */
export function valueKey(value: Value, strings: (s: string) => string): string {
  const rank = rankOf(value);
  switch (rank) {
    case 15: {
      const key = numberKey(value as Numeric);
      return typeof key === 'number' ? `#${Object.is(key, -0) ? 0 : key};` : `#${key};`;
    }
    case 20: {
      const text = strings(value instanceof Symbol_ ? value.value : (value as string));
      return `"${text.length}:${text}`;
    }
    case 25: {
      const doc = value as Doc;
      const { keys, values } = doc;
      let out = '{';
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i] as string;
        out += `${key.length}:${key}${valueKey(values[i], strings)}`;
      }
      return `${out}}`;
    }
    case 30: {
      let out = '[';
      for (const item of value as Value[]) out += valueKey(item, strings);
      return `${out}]`;
    }
    case 45:
      return value ? 't' : 'f';
    default:
      return scalarKey(value);
  }
}

function scalarKey(value: Value): string {
  if (value === null) return '0';
  if (value === undefined) return 'u';
  if (value instanceof ObjectId) return `o${value.hex}`;
  if (value instanceof DateTime) return `@${value.ms};`;
  if (value instanceof Binary)
    return `b${value.subtype},${value.bytes.length}:${Buffer.from(value.bytes).toString('latin1')}`;
  if (value instanceof Timestamp) return `T${value.seconds},${value.increment};`;
  if (value instanceof Regex) return `/${value.pattern.length}:${value.pattern}${value.options};`;
  if (value instanceof Marker) return `m${value.name};`;
  if (value instanceof DbPointer)
    return `p${value.namespace.length}:${value.namespace}${Buffer.from(value.id).toString('hex')}`;
  if (value instanceof Code) {
    const scope = value.scope ? valueKey(value.scope, (s) => s) : '';
    return `c${value.code.length}:${value.code}${scope};`;
  }
  throw new TypeError('no key for this value');
}

/**
 * A map whose keys are values, equal as BSON's order says (`1`, `1.0` and decimal `1` are one key).
 * Missing is a key of its own. Iterates in order of insertion. Numbers and strings, the usual keys,
 * stay cheap.
 */
export class ValueMap<T> {
  private readonly numbers = new Map<number, number>();
  private readonly texts = new Map<string, number>();
  private readonly others = new Map<string, number>();
  readonly keys: Value[] = [];
  readonly items: T[] = [];
  private readonly canonical: (s: string) => string;

  constructor(collation: Collation = simpleCollation) {
    this.canonical = collation.simple ? (s) => s : canonicalStrings(collation);
  }
  get size(): number {
    return this.keys.length;
  }
  private slot(value: Value, add: boolean): number {
    if (value instanceof Double) value = value.value;
    if (typeof value === 'number') return this.in(this.numbers, value, value, add);
    if (typeof value === 'string') return this.in(this.texts, this.canonical(value), value, add);
    if (typeof value === 'bigint' || value instanceof Decimal) {
      const key = numberKey(value);
      if (typeof key === 'number') return this.in(this.numbers, key, value, add);
      return this.in(this.others, `#${key};`, value, add);
    }
    return this.in(this.others, valueKey(value, this.canonical), value, add);
  }
  private in<K>(map: Map<K, number>, key: K, value: Value, add: boolean): number {
    const found = map.get(key);
    if (found !== undefined) return found;
    if (!add) return -1;
    map.set(key, this.keys.length);
    this.keys.push(value);
    return this.keys.length - 1;
  }
  get(key: Value): T | undefined {
    const slot = this.slot(key, false);
    return slot < 0 ? undefined : this.items[slot];
  }
  has(key: Value): boolean {
    return this.slot(key, false) >= 0;
  }
  /**
   * The item of a key, made on first sight; `key` is kept with the type with which it first came.
   */
  upsert(key: Value, make: () => T): T {
    const slot = this.slot(key, true);
    if (slot === this.items.length) {
      this.keys[slot] = key;
      this.items.push(make());
    }
    return this.items[slot] as T;
  }
}

/** A set of values; see ValueMap. */
export class ValueSet {
  private readonly map: ValueMap<true>;
  constructor(collation?: Collation, values: Iterable<Value> = []) {
    this.map = new ValueMap(collation);
    for (const value of values) this.add(value);
  }
  /** Whether the value was new. */
  add(value: Value): boolean {
    const before = this.map.size;
    this.map.upsert(value, () => true);
    return this.map.size > before;
  }
  has(value: Value): boolean {
    return this.map.has(value);
  }
  get size(): number {
    return this.map.size;
  }
  get values(): Value[] {
    return this.map.keys;
  }
}

/**
 * One representative for all strings that a collation calls equal. Intl gives no sort keys, so the
 * representatives are kept sorted and found by bisection.
 */
function canonicalStrings(collation: Collation): (s: string) => string {
  const known = new Map<string, string>();
  const sorted: string[] = [];
  return (s) => {
    const hit = known.get(s);
    if (hit !== undefined) return hit;
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const c = collation.order(sorted[middle] as string, s);
      if (c === 0) {
        known.set(s, sorted[middle] as string);
        return sorted[middle] as string;
      }
      if (c < 0) low = middle + 1;
      else high = middle;
    }
    sorted.splice(low, 0, s);
    known.set(s, s);
    return s;
  };
}
