import { type Doc } from '../bson/doc';
import { Decimal } from '../bson/decimal';
import { rankOf } from '../values/compare';
import {
  Code,
  DateTime,
  DbPointer,
  ObjectId,
  Regex,
  Symbol_,
  Timestamp,
  toDouble,
  type Binary,
  type Numeric,
  type Value,
} from '../bson/value';

/**
 * Bytes whose order is BSON's order of the values, and which are equal exactly when the values are.
 * Each encoding ends by itself, so that several can be joined into the key of a compound index. No
 * encoding starts with 0xff.
 */
export function encodeKey(value: Value): Buffer {
  const parts: Buffer[] = [];
  write(value, parts);
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

const tag = (n: number): Buffer => Buffer.from([n]);
const END = tag(0);

function write(value: Value, out: Buffer[]): void {
  const rank = rankOf(value);
  switch (rank) {
    case 15:
      out.push(number(value as Numeric));
      return;
    case 20:
      out.push(tag(rank), text(value instanceof Symbol_ ? value.value : (value as string)));
      return;
    case 25: {
      const { keys, values } = value as Doc;
      out.push(tag(rank));
      keys.forEach((key, i) => {
        out.push(tag(rankOf(values[i])), text(key));
        write(values[i], out);
      });
      out.push(END);
      return;
    }
    case 30:
      out.push(tag(rank));
      for (const item of value as Value[]) write(item, out);
      out.push(END);
      return;
    default:
      out.push(tag(rank), scalar(value));
  }
}

function scalar(value: Value): Buffer {
  if (value === null || value === undefined) return Buffer.alloc(0);
  if (typeof value === 'boolean') return tag(value ? 1 : 0);
  if (value instanceof ObjectId) return Buffer.from(value.bytes);
  if (value instanceof DateTime) return int64(BigInt(value.ms));
  if (value instanceof Timestamp)
    return int64((BigInt(value.seconds) << 32n) + BigInt(value.increment) - (1n << 63n));
  if (value instanceof Regex) return Buffer.concat([text(value.pattern), text(value.options)]);
  if (value instanceof Code)
    return Buffer.concat([text(value.code), ...(value.scope ? [encodeKey(value.scope)] : [])]);
  if (value instanceof DbPointer)
    return Buffer.concat([text(value.namespace), Buffer.from(value.id)]);
  if (typeof value === 'object' && 'subtype' in value) return binary(value);
  return Buffer.alloc(0);
}

function binary(value: Binary): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(value.bytes.length);
  head[4] = value.subtype;
  return Buffer.concat([head, value.bytes]);
}

/** UTF-8 with an end mark; a NUL inside is followed by 0xff so that it sorts after the end. */
function text(s: string): Buffer {
  if (!s.includes('\0')) return Buffer.from(`${s}\0`, 'utf8');
  const parts: Buffer[] = [];
  s.split('\0').forEach((part, i) => {
    if (i > 0) parts.push(Buffer.from([0, 0xff]));
    parts.push(Buffer.from(part, 'utf8'));
  });
  return Buffer.concat([...parts, END]);
}

function int64(n: bigint): Buffer {
  const b = Buffer.alloc(8);
  b.writeBigInt64BE(BigInt.asIntN(64, n));
  b[0] = (b[0] as number) ^ 0x80;
  return b;
}

/** The nearest double in sortable form, then what the double leaves out, if anything. */
function number(value: Numeric): Buffer {
  const near = toDouble(value);
  const b = Buffer.allocUnsafe(10);
  b[0] = 15;
  if (Number.isNaN(near)) return b.fill(0, 1);
  b.writeDoubleBE(near === 0 ? 0 : near, 1);
  if (near < 0) for (let i = 1; i < 9; i++) b[i] = ~(b[i] as number) & 0xff;
  else b[1] = (b[1] as number) | 0x80;
  const rest = remainder(value, near);
  if (rest === 0) {
    b[9] = 0x80;
    return b;
  }
  b[9] = rest > 0 ? 0x81 : 0x7f;
  return Buffer.concat([b, digits(value as bigint | Decimal)]);
}

function remainder(value: Numeric, near: number): number {
  if (typeof value === 'bigint') return Number(value > near) - Number(value < near);
  return value instanceof Decimal ? value.compareDouble(near) : 0;
}

/** Order-preserving digits: among values with the same double, their decimal texts decide. */
function digits(value: bigint | Decimal): Buffer {
  const decimal = typeof value === 'bigint' ? Decimal.fromBigInt(value) : value;
  const negative = decimal.negative;
  const body = decimal.coefficient.toString();
  const scale = decimal.exponent + body.length + 20_000;
  const bytes = Buffer.concat([
    Buffer.from([scale >> 8, scale & 0xff]),
    Buffer.from(body.replace(/0+$/, ''), 'latin1'),
    END,
  ]);
  if (!negative) return bytes;
  // The terminator of a complemented text must be the greatest byte but may not be 0xff at a key's
  // start: it never is.
  for (let i = 0; i < bytes.length; i++) bytes[i] = ~(bytes[i] as number) & 0xff;
  return bytes;
}
