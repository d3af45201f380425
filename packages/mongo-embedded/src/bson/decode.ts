import { ServerError } from '../errors';
import { Decimal } from './decimal';
import {
  Binary,
  bsonUndefined,
  Code,
  DateTime,
  DbPointer,
  Double,
  maxKey,
  minKey,
  ObjectId,
  Regex,
  Symbol_,
  Timestamp,
  type Value,
} from './value';
import { Doc } from './doc';

const scratch = new Float64Array(1);
const scratchBytes = new Uint8Array(scratch.buffer);

export const readInt32 = (b: Uint8Array, at: number): number =>
  (b[at] as number) |
  ((b[at + 1] as number) << 8) |
  ((b[at + 2] as number) << 16) |
  ((b[at + 3] as number) << 24);

function readFloat64(b: Uint8Array, at: number): number {
  for (let i = 0; i < 8; i++) scratchBytes[i] = b[at + i] as number;
  return scratch[0] as number;
}

/** Decodes UTF-8. Short ASCII, by far the most frequent, without leaving JavaScript. */
export function readText(b: Buffer, start: number, end: number): string {
  if (end - start < 16) {
    let text = '';
    for (let i = start; i < end; i++) {
      const c = b[i] as number;
      if (c > 127) return b.toString('utf8', start, end);
      text += String.fromCharCode(c);
    }
    return text;
  }
  return b.toString('utf8', start, end);
}

// Field names repeat from document to document: one string each, found by a hash of its bytes.
const names: (string | undefined)[] = new Array<string | undefined>(4096);
function readName(b: Buffer, start: number, end: number): string {
  let hash = end - start;
  for (let i = start; i < end; i++) {
    const c = b[i] as number;
    if (c > 127) return b.toString('utf8', start, end);
    hash = (Math.imul(hash, 31) + c) | 0;
  }
  const slot = (hash ^ (hash >>> 12)) & 4095;
  const known = names[slot];
  if (known?.length === end - start) {
    let i = 0;
    while (i < known.length && known.charCodeAt(i) === b[start + i]) i++;
    if (i === known.length) return known;
  }
  return (names[slot] = b.toString('latin1', start, end));
}

const nul = (b: Uint8Array, at: number): number => {
  while (b[at] !== 0) at++;
  return at;
};

/** Reads the element at `at` into the lists; returns where the next one starts. */
export function readElement(b: Buffer, at: number, keys: string[], values: Value[]): number {
  const type = b[at] as number;
  const end = nul(b, at + 1);
  keys.push(readName(b, at + 1, end));
  values.push(readValueAt(b, type, end + 1));
  return skipValue(b, type, end + 1);
}

/** Like `readElement`, but skips elements that are not needed. */
export function pickElement(
  b: Buffer,
  at: number,
  wanted: ReadonlySet<string>,
  keys: string[],
  values: Value[],
): number {
  const type = b[at] as number;
  const end = nul(b, at + 1);
  const name = readName(b, at + 1, end);
  if (wanted.has(name)) {
    keys.push(name);
    values.push(readValueAt(b, type, end + 1));
  }
  return skipValue(b, type, end + 1);
}

export function skipValue(b: Uint8Array, type: number, at: number): number {
  switch (type) {
    case 0x10:
      return at + 4;
    case 0x01:
    case 0x09:
    case 0x11:
    case 0x12:
      return at + 8;
    case 0x02:
    case 0x0d:
    case 0x0e:
      return at + 4 + readInt32(b, at);
    case 0x03:
    case 0x04:
    case 0x0f:
      return at + readInt32(b, at);
    case 0x05:
      return at + 5 + readInt32(b, at);
    case 0x07:
      return at + 12;
    case 0x08:
      return at + 1;
    case 0x06:
    case 0x0a:
    case 0xff:
    case 0x7f:
      return at;
    case 0x0b:
      return nul(b, nul(b, at) + 1) + 1;
    case 0x0c:
      return at + 4 + readInt32(b, at) + 12;
    case 0x13:
      return at + 16;
    default:
      throw new ServerError(22, `Unrecognized BSON type ${type}`);
  }
}

export function readValueAt(b: Buffer, type: number, at: number): Value {
  switch (type) {
    case 0x10:
      return readInt32(b, at);
    case 0x01: {
      const d = readFloat64(b, at);
      return (d | 0) === d ? new Double(d) : d;
    }
    case 0x02:
      return readText(b, at + 4, at + 3 + readInt32(b, at));
    case 0x03:
      return Doc.fromRaw(b, at);
    case 0x04:
      return readArray(b, at);
    case 0x05:
      return readBinary(b, at);
    case 0x06:
      return bsonUndefined;
    case 0x07:
      return new ObjectId(b.subarray(at, at + 12));
    case 0x08:
      return b[at] === 1;
    case 0x09:
      return new DateTime(Number(b.readBigInt64LE(at)));
    case 0x0a:
      return null;
    case 0x0b: {
      const end = nul(b, at);
      return new Regex(b.toString('utf8', at, end), b.toString('latin1', end + 1, nul(b, end + 1)));
    }
    case 0x0c: {
      const length = readInt32(b, at);
      return new DbPointer(
        b.toString('utf8', at + 4, at + 3 + length),
        b.subarray(at + 4 + length, at + 16 + length),
      );
    }
    case 0x0d:
      return new Code(readText(b, at + 4, at + 3 + readInt32(b, at)));
    case 0x0e:
      return new Symbol_(readText(b, at + 4, at + 3 + readInt32(b, at)));
    case 0x0f: {
      const length = readInt32(b, at + 4);
      return new Code(b.toString('utf8', at + 8, at + 7 + length), Doc.fromRaw(b, at + 8 + length));
    }
    case 0x11:
      return new Timestamp(b.readUInt32LE(at + 4), b.readUInt32LE(at));
    case 0x12:
      return b.readBigInt64LE(at);
    case 0x13:
      return Decimal.fromBytes(b, at);
    case 0xff:
      return minKey;
    case 0x7f:
      return maxKey;
    default:
      throw new ServerError(22, `Unrecognized BSON type ${type}`);
  }
}

function readArray(b: Buffer, start: number): Value[] {
  const out: Value[] = [];
  let at = start + 4;
  for (;;) {
    const type = b[at] as number;
    if (type === 0) return out;
    const value = nul(b, at + 1) + 1;
    out.push(readValueAt(b, type, value));
    at = skipValue(b, type, value);
  }
}

function readBinary(b: Buffer, at: number): Binary {
  const length = readInt32(b, at);
  const subtype = b[at + 4] as number;
  // Subtype 2 repeats its length inside; kept as it is, so that it leaves as it came.
  return new Binary(subtype, b.subarray(at + 5, at + 5 + length));
}

/**
 * Checks that bytes from outside are one well-formed document, so that later readers need no bounds
 * checks. Returns its length.
 */
export function validateDocument(b: Buffer, start: number, end: number, depth = 0): number {
  if (depth > 200) throw new ServerError(15, 'BSON exceeds the maximum nesting depth of 200');
  if (end - start < 5) throw invalid();
  const length = readInt32(b, start);
  if (length < 5 || start + length > end || b[start + length - 1] !== 0) throw invalid();
  const last = start + length - 1;
  let at = start + 4;
  while (at < last) {
    const type = b[at] as number;
    let name = at + 1;
    while (b[name] !== 0 && name < last) name++;
    if (name >= last) throw invalid();
    const value = name + 1;
    if (type === 0x03 || type === 0x04) at = value + validateDocument(b, value, last, depth + 1);
    else at = checkScalar(b, type, value, last, depth);
    if (at > last) throw invalid();
  }
  if (at !== last) throw invalid();
  return length;
}

function checkScalar(b: Buffer, type: number, at: number, last: number, depth: number): number {
  if (type === 0x02 || type === 0x0d || type === 0x0e) {
    if (at + 5 > last) throw invalid();
    const length = readInt32(b, at);
    if (length < 1 || at + 4 + length > last || b[at + 3 + length] !== 0) throw invalid();
    return at + 4 + length;
  }
  if (type === 0x05 || type === 0x0c) {
    if (at + 5 > last || readInt32(b, at) < 0) throw invalid();
  }
  if (type === 0x0f) {
    if (at + 14 > last) throw invalid();
    const code = readInt32(b, at + 4);
    if (code < 1 || at + 8 + code + 5 > last) throw invalid();
    const scope = validateDocument(b, at + 8 + code, last, depth + 1);
    if (readInt32(b, at) !== 8 + code + scope) throw invalid();
  }
  if (type === 0x0b) {
    const first = b.indexOf(0, at);
    const second = first < 0 ? -1 : b.indexOf(0, first + 1);
    if (second < 0 || second >= last) throw invalid();
  }
  return skipValue(b, type, at);
}

const invalid = () => new ServerError(22, 'invalid BSON: a length or terminator is wrong');
