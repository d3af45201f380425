import { ServerError } from '../errors';
import { Decimal } from './decimal';
import {
  Binary,
  type Code,
  DateTime,
  DbPointer,
  Double,
  Marker,
  ObjectId,
  Regex,
  Symbol_,
  Timestamp,
  type Value,
} from './value';
import { Doc } from './doc';

/** No message is larger: a full batch and one more document. */
const MAX_WRITTEN = 64 * 1024 * 1024;

const markerTypes = { minKey: 0xff, maxKey: 0x7f, undefined: 0x06 } as const;

/** A growing buffer that writes BSON. Reused: what `finish` returns is a copy. */
export class BsonWriter {
  private buffer: Buffer;
  private at = 0;
  constructor(capacity = 1024) {
    this.buffer = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.at;
  }
  reset(): void {
    this.at = 0;
  }
  finish(): Buffer {
    return Buffer.from(this.buffer.subarray(0, this.at));
  }
  /** The bytes written so far, shared with the writer: valid until it is written to again. */
  view(): Buffer {
    return this.buffer.subarray(0, this.at);
  }

  private need(n: number): void {
    if (this.at + n <= this.buffer.length) return;
    // Values that share parts can be far larger written out than they are in memory.
    if (this.at + n > MAX_WRITTEN)
      throw new ServerError(
        10334,
        `BSONObj size: ${this.at + n} is invalid. Size must be between 0 and 16793600(16MB)`,
      );
    const grown = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.at + n));
    this.buffer.copy(grown, 0, 0, this.at);
    this.buffer = grown;
  }
  byte(n: number): void {
    this.need(1);
    this.buffer[this.at++] = n;
  }
  int32(n: number): void {
    this.need(4);
    this.buffer.writeInt32LE(n, this.at);
    this.at += 4;
  }
  bytes(source: Uint8Array, start = 0, end = source.length): void {
    this.need(end - start);
    this.buffer.set(
      start === 0 && end === source.length ? source : source.subarray(start, end),
      this.at,
    );
    this.at += end - start;
  }
  private float64(n: number): void {
    this.need(8);
    this.buffer.writeDoubleLE(n, this.at);
    this.at += 8;
  }
  int64(n: bigint): void {
    this.need(8);
    this.buffer.writeBigInt64LE(n, this.at);
    this.at += 8;
  }
  cstring(text: string): void {
    this.text(text);
    this.byte(0);
  }
  private text(text: string): void {
    const length = text.length;
    this.need(length * 3 + 1);
    if (length < 24) {
      let i = 0;
      for (; i < length; i++) {
        const c = text.charCodeAt(i);
        if (c > 127) break;
        this.buffer[this.at + i] = c;
      }
      if (i === length) {
        this.at += length;
        return;
      }
    }
    this.at += this.buffer.write(text, this.at, 'utf8');
  }
  private string(text: string): void {
    const start = this.at;
    this.int32(0);
    this.text(text);
    this.byte(0);
    this.buffer.writeInt32LE(this.at - start - 4, start);
  }

  /** Starts a document; hand the result to `end`. */
  begin(): number {
    const start = this.at;
    this.int32(0);
    return start;
  }
  end(start: number): void {
    this.byte(0);
    this.buffer.writeInt32LE(this.at - start, start);
  }

  document(doc: Doc): void {
    const raw = doc.raw();
    if (raw) {
      this.bytes(raw.bytes, raw.start, raw.end);
      return;
    }
    const start = this.begin();
    const { keys, values } = doc;
    for (let i = 0; i < keys.length; i++) this.element(keys[i] as string, values[i]);
    this.end(start);
  }
  array(items: readonly Value[]): void {
    const start = this.begin();
    for (let i = 0; i < items.length; i++)
      this.element(String(i), items[i] === undefined ? null : items[i]);
    this.end(start);
  }

  /** Writes one named value; a missing one is left out. */
  element(name: string, value: Value): void {
    switch (typeof value) {
      case 'undefined':
        return;
      case 'number':
        if ((value | 0) === value) {
          this.head(0x10, name);
          this.int32(value);
        } else {
          this.head(0x01, name);
          this.float64(value);
        }
        return;
      case 'string':
        this.head(0x02, name);
        this.string(value);
        return;
      case 'boolean':
        this.head(0x08, name);
        this.byte(value ? 1 : 0);
        return;
      case 'bigint':
        this.head(0x12, name);
        this.int64(value);
        return;
      default:
        this.object(name, value);
    }
  }
  private head(type: number, name: string): void {
    this.byte(type);
    this.cstring(name);
  }
  private object(
    name: string,
    value: Exclude<Value, undefined | number | string | boolean | bigint>,
  ): void {
    if (value === null) this.head(0x0a, name);
    else if (value instanceof Doc) {
      this.head(0x03, name);
      this.document(value);
    } else if (Array.isArray(value)) {
      this.head(0x04, name);
      this.array(value);
    } else if (value instanceof Double) {
      this.head(0x01, name);
      this.float64(value.value);
    } else if (value instanceof ObjectId) {
      this.head(0x07, name);
      this.bytes(value.bytes);
    } else if (value instanceof DateTime) {
      this.head(0x09, name);
      this.int64(BigInt(value.ms));
    } else if (value instanceof Decimal) {
      this.head(0x13, name);
      this.bytes(value.toBytes());
    } else this.rare(name, value);
  }
  private rare(
    name: string,
    value: Binary | Regex | Timestamp | Marker | Code | Symbol_ | DbPointer,
  ): void {
    if (value instanceof Binary) {
      this.head(0x05, name);
      this.int32(value.bytes.length);
      this.byte(value.subtype);
      this.bytes(value.bytes);
    } else if (value instanceof Regex) {
      this.head(0x0b, name);
      this.cstring(value.pattern);
      this.cstring(value.options);
    } else if (value instanceof Timestamp) {
      this.head(0x11, name);
      this.int32(value.increment | 0);
      this.int32(value.seconds | 0);
    } else if (value instanceof Marker) {
      this.head(markerTypes[value.name], name);
    } else if (value instanceof Symbol_) {
      this.head(0x0e, name);
      this.string(value.value);
    } else if (value instanceof DbPointer) {
      this.head(0x0c, name);
      this.string(value.namespace);
      this.bytes(value.id);
    } else if (value.scope) {
      this.head(0x0f, name);
      const start = this.at;
      this.int32(0);
      this.string(value.code);
      this.document(value.scope);
      this.buffer.writeInt32LE(this.at - start, start);
    } else {
      this.head(0x0d, name);
      this.string(value.code);
    }
  }
}

const shared = new BsonWriter(64 * 1024);

/** The BSON bytes of a document. */
export function encode(doc: Doc): Buffer {
  const raw = doc.raw();
  if (raw) return Buffer.from(raw.bytes.subarray(raw.start, raw.end));
  shared.reset();
  shared.document(doc);
  return shared.finish();
}

export function encodedSize(doc: Doc): number {
  const raw = doc.raw();
  if (raw) return raw.end - raw.start;
  shared.reset();
  shared.document(doc);
  return shared.length;
}
